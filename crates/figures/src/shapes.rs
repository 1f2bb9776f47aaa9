//! Depth, diameter and validity of learned pointers along the rollout, next to the true ones.

use pgn_lab::{
    analysis::{Along, Analyses, PointerStudy, tasks},
    collection::title,
};

use crate::{
    Figure, mean,
    plot::{Mark, Panel, ceiling, legend},
    seeds,
    svg::{Anchor, Font, Ink, Stroke, Svg},
};

const TRUTH: Stroke = Stroke { ink: Ink::Quiet, width: 2.0, dashes: "6 3" };
const OURS: Stroke = Stroke { ink: Ink::Blue, width: 2.4, dashes: "" };

/// What the figure of a model is called: `pgn`'s have the plain name.
pub(crate) fn named(name: &str, model: &str) -> String {
    match model {
        "pgn" => name.to_owned(),
        _ => format!("{name}-{model}"),
    }
}

/// One row of numbers out of a study.
type Row = for<'a> fn(&'a Along) -> &'a [f64];

/// The largest depth, along the rollout.
pub fn depth(analyses: &Analyses, model: &str) -> Option<Figure> {
    let rows: [Row; 2] = [|along| &along.truth_depth, |along| &along.model_depth];
    beside((analyses, model), "depth", "How deep pointers are", rows)
}

/// The diameter, along the rollout.
pub fn diameter(analyses: &Analyses, model: &str) -> Option<Figure> {
    let rows: [Row; 2] = [|along| &along.truth_diameter, |along| &along.model_diameter];
    beside((analyses, model), "diameter", "How wide pointer graphs are", rows)
}

/// The studies of one task and size, one for each seed.
fn studies<'a>(
    (analyses, model): (&'a Analyses, &'a str),
    task: &'a str,
    nodes: usize,
) -> Vec<&'a PointerStudy> {
    let of_size = move |study: &&PointerStudy| study.nodes == nodes;
    analyses.of(task, model).filter_map(|run| run.pointers.iter().find(of_size)).collect()
}

fn sizes((analyses, model): (&Analyses, &str), task: &str) -> Vec<usize> {
    let first = analyses.of(task, model).next();
    first.map_or_else(Vec::new, |run| run.pointers.iter().map(|study| study.nodes).collect())
}

fn average(studies: &[&PointerStudy], row: Row) -> Vec<f64> {
    mean(&studies.iter().map(|study| row(&study.along)).collect::<Vec<_>>())
}

/// Truth and model, a panel for each task and size.
fn beside(
    (analyses, model): (&Analyses, &str),
    name: &str,
    heading: &str,
    rows: [Row; 2],
) -> Option<Figure> {
    let tasks: Vec<&str> = tasks(analyses)
        .into_iter()
        .filter(|task| !sizes((analyses, model), task).is_empty())
        .collect();
    let columns = tasks.iter().map(|task| sizes((analyses, model), task).len()).max()?;
    let (left, top, wide, high, gap) = (82.0, 92.0, 176.0, 150.0, 42.0);
    let row_high = high + 80.0;
    let width = left + columns as f64 * (wide + gap) - gap + 18.0;
    let mut svg = Svg::new(width, top + tasks.len() as f64 * row_high - 34.0);
    svg.text((14.0, 24.0), heading, Font::new(15.0, Ink::Text, Anchor::Start).bold());
    let marks = [(Mark::Line(TRUTH), "truth"), (Mark::Line(OURS), model)];
    legend(&mut svg, (14.0, 50.0), &marks);
    for (index, task) in tasks.iter().enumerate() {
        for (column, nodes) in sizes((analyses, model), task).into_iter().enumerate() {
            let studies = studies((analyses, model), task, nodes);
            let [truth, ours] = rows.map(|row| average(&studies, row));
            let highest = truth.iter().chain(&ours).copied().fold(1.0, f64::max);
            let panel = Panel {
                at: (left + column as f64 * (wide + gap), top + index as f64 * row_high),
                size: (wide, high),
                xs: (1.0, truth.len().max(2) as f64),
                ys: (0.0, ceiling(highest)),
            };
            panel.grid(&mut svg, true);
            panel.steps(&mut svg, &truth, TRUTH);
            panel.steps(&mut svg, &ours, OURS);
            panel.floor(&mut svg);
            panel.numbers_below(&mut svg);
            panel.title(&mut svg, &format!("n = {nodes}"));
            panel.name_below(&mut svg, "operation");
            if column == 0 {
                panel.name_left(&mut svg, name, 36.0);
                let font = Font::new(13.0, Ink::Text, Anchor::Middle).bold();
                svg.text_upwards((panel.at.0 - 58.0, panel.at.1 + high / 2.0), &title(task), font);
            }
        }
    }
    let count = analyses.of(tasks[0], model).count();
    let what = match name {
        "depth" => "the longest pointer chain from a node to its root",
        _ => "the longest shortest path between connected nodes",
    };
    let caption = format!(
        "{} of the pointers after every operation, mean over the test sequences ({}): {what}. \
         Axes have different scales.",
        if name == "depth" { "Depth" } else { "Diameter" },
        seeds(count)
    );
    Some(Figure { name: named(name, model), caption, svg: svg.finish(heading) })
}

