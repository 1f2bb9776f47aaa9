//! F₁ by test size, ours beside the paper's.

use pgn_lab::{Collection, paper, tables::TABLE_1};

use crate::{
    Figure,
    plot::{Mark, Panel, legend},
    svg::{Anchor, Font, Ink, Stroke, Svg},
    title,
};

const LINES: [Stroke; 6] = [
    Stroke { ink: Ink::Vermilion, width: 2.0, dashes: "8 3" },
    Stroke { ink: Ink::Purple, width: 2.0, dashes: "2 3" },
    Stroke { ink: Ink::Orange, width: 2.2, dashes: "9 3 2 3" },
    Stroke { ink: Ink::Blue, width: 3.0, dashes: "" },
    Stroke { ink: Ink::Green, width: 2.0, dashes: "5 3" },
    Stroke { ink: Ink::Quiet, width: 2.0, dashes: "" },
];

/// What is had by counting how often u and v were operated on, with no data structure.
const COUNTING: Stroke = Stroke { ink: Ink::Text, width: 2.0, dashes: "2 2.5" };

/// The figure of the models of Table 1 that there are runs of.
pub fn figure(runs: &Collection) -> Option<Figure> {
    let tasks: Vec<&str> =
        runs.tasks().into_iter().filter(|task| ["dsu", "lct"].contains(task)).collect();
    let sizes = runs.sizes();
    if tasks.is_empty() || sizes.len() < 2 {
        return None;
    }
    let has = |model: &str| runs.runs.iter().any(|run| run.model == model);
    let models: Vec<(&str, Stroke)> =
        TABLE_1.into_iter().zip(LINES).filter(|(model, _)| has(model)).collect();
    let (left, top, wide, high, gap) = (70.0, 92.0, 330.0, 260.0, 30.0);
    let mut svg = Svg::new(left + tasks.len() as f64 * (wide + gap), top + high + 52.0);
    let heading = "F₁ by test size";
    svg.text((14.0, 24.0), heading, Font::new(15.0, Ink::Text, Anchor::Start).bold());
    let mut marks: Vec<(Mark, &str)> =
        models.iter().map(|&(model, stroke)| (Mark::Line(stroke), model)).collect();
    marks.push((Mark::Line(COUNTING), "counting"));
    marks.push((Mark::Dot(Ink::Back, Stroke::new(Ink::Quiet, 1.6)), "the paper's"));
    legend(&mut svg, (14.0, 50.0), &marks);
    let last = sizes.len() as f64 - 1.0;
    for (index, task) in tasks.iter().enumerate() {
        let panel = Panel {
            at: (left + index as f64 * (wide + gap), top),
            size: (wide, high),
            xs: (-0.2, last + 0.2),
            ys: (0.0, 1.0),
        };
        panel.grid(&mut svg, index == 0);
        for (number, &(model, stroke)) in models.iter().enumerate() {
            // Beside each other, so that spreads and rings can be told apart.
            let aside = 0.06 * (number as f64 - (models.len() - 1) as f64 / 2.0);
            let at = |place: usize| place as f64 + aside;
            let mut points = Vec::new();
            for (place, &nodes) in sizes.iter().enumerate() {
                if let Some(ours) = runs.f1(task, model, nodes) {
                    points.push((at(place), ours.mean));
                    if let Some(std) = ours.std {
                        let bar = [ours.mean - std, (ours.mean + std).min(1.0)];
                        let ends = bar.map(|value| (at(place), value));
                        panel.line(&mut svg, &ends, Stroke::new(stroke.ink, 1.2));
                    }
                }
            }
            panel.line(&mut svg, &points, stroke);
            for (place, &nodes) in sizes.iter().enumerate() {
                if let Some(theirs) = paper().f1(task, model, nodes) {
                    let middle = (panel.x(at(place)), panel.y(theirs.mean));
                    svg.circle(middle, 3.6, Ink::Back, Stroke::new(stroke.ink, 1.8));
                }
            }
        }
        let counting = sizes
            .iter()
            .enumerate()
            .filter_map(|(place, &nodes)| Some((place as f64, runs.counting(task, nodes)?.mean)));
        panel.line(&mut svg, &counting.collect::<Vec<_>>(), COUNTING);
        panel.floor(&mut svg);
        for (place, nodes) in sizes.iter().enumerate() {
            let font = Font::new(11.0, Ink::Quiet, Anchor::Middle);
            svg.text((panel.x(place as f64), top + high + 16.0), &nodes.to_string(), font);
        }
        panel.title(&mut svg, title(task));
        panel.name_below(&mut svg, "nodes, n");
        if index == 0 {
            panel.name_left(&mut svg, "F₁", 38.0);
        }
    }
    let mut seeds: Vec<u64> = runs.runs.iter().map(|run| run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let caption = format!(
        "F₁ of models trained on n = 20, by test size ({}), with standard deviations where there \
         are several; rings are the paper's means over five seeds. Counting is a rule that knows of the two \
         nodes only whether each was operated on never, once or more often before.",
        crate::seeds(seeds.len())
    );
    Some(Figure { name: "f1".to_owned(), caption, svg: svg.finish(heading) })
}
