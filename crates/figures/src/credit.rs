//! The figures of the paper's appendix D: shares of credit along the rollout, as stacked areas,
//! `gnn` above `pgn`, test sizes from left to right.

use pgn_lab::{
    analysis::{Analyses, Credit, Shares},
    collection::title,
};

use crate::{
    Figure, mean,
    plot::{Mark, Panel, legend},
    seeds,
    svg::{Anchor, Font, Ink, Stroke, Svg},
};

/// Which dimensions of the readout are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Those of max z.
    Z,
    /// Those of max h.
    H,
    /// All.
    Both,
}

impl Part {
    fn of(self, credit: &Credit) -> &Shares {
        match self {
            Part::Z => &credit.z,
            Part::H => &credit.h,
            Part::Both => &credit.both,
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Part::Z => "-z",
            Part::H => "-h",
            Part::Both => "",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Part::Z => "the dimensions of max z",
            Part::H => "the dimensions of max h",
            Part::Both => "all dimensions of the readout, z and h",
        }
    }
}

const MODELS: [&str; 3] = ["gnn", "pgn", "pgn-free"];
const OPERATED: Ink = Ink::Blue;
const PATH: Ink = Ink::Orange;
const NODES: Stroke = Stroke { ink: Ink::Text, width: 1.4, dashes: "5 3" };
const NODES_OPERATED: Stroke = Stroke { ink: Ink::Text, width: 1.2, dashes: "1.5 2.5" };

/// The figure of one task, if there are runs for it.
pub fn figure(analyses: &Analyses, task: &str, part: Part) -> Option<Figure> {
    let models: Vec<&str> =
        MODELS.into_iter().filter(|model| analyses.of(task, model).next().is_some()).collect();
    let first = analyses.of(task, models.first()?).next()?;
    let sizes: Vec<usize> = first.credit.iter().map(|credit| credit.nodes).collect();
    let (left, top, wide, high, gap) = (82.0, 96.0, 196.0, 150.0, 16.0);
    let width = left + sizes.len() as f64 * (wide + gap) + 4.0;
    let row = high + gap + 6.0;
    let height = top + models.len() as f64 * row + 38.0;
    let mut svg = Svg::new(width, height);
    let only = match part {
        Part::Z => " (max z only)",
        Part::H => " (max h only)",
        Part::Both => "",
    };
    let heading = format!("{}: where the answers come from{only}", title(task));
    svg.text((14.0, 24.0), &heading, Font::new(15.0, Ink::Text, Anchor::Start).bold());
    let entries = [
        (Mark::Area(OPERATED), "u and v"),
        (Mark::Area(PATH), "other nodes with mask 0"),
        (Mark::Line(NODES_OPERATED), "share among all nodes: of u and v"),
        (Mark::Line(NODES), "of all with mask 0"),
    ];
    legend(&mut svg, (14.0, 48.0), &entries);
    for (row_index, model) in models.iter().enumerate() {
        for (column, &nodes) in sizes.iter().enumerate() {
            let of_size = |credit: &&Credit| credit.nodes == nodes;
            let all: Vec<&Credit> = analyses
                .of(task, model)
                .filter_map(|run| run.credit.iter().find(of_size))
                .collect();
            let ops = all.first().map_or(1, |credit| credit.ops);
            let panel = Panel {
                at: (left + column as f64 * (wide + gap), top + row_index as f64 * row),
                size: (wide, high),
                xs: (1.0, ops.max(2) as f64),
                ys: (0.0, 1.0),
            };
            panel.grid(&mut svg, column == 0);
            draw(&mut svg, panel, &all, part);
            panel.floor(&mut svg);
            if row_index == 0 {
                panel.title(&mut svg, &format!("n = {nodes}"));
            }
            if row_index + 1 == models.len() {
                panel.numbers_below(&mut svg);
                panel.name_below(&mut svg, "operation");
            }
            if column == 0 {
                panel.name_left(&mut svg, "share of credit", 36.0);
                let font = Font::new(13.0, Ink::Text, Anchor::Middle).bold();
                svg.text_upwards((panel.at.0 - 58.0, panel.at.1 + high / 2.0), model, font);
            }
        }
    }
    let caption = format!(
        "{}: share of credit along the rollout, over {}; {} ({}). The readout takes a maximum \
         over nodes in each dimension, and the node it comes from gets the credit. The lines \
         show the share of these nodes among all, which is what they would get if credit were \
         given at random.",
        title(task),
        part.words(),
        models.join(" above "),
        seeds(analyses.of(task, models[0]).count())
    );
    Some(Figure {
        name: format!("credit-{task}{}", part.ending()),
        svg: svg.finish(&heading),
        caption,
    })
}

fn draw(svg: &mut Svg, panel: Panel, all: &[&Credit], part: Part) {
    let both = |shares: for<'a> fn(Part, &'a Credit) -> &'a Shares| {
        let row = |of: fn(&Shares) -> &[f64]| {
            mean(&all.iter().map(|credit| of(shares(part, credit))).collect::<Vec<_>>())
        };
        let (operated, path) = (row(|shares| &shares.operated), row(|shares| &shares.path));
        let upper: Vec<f64> = operated.iter().zip(&path).map(|(a, b)| a + b).collect();
        (operated, upper)
    };
    let (operated, upper) = both(|part, credit| part.of(credit));
    panel.area(svg, &vec![0.0; operated.len()], &operated, OPERATED);
    panel.area(svg, &operated, &upper, PATH);
    panel.steps(svg, &operated, Stroke::new(Ink::Back, 0.8));
    let (operated, upper) = both(|_, credit| &credit.baseline);
    for (values, stroke) in [(&operated, NODES_OPERATED), (&upper, NODES)] {
        // A rim keeps the line apart from the areas below it.
        panel.steps(svg, values, Stroke::new(Ink::Back, 3.4));
        panel.steps(svg, values, stroke);
    }
}
