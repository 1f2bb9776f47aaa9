//! F₁ by test size, ours beside the paper's.

use pgn_lab::collection::Collection;
use pgn_paper::numbers;

use crate::{
    Figure,
    by_size::{Line, STROKES, draw},
    svg::{Ink, Stroke},
};

/// The baseline that counts how often u and v have appeared, with no data structure.
const COUNTING: Stroke = Stroke { ink: Ink::Text, width: 2.0, dashes: "2 2.5" };

/// The figure of the models of Table 1 that there are runs of.
pub fn figure(runs: &Collection) -> Option<Figure> {
    let tasks = runs.tasks();
    let sizes = runs.sizes();
    if tasks.is_empty() || sizes.len() < 2 {
        return None;
    }
    let has = |model: &str| runs.runs.iter().any(|run| run.model == model);
    let models = STROKES.into_iter().filter(|(model, _)| has(model));
    let mut lines: Vec<Line<'_>> = models
        .map(|(name, stroke)| Line {
            name,
            stroke,
            value: Box::new(move |task, nodes| runs.f1(task, name, nodes)),
            theirs: Box::new(move |task, nodes| numbers().f1(task, name, nodes)),
        })
        .collect();
    lines.push(Line {
        name: "counting",
        stroke: COUNTING,
        value: Box::new(|task, nodes| runs.counting(task, nodes)),
        theirs: Box::new(|_, _| None),
    });
    let mut seeds: Vec<u64> = runs.runs.iter().map(|run| run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let caption = format!(
        "F₁ of models trained on n = 20, by test size ({}), with standard deviations where there \
         are several seeds; rings are the paper's means over five seeds. Counting is a rule that \
         sees only how often u and v have appeared before (0, 1 or ≥ 2 times).",
        crate::seeds(seeds.len())
    );
    let svg = draw(("F₁ by test size", "F₁"), &tasks, &sizes, &lines, Some("the paper's"));
    Some(Figure { name: "f1".to_owned(), caption, svg })
}
