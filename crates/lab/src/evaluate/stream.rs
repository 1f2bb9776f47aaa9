//! Evaluation one operation at a time, in O(n) memory: what a data set would hold (n pointers per
//! operation) does not fit for a million nodes.

use std::ops::ControlFlow;

use pgn_engine::{Driver, Model, State, Step, left_alone};
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
    join(sampling, |index| roll(model, task, sampling, index, stop))
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

fn roll(
    model: &Model,
    task: &Task,
    sampling: &Sampling,
    index: u64,
    stop: Stop<'_>,
) -> Result<Rolled> {
    let truth = SequenceStream::new(task, sampling, index)?;
    let priorities = truth.priorities().to_vec();
    let mut scoring = Scoring {
        truth,
        answer: false,
        left: sampling.ops,
        stop,
        difference: Difference::new(sampling.nodes),
        all_right: true,
        rolled: Rolled::default(),
    };
    model.drive(&priorities, &mut scoring)?;
    Ok(scoring.rolled.end(scoring.all_right))
}

/// The truth, beside which the model is scored.
struct Scoring<'a> {
    truth: SequenceStream,
    /// The true answer to the last operation.
    answer: bool,
    /// Operations left.
    left: usize,
    stop: Stop<'a>,
    difference: Difference,
    all_right: bool,
    rolled: Rolled,
}

impl Driver for Scoring<'_> {
    type Error = Error;

    fn next_operation(&mut self) -> Result<Option<Operation>> {
        self.stop.check()?;
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let (operation, answer) = self.truth.advance()?;
        self.answer = answer;
        Ok(Some(operation))
    }

    fn observe(&mut self, step: Step<'_>) -> Result<ControlFlow<()>> {
        let (rolled, state) = (&mut self.rolled, step.state());
        let right = rolled.tally.answer(step.answer().value(), self.answer);
        let wrong_masks = self.difference.update(&self.truth, state);
        rolled.nodes(state.nodes() as u64, self.difference.count, wrong_masks);
        self.all_right &= right;
        if !right || self.difference.count > 0 {
            rolled.first_error = rolled.first_error.or(Some(step.t));
        }
        rolled.step(state);
        Ok(ControlFlow::Continue(()))
    }
}

/// Which of a model's pointers are not the truth's, kept up to date by looking only at nodes that
/// either of them touched.
struct Difference {
    differs: Vec<bool>, // [n]
    count: u64,
}

impl Difference {
    fn new(nodes: usize) -> Difference {
        Difference { differs: vec![false; nodes], count: 0 }
    }

    /// Compares after an operation; how many masks are wrong.
    fn update(&mut self, truth: &SequenceStream, state: &State) -> u64 {
        let visited = truth.visited();
        let mut wrong_masks = 0;
        let mut look = |node: Node| {
            let differs = truth.pointer(node) != state.pointers()[node as usize];
            let before = std::mem::replace(&mut self.differs[node as usize], differs);
            self.count = self.count + u64::from(differs) - u64::from(before);
            let is_zero = !left_alone(state.mask_logits()[node as usize]);
            wrong_masks += u64::from(is_zero != visited.contains(node));
        };
        visited.nodes().iter().for_each(|&node| look(node));
        // Only participants can have mask 0, and only with mask 0 does a pointer move.
        let participants = state.participants().unwrap_or_default();
        participants.iter().filter(|&&node| !visited.contains(node)).for_each(|&node| look(node));
        wrong_masks
    }
}
