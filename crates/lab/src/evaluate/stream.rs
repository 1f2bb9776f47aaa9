//! Evaluation one operation at a time, in O(n) memory: what a data set would hold (n pointers per
//! operation) does not fit for a million nodes.

use pgn_engine::{Model, State, left_alone};
use pgn_structures::{Node, Operation, Sampling, SequenceStream, Split, Task};
use rayon::prelude::*;

use pgn_runs::Stop;

use crate::{
    Error, Result, TestConfig, TestScores,
    evaluate::{Execution, Tally},
};

/// The scores of a model with an iterated processor on every test set of `test` at `seed`: the
/// same sequences, and the same scores, as [`evaluate_set`](crate::evaluate::evaluate_set) on sampled data
/// sets. Sequences run in parallel on the current rayon pool.
pub fn evaluate_streams(
    model: &Model,
    task: &Task,
    test: &TestConfig,
    seed: u64,
    stop: Stop<'_>,
) -> Result<Vec<TestScores>> {
    every_size(test, seed, |sampling| evaluate_stream(model, task, sampling, stop))
}

/// [`evaluate_streams`] for one test set.
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
    join(sampling, |index| {
        roll(task, sampling, index, stop, |priorities| Ok(model.start_with(priorities)?))
    })
}

/// Scores every test set of `test` at `seed` by `score`.
pub(crate) fn every_size(
    test: &TestConfig,
    seed: u64,
    score: impl Fn(&Sampling) -> Result<TestScores>,
) -> Result<Vec<TestScores>> {
    let of_size = |(&nodes, &ops): (&usize, &usize)| {
        score(&Sampling { nodes, ops, count: test.sequences, seed, split: Split::Test })
    };
    test.nodes.iter().zip(&test.ops).map(of_size).collect()
}

/// Rolls out every sequence of a test set by `one`, in parallel, and adds up what they gave.
pub(crate) fn join(
    sampling: &Sampling,
    one: impl Fn(u64) -> Result<Rolled> + Sync,
) -> Result<TestScores> {
    let &Sampling { nodes, ops, count, .. } = sampling;
    let rolled = (0..count).into_par_iter().map(|index| one(index as u64));
    let all = Rolled::join(rolled.collect::<Result<_>>()?);
    Ok(TestScores {
        nodes,
        ops,
        sequences: count,
        scores: all.tally.scores(),
        execution: Some(all.execution(ops * count)),
        ..TestScores::default()
    })
}

/// What one sequence gave.
#[derive(Default)]
pub(crate) struct Rolled {
    pub tally: Tally,
    pub first_error: Option<usize>,
    steps: u64,
    max_steps: usize,
    participants: u64,
    max_participants: usize,
}

impl Rolled {
    /// Counts an operation, its steps and the nodes that took part in it.
    pub fn operation(&mut self, steps: usize, participants: usize) {
        self.steps += steps as u64;
        self.max_steps = self.max_steps.max(steps);
        self.participants += participants as u64;
        self.max_participants = self.max_participants.max(participants);
    }

    /// Counts an operation of a model that is in this state after it.
    pub fn step(&mut self, state: &State) {
        let participants = state.participants().map_or(0, <[Node]>::len);
        self.operation(state.processor_steps(), participants);
    }

    /// Counts the pointers and masks of `nodes` nodes after an operation.
    pub fn nodes(&mut self, nodes: u64, wrong_pointers: u64, wrong_masks: u64) {
        let (pointers, masks) = self.tally.hits();
        pointers.right += nodes - wrong_pointers;
        pointers.of += nodes;
        masks.right += nodes - wrong_masks;
        masks.of += nodes;
    }

    /// All together.
    pub fn join(all: Vec<Rolled>) -> Rolled {
        all.into_iter().fold(Rolled::default(), |mut sum, one| {
            sum.tally.join(&one.tally);
            sum.first_error = [sum.first_error, one.first_error].into_iter().flatten().min();
            sum.steps += one.steps;
            sum.max_steps = sum.max_steps.max(one.max_steps);
            sum.participants += one.participants;
            sum.max_participants = sum.max_participants.max(one.max_participants);
            sum
        })
    }