/// The share of sequences that are valid, along the rollout, a panel for each task.
pub fn validity(analyses: &Analyses, model: &str) -> Option<Figure> {
    const LINES: [Stroke; 4] = [
        Stroke { ink: Ink::Blue, width: 2.4, dashes: "" },
        Stroke { ink: Ink::Vermilion, width: 2.2, dashes: "8 3" },
        Stroke { ink: Ink::Green, width: 2.2, dashes: "2 3" },
        Stroke { ink: Ink::Purple, width: 2.2, dashes: "9 3 2 3" },
    ];
    let tasks: Vec<&str> = tasks(analyses)
        .into_iter()
        .filter(|task| !sizes((analyses, model), task).is_empty())
        .collect();
    let (left, top, wide, high, gap) = (70.0, 92.0, 330.0, 220.0, 30.0);
    let width = left + tasks.len() as f64 * (wide + gap);
    let mut svg = Svg::new(width, top + high + 52.0);
    let heading = "Sequences whose pointers are valid";
    svg.text((14.0, 24.0), heading, Font::new(15.0, Ink::Text, Anchor::Start).bold());
    let names: Vec<String> = sizes((analyses, model), tasks.first()?)
        .iter()
        .map(|nodes| format!("n = {nodes}"))
        .collect();
    let marks: Vec<_> = names
        .iter()
        .zip(LINES.iter().cycle())
        .map(|(name, &stroke)| (Mark::Line(stroke), &**name))
        .collect();
    legend(&mut svg, (14.0, 50.0), &marks);
    for (index, task) in tasks.iter().enumerate() {
        let panel = Panel {
            at: (left + index as f64 * (wide + gap), top),
            size: (wide, high),
            xs: (0.0, 1.5),
            ys: (0.0, 1.0),
        };
        panel.grid(&mut svg, index == 0);
        for (nodes, &stroke) in sizes((analyses, model), task).into_iter().zip(LINES.iter().cycle())
        {
            let valid = average(&studies((analyses, model), task, nodes), |along| &along.valid);
            let place = |(t, &share): (usize, &f64)| ((t as f64 + 1.0) / nodes as f64, share);
            let points: Vec<_> = valid.iter().enumerate().map(place).collect();
            panel.line(&mut svg, &points, stroke);
        }
        panel.floor(&mut svg);
        panel.numbers_below(&mut svg);
        panel.title(&mut svg, &title(task));
        panel.name_below(&mut svg, "operations / n");
        if index == 0 {
            panel.name_left(&mut svg, "share of sequences", 38.0);
        }
    }
    let caption = format!(
        "Share of test sequences whose `{model}` pointers are valid after each operation ({}): the \
         connected components equal the true ones, and every pointer leads to a root.",
        seeds(analyses.of(tasks[0], model).count())
    );
    Some(Figure { name: named("validity", model), caption, svg: svg.finish(heading) })
}
