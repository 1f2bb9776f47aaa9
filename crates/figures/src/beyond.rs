//! What models know beyond counting, by test size.

use pgn_lab::{
    analysis::{Analyses, BeyondCounting, tasks},
    collection::Spread,
};

use crate::{
    Figure,
    by_size::{Line, STROKES, draw},
};

/// The figure of those models of Table 1 that there are analyses of.
pub fn figure(analyses: &Analyses) -> Option<Figure> {
    let tasks = tasks(analyses);
    let first = analyses.runs.first()?;
    let sizes: Vec<usize> = first.beyond.iter().map(|beyond| beyond.nodes).collect();
    if sizes.len() < 2 {
        return None;
    }
    let analysed = |model: &str| analyses.runs.iter().any(|run| run.model == model);
    let lines: Vec<Line<'_>> = STROKES
        .into_iter()
        .filter(|(model, _)| analysed(model))
        .map(|(name, stroke)| Line {
            name,
            stroke,
            value: Box::new(move |task, nodes| gain(analyses, (task, name), nodes)),
            theirs: Box::new(|_, _| None),
        })
        .collect();
    let caption = format!(
        "What a model knows beyond counting: among operations whose operands have appeared equally \
         often, the share of answers 1 where the truth is 1 minus the share where it is 0 ({}). \
         Counting and constant answers score 0, the truth 1.",
        crate::seeds(analyses.of(&first.task, &first.model).count())
    );
    let svg = draw(("Beyond counting", "difference"), &tasks, &sizes, &lines, None);
    Some(Figure { name: "beyond".to_owned(), caption, svg })
}

fn gain(analyses: &Analyses, (task, model): (&str, &str), nodes: usize) -> Option<Spread> {
    let of_size = |beyond: &&BeyondCounting| beyond.nodes == nodes;
    let gains: Vec<f64> = analyses
        .of(task, model)
        .filter_map(|run| Some(run.beyond.iter().find(of_size)?.gain()))
        .collect();
    Spread::of(&gains)
}