    /// How so many operations were executed.
    pub fn execution(&self, operations: usize) -> Execution {
        let operations = operations.max(1) as f64;
        Execution {
            first_error: self.first_error,
            mean_steps: self.steps as f64 / operations,
            max_steps: self.max_steps,
            mean_participants: self.participants as f64 / operations,
            max_participants: self.max_participants,
        }
    }

    /// Ends the sequence.
    pub fn end(mut self, all_right: bool) -> Rolled {
        self.tally.end(all_right, self.first_error.is_none());
        self
    }
}

/// What carries out operations one at a time on pointers of its own: a model, or a machine.
pub(crate) trait Executes {
    /// Carries out an operation: its answer, and the steps that it took. `None` where a machine
    /// could not, after which it is asked no more.
    fn execute(&mut self, operation: Operation) -> Result<Option<(bool, usize)>>;

    /// The nodes that took part in the last operation: no other pointers or masks can have changed.
    fn participants(&self) -> &[Node];

    /// Whether it takes a node for visited by the last operation.
    fn visits(&self, node: Node) -> bool;

    /// Where a node points.
    fn pointer(&self, node: Node) -> Node;
}

impl Executes for State {
    fn execute(&mut self, operation: Operation) -> Result<Option<(bool, usize)>> {
        let answer = self.apply(operation)?.value();
        Ok(Some((answer, self.processor_steps())))
    }

    fn participants(&self) -> &[Node] {
        State::participants(self).unwrap_or_default()
    }

    fn visits(&self, node: Node) -> bool {
        !left_alone(self.mask_logits()[node as usize])
    }

    fn pointer(&self, node: Node) -> Node {
        self.pointers()[node as usize]
    }
}

/// Scores sequence `index` of a test set, answered by what `start` makes of its priorities.
pub(crate) fn roll<E: Executes>(
    task: &Task,
    sampling: &Sampling,
    index: u64,
    stop: Stop<'_>,
    start: impl FnOnce(&[f32]) -> Result<E>,
) -> Result<Rolled> {
    let mut truth = SequenceStream::new(task, sampling, index)?;
    let mut ours = start(truth.priorities())?;
    let mut rolled = Rolled::default();
    // Which pointers are not the truth's, kept up to date by looking only at what either touched.
    let mut differs = vec![false; sampling.nodes];
    let mut different = 0u64;
    let (mut all_right, mut failed) = (true, false);
    for t in 0..sampling.ops {
        stop.check()?;
        let (operation, answer) = truth.advance()?;
        let outcome = if failed { None } else { ours.execute(operation)? };
        failed = outcome.is_none();
        let (guess, steps) = outcome.unwrap_or((!answer, 0));
        let right = rolled.tally.answer(guess, answer);
        let (visited, participants) = (truth.visited(), ours.participants());
        let only_ours = participants.iter().filter(|&&node| !visited.contains(node));
        let mut wrong_masks = 0;
        for &node in visited.nodes().iter().chain(only_ours) {
            let is = truth.pointer(node) != ours.pointer(node);
            let was = std::mem::replace(&mut differs[node as usize], is);
            different = different + u64::from(is) - u64::from(was);
            wrong_masks += u64::from(ours.visits(node) != visited.contains(node));
        }
        rolled.nodes(sampling.nodes as u64, different, wrong_masks);
        all_right &= right;
        if !right || different > 0 {
            rolled.first_error = rolled.first_error.or(Some(t));
        }
        rolled.operation(steps, participants.len());
    }
    // A wrong machine may have written where neither of them has been; nothing is left out.
    let mut all = 0..sampling.nodes as Node;
    if all.any(|node| truth.pointer(node) != ours.pointer(node)) {
        rolled.first_error = rolled.first_error.or(Some(sampling.ops.saturating_sub(1)));
    }
    Ok(rolled.end(all_right))
}
