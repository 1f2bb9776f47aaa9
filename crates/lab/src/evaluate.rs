//! Free rollouts of a model, scored against the truth.

use std::ops::ControlFlow;

use pgn_engine::{Example, Model};
use rayon::prelude::*;

use crate::{Examples, Result, Scores, Stop, Tally, TestScores};

/// Rolls the model out freely on every sequence of `sets` and scores all together.
pub fn evaluate(model: &Model, sets: &[Examples]) -> Result<Scores> {
    let examples: Vec<_> = sets.iter().flat_map(Examples::examples).collect();
    evaluate_examples(model, &examples, Stop::NEVER)
}

/// The same for sequences from anywhere, unless told to stop. In parallel on the current rayon
/// pool; nothing is kept but counts.
pub fn evaluate_examples<'a, E>(model: &Model, examples: &[E], stop: Stop<'_>) -> Result<Scores>
where
    E: Copy + Into<Example<'a>> + Sync,
{
    let each = examples.par_iter().with_max_len(1);
    let one = |&example: &E| score(model, example.into(), stop);
    let mut tally = Tally::default();
    each.map(one).collect::<Result<Vec<_>>>()?.iter().for_each(|one| tally.join(one));
    Ok(tally.scores())
}

/// The same for one test set, with its size.
pub fn evaluate_set(model: &Model, examples: &Examples, stop: Stop<'_>) -> Result<TestScores> {
    let scores = evaluate_examples(model, &examples.examples().collect::<Vec<_>>(), stop)?;
    let (nodes, ops, sequences) = (examples.set.nodes, examples.set.ops, examples.count());
    Ok(TestScores { nodes, ops, sequences, scores, counting_f1: None, execution: None })
}

/// One sequence.
fn score(model: &Model, example: Example<'_>, stop: Stop<'_>) -> Result<Tally> {
    let (config, truth) = (model.config(), example.sequence);
    let mut tally = Tally::default();
    let (mut all_right, mut exact) = (true, config.owns_pointers());
    let mut stopped = stop.check();
    if stopped.is_ok() {
        model.replay(example, |step| {
            let pointers = config.owns_pointers().then(|| step.pointers());
            let masks = config.has_masks().then(|| step.mask_logits());
            let (right, same) = tally.step(truth, step.t, step.logit, pointers, masks);
            all_right &= right;
            exact &= same;
            stopped = stop.check();
            if stopped.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
    }
    stopped?;
    tally.end(all_right, all_right && exact);
    Ok(tally)
}
