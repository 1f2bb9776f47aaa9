//! Rollouts that can be stopped, how iterated models worked on them, and files of rollouts.

mod file;

use pgn_engine::{Example, Model, Rollout};
use rayon::prelude::*;

use pgn_runs::Stop;

use crate::{
    Error, Result,
    evaluate::{Execution, stream::Rolled, until},
};

pub use file::{RolloutArrays, RolloutOf};

/// Rolls out many sequences as [`Model::rollouts`] does, unless told to stop.
pub fn rollouts(model: &Model, examples: &[Example<'_>], stop: Stop<'_>) -> Result<Vec<Rollout>> {
    let one = |&example: &Example<'_>| {
        let mut rollout = Rollout::of(model.config(), example.sequence);
        until(model, example, stop, |step| rollout.push(step))?;
        Ok(rollout)
    };
    examples.par_iter().with_max_len(1).map(one).collect()
}

/// How a model with an iterated processor executes the operations of some sequences.
pub fn execution(model: &Model, examples: &[Example<'_>], stop: Stop<'_>) -> Result<Execution> {
    if model.config().iterated().is_none() {
        return Err(Error::request("only models with an iterated processor take steps"));
    }
    let one = |example: &Example<'_>| {
        let mut rolled = Rolled::default();
        until(model, *example, stop, |step| {
            let truth = example.sequence;
            let right = step.answer().value() == (truth.answers[step.t] == 1)
                && step.pointers() == truth.pointers_after(step.t);
            rolled.first_error = rolled.first_error.or((!right).then_some(step.t));
            rolled.step(step.state());
        })?;
        Ok(rolled)
    };
    let each = examples.par_iter().with_max_len(1).map(one);
    let all = Rolled::join(each.collect::<Result<_>>()?);
    Ok(all.execution(examples.iter().map(|example| example.sequence.ops()).sum()))
}
