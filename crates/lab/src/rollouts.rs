//! Rollouts that can be stopped, and how iterated models worked on them.

use std::ops::ControlFlow;

use pgn_engine::{Example, Model, Rollout};
use pgn_structures::Node;
use rayon::prelude::*;

use crate::{Error, Execution, Result, Stop};

/// Rolls out many sequences as [`Model::rollouts`] does, unless told to stop.
pub fn rollouts(model: &Model, examples: &[Example<'_>], stop: Stop<'_>) -> Result<Vec<Rollout>> {
    let config = model.config();
    let one = |example: &Example<'_>| {
        let (n, ops) = (example.sequence.nodes(), example.sequence.ops());
        let mut rollout = Rollout {
            query_logits: Vec::with_capacity(ops),
            mask_logits: config.has_masks().then(|| Vec::with_capacity(ops * n)),
            pointers: config.owns_pointers().then(|| Vec::with_capacity(ops * n)),
        };
        until(model, *example, stop, |step| {
            rollout.query_logits.push(step.logit);
            if let Some(logits) = &mut rollout.mask_logits {
                logits.extend_from_slice(step.mask_logits());
            }
            if let Some(pointers) = &mut rollout.pointers {
                pointers.extend_from_slice(step.pointers());
            }
        })?;
        Ok(rollout)
    };
    examples.par_iter().with_max_len(1).map(one).collect()
}

/// How a model with an iterated processor executes the operations of some sequences.
pub fn execution(model: &Model, examples: &[Example<'_>], stop: Stop<'_>) -> Result<Execution> {
    if model.config().iterated().is_none() {
        return Err(Error::Request("only models with an iterated processor take steps".into()));
    }
    let one = |example: &Example<'_>| {
        let mut worked = Worked::default();
        until(model, *example, stop, |step| {
            let (state, truth) = (step.state(), example.sequence);
            let participants = state.participants().map_or(0, <[Node]>::len);
            let right = step.answer().value() == (truth.answers[step.t] == 1)
                && step.pointers() == truth.pointers_after(step.t);
            worked = worked.join(Worked {
                first_error: (!right).then_some(step.t),
                operations: 1,
                steps: state.processor_steps() as u64,
                max_steps: state.processor_steps(),
                participants: participants as u64,
                max_participants: participants,
            });
        })?;
        Ok(worked)
    };
    let each = examples.par_iter().with_max_len(1).map(one);
    let all: Worked =
        each.collect::<Result<Vec<_>>>()?.into_iter().fold(Worked::default(), Worked::join);
    let operations = all.operations.max(1) as f64;
    Ok(Execution {
        first_error: all.first_error,
        mean_steps: all.steps as f64 / operations,
        max_steps: all.max_steps,
        mean_participants: all.participants as f64 / operations,
        max_participants: all.max_participants,
    })
}

/// Replays an example, looking now and then whether to stop.
fn until(
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
    stopped
}

#[derive(Clone, Copy, Default)]
struct Worked {
    first_error: Option<usize>,
    operations: u64,
    steps: u64,
    max_steps: usize,
    participants: u64,
    max_participants: usize,
}

impl Worked {
    fn join(self, other: Worked) -> Worked {
        Worked {
            first_error: [self.first_error, other.first_error].into_iter().flatten().min(),
            operations: self.operations + other.operations,
            steps: self.steps + other.steps,
            max_steps: self.max_steps.max(other.max_steps),
            participants: self.participants + other.participants,
            max_participants: self.max_participants.max(other.max_participants),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use pgn_engine::Config;
    use pgn_structures::{Dataset, Sampling, Split, Task};

    use super::*;
    use crate::evaluate_stream;

    fn forest(count: usize) -> (Task, Sampling, Dataset) {
        let task = Task::named("forest").unwrap();
        let sampling = Sampling { count, split: Split::Test, ..Sampling::paper(9) };
        let set = Dataset::sample(&task, &sampling).unwrap();
        (task, sampling, set)
    }

    #[test]
    fn the_same_as_without_a_flag_and_an_end_with_it() {
        let (_, _, set) = forest(3);
        let model = Model::new(Config::preset("pgn").unwrap(), 2).unwrap();
        let examples: Vec<Example<'_>> = set.sequences().map(Example::from).collect();
        let ours = rollouts(&model, &examples, Stop::NEVER).unwrap();
        assert_eq!(ours, model.rollouts(&examples).unwrap());
        let flag = AtomicBool::new(true);
        let stopped = rollouts(&model, &examples, Stop::when(&flag));
        assert!(matches!(stopped, Err(Error::Stopped)));
        assert!(execution(&model, &examples, Stop::NEVER).is_err());
    }

    #[test]
    fn execution_is_that_of_streams() {
        let (task, sampling, set) = forest(4);
        let model = Model::new(Config::preset("pgn-exact").unwrap(), 1).unwrap();
        let examples: Vec<Example<'_>> = set.sequences().map(Example::from).collect();
        let ours = execution(&model, &examples, Stop::NEVER).unwrap();
        let theirs = evaluate_stream(&model, &task, &sampling, Stop::NEVER).unwrap();
        assert_eq!(Some(ours), theirs.execution);
    }
}
