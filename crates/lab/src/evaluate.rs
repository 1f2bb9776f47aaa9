//! Free rollouts of a model, scored against the truth.

use pgn_engine::Model;
use pgn_structures::{Dataset, Sequence};

use crate::{Result, Scores, Stop, Tally, TestScores};

/// Sequences rolled out together: enough for every thread to have work, few enough that the
/// rollouts of a large test set (n logits and n pointers a step) are never all in memory.
const CHUNK: usize = 64;

/// Rolls the model out freely on every sequence of `sets` and scores all together.
pub fn evaluate(model: &Model, sets: &[Dataset]) -> Result<Scores> {
    let sequences: Vec<_> = sets.iter().flat_map(Dataset::sequences).collect();
    evaluate_sequences(model, &sequences, Stop::NEVER)
}

/// The same for sequences from anywhere, unless told to stop.
pub fn evaluate_sequences(
    model: &Model,
    sequences: &[Sequence<'_>],
    stop: Stop<'_>,
) -> Result<Scores> {
    let mut tally = Tally::default();
    for chunk in sequences.chunks(CHUNK) {
        stop.check()?;
        for (sequence, rollout) in chunk.iter().zip(model.rollouts(chunk)?) {
            tally.add(*sequence, &rollout);
        }
    }
    Ok(tally.scores())
}

/// The same for one test set, with its size.
pub fn evaluate_set(model: &Model, set: &Dataset, stop: Stop<'_>) -> Result<TestScores> {
    let scores = evaluate_sequences(model, &set.sequences().collect::<Vec<_>>(), stop)?;
    let sequences = set.count();
    Ok(TestScores { nodes: set.nodes, ops: set.ops, sequences, scores, execution: None })
}
