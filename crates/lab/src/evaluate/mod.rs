//! Free rollouts of a model, scored against the truth; predictions from elsewhere likewise.

mod prediction;
pub(crate) mod stream;

use std::ops::ControlFlow;

use pgn_engine::{Example, Model};
use rayon::prelude::*;

use pgn_runs::Stop;

use crate::{Examples, Result, Scores, TestScores};

pub use crate::scores::{Execution, Tally};
pub use prediction::{Prediction, PredictionScores, score_predictions};
pub use stream::{evaluate_stream, evaluate_streams};

/// Rolls the model out freely on every sequence of `sets` and scores all together.
pub fn evaluate(model: &Model, sets: &[Examples]) -> Result<Scores> {
    let examples: Vec<_> = sets.iter().flat_map(Examples::examples).collect();
    evaluate_examples(model, &examples, Stop::NEVER)
}

/// Scores on sequences from anywhere, unless told to stop. In parallel on the current rayon
/// pool; nothing is kept but counts.
pub(crate) fn evaluate_examples<'a, E>(
    model: &Model,
    examples: &[E],
    stop: Stop<'_>,
) -> Result<Scores>
where
    E: Copy + Into<Example<'a>> + Sync,
{
    let each = examples.par_iter().with_max_len(1);
    let one = |&example: &E| score(model, example.into(), stop);
    let mut tally = Tally::default();
    each.map(one).collect::<Result<Vec<_>>>()?.iter().for_each(|one| tally.join(one));
    Ok(tally.scores())
}

/// Scores on one test set, with its size.
pub fn evaluate_set(model: &Model, examples: &Examples, stop: Stop<'_>) -> Result<TestScores> {
    let scores = evaluate_examples(model, &examples.examples().collect::<Vec<_>>(), stop)?;
    let (nodes, ops, sequences) = (examples.set.nodes, examples.set.ops, examples.count());
    Ok(TestScores { nodes, ops, sequences, scores, ..TestScores::default() })
}

/// One sequence.
fn score(model: &Model, example: Example<'_>, stop: Stop<'_>) -> Result<Tally> {
    let (config, truth) = (model.config(), example.sequence);
    let mut tally = Tally::default();
    let (mut all_right, mut exact) = (true, config.owns_pointers());
    until(model, example, stop, |step| {
        let pointers = config.owns_pointers().then(|| step.pointers());
        let masks = config.has_masks().then(|| step.mask_logits());
        let (right, same) = tally.step(truth, step.t, step.logit, pointers, masks);
        all_right &= right;
        exact &= same;
    })?;
    tally.end(all_right, all_right && exact);
    Ok(tally)
}

/// Replays an example, looking after every operation whether to stop.
pub(crate) fn until(
    model: &Model,
    example: Example<'_>,
    stop: Stop<'_>,
    mut see: impl FnMut(pgn_engine::Step<'_>),
) -> Result<()> {
    let mut stopped = stop.check();
    if stopped.is_ok() {
        model.replay(example, |step| {
            see(step);
            stopped = stop.check();
            if stopped.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
    }
    Ok(stopped?)
}
