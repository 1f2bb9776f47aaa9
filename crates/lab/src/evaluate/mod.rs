//! Free rollouts, scored against the truth; predictions from elsewhere likewise.
//!
//! There is one way to score a sequence, `scorer.rs`, for models, machines and predictions.

mod player;
mod prediction;
mod scorer;

use std::ops::ControlFlow;

use pgn_engine::{Example, Model};
use pgn_runs::Stop;
use pgn_structures::{Sampling, Task};

use crate::{Error, Examples, Result, Scores, TestScores};

pub(crate) use player::{Player, counting};
pub use prediction::{Prediction, PredictionScores, score_predictions};

/// Rolls the model out freely on every sequence of `sets` and scores all together.
pub fn evaluate(model: &Model, sets: &[Examples]) -> Result<Scores> {
    let examples = sets.iter().flat_map(Examples::examples);
    Ok(Player::Model(model).score_all(examples, None, Stop::NEVER)?.tally.scores())
}

/// Scores on one test set, with its size.
pub fn evaluate_set(model: &Model, examples: &Examples, stop: Stop<'_>) -> Result<TestScores> {
    Player::Model(model).score_set(examples, None, stop)
}

/// The scores of a model with an iterated processor on sampled sequences, one operation at a time:
/// what a data set would hold (n pointers per operation) does not fit for a million nodes. The
/// scores are those of [`evaluate_set`]. Sequences run in parallel on the current rayon pool.
pub fn evaluate_stream(
    model: &Model,
    task: &Task,
    sampling: &Sampling,
    stop: Stop<'_>,
) -> Result<TestScores> {
    if model.config().iterated().is_none() {
        return Err(Error::request(
            "only models with an iterated processor are evaluated one operation at a time",
        ));
    }
    Player::Model(model).score_stream(task, sampling, None, stop)
}

/// Replays an example, looking after every operation whether to stop.
pub(crate) fn until(
    model: &Model,
    example: Example<'_>,
    stop: Stop<'_>,
    mut see: impl FnMut(pgn_engine::Step<'_>) -> Result<()>,
) -> Result<()> {
    stop.check()?;
    let mut seen = Ok(());
    model.replay(example, |step| {
        seen = see(step).and_then(|()| Ok(stop.check()?));
        if seen.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    seen
}
