//! Scores and rollouts of machines, on the same sequences and files as every model's.

use std::path::Path;

use pgn_engine::Rollout;
use pgn_machines::Store;
use pgn_structures::{Dataset, Node, Operation, Sampling, Sequence, SequenceStream, Split, Task};
use rayon::prelude::*;

use super::{Executor, MachineRun, Mode};
use pgn_runs::Stop;

use crate::{
    Result, Scores, TestConfig, TestScores,
    data::data_set,
    evaluate::Tally,
    evaluate::stream::{Rolled, every_size, join},
    rollouts::{RolloutArrays, RolloutOf},
};

/// The logits of a machine, which does not hedge: an answer is 1 or 0, a node visited or not.
const LOGIT: f32 = 20.0;

impl MachineRun {
    /// Carries out the operations of a sequence. `query_logits` and `mask_logits` are ±20. An
    /// operation that could not be carried out, which no certified machine has, gets 0, and so do
    /// those after it.
    pub fn rollout(&self, executor: &Executor<'_>, sequence: Sequence<'_>) -> Rollout {
        self.rollout_until(executor, sequence, Stop::NEVER)
            .unwrap_or_else(|_| unreachable!("nobody stops it"))
    }

    /// [`MachineRun::rollout`], unless told to stop.
    pub fn rollout_until(
        &self,
        executor: &Executor<'_>,
        sequence: Sequence<'_>,
        stop: Stop<'_>,
    ) -> Result<Rollout> {
        let nodes = sequence.nodes();
        let mut store = executor.store(sequence.priorities);
        let mut query_logits = Vec::with_capacity(sequence.ops());
        let mut mask_logits = Vec::with_capacity(sequence.ops() * nodes);
        let mut pointers = Vec::with_capacity(sequence.ops() * nodes);
        let mut failed = false;
        for operation in sequence.operations {
            stop.check()?;
            let outcome = match failed {
                true => None,
                false => self.apply(executor, &mut store, *operation).ok(),
            };
            failed = outcome.is_none();
            query_logits.push(match outcome {
                Some((true, _)) => LOGIT,
                Some((false, _)) => -LOGIT,
                None => 0.0,
            });
            let visited = store.visited();
            mask_logits.extend(
                (0..nodes as Node).map(|node| if visited.contains(node) { -LOGIT } else { LOGIT }),
            );
            pointers.extend((0..nodes as Node).map(|node| self.pointer(&store, node)));
        }
        Ok(Rollout { query_logits, mask_logits: Some(mask_logits), pointers: Some(pointers) })
    }

    /// Carries out an operation of a data set; its answer and the number of micro-steps. Kinds are
    /// the program's operations: where the structure has a single one, it is the program's first.
    fn apply(
        &self,
        executor: &Executor<'_>,
        store: &mut Store,
        Operation { u, v, kind, .. }: Operation,
    ) -> Result<(bool, u64)> {
        let operations = &self.machine().signature().operations;
        let operands = operations.get(usize::from(kind)).map_or(2, |one| one.arguments.len());
        let arguments = &[u, v][..operands.min(2)];
        let (outcome, steps) = executor.apply(store, usize::from(kind), arguments)?;
        Ok((outcome.as_answer(), steps))
    }

    fn pointer(&self, store: &Store, node: Node) -> Node {
        self.machine().program().node_pointer(store, node)
    }

    /// Rolls out every sequence of a data set.
    pub fn rollouts(
        &self,
        executor: &Executor<'_>,
        set: &Dataset,
        stop: Stop<'_>,
    ) -> Result<Vec<Rollout>> {
        let sequences: Vec<_> = set.sequences().collect();
        let one = |&sequence: &Sequence<'_>| self.rollout_until(executor, sequence, stop);
        sequences.par_iter().with_max_len(1).map(one).collect()
    }

    /// Rolls out every sequence of a data-set file, and writes a rollout file: the same bytes in
    /// every mode.
    pub fn write_rollouts(&self, data: &Path, out: &Path, mode: Mode) -> Result<()> {
        let set = data_set(data, &self.task()?)?;
        let rollouts = self.rollouts(&self.executor(mode)?, &set, Stop::NEVER)?;
        let config = self.config();
        let of = RolloutOf {
            task: &set.task,
            model: &config.model,
            seed: config.seed,
            ops: set.ops,
            nodes: set.nodes,
        };
        RolloutArrays::join(rollouts).save(&of, out)
    }

    /// The scores on a data-set file.
    pub fn test_file(&self, path: &Path, mode: Mode) -> Result<TestScores> {
        let set = data_set(path, &self.task()?)?;
        let executor = self.executor(mode)?;
        Ok(TestScores {
            nodes: set.nodes,
            ops: set.ops,
            sequences: set.count(),
            scores: self.scores(&executor, &set, Stop::NEVER)?,
            ..TestScores::default()
        })
    }

    fn scores(&self, executor: &Executor<'_>, set: &Dataset, stop: Stop<'_>) -> Result<Scores> {
        let mut tally = Tally::default();
        for sequence in set.sequences() {
            stop.check()?;
            tally.add(sequence, &self.rollout(executor, sequence));
        }
        Ok(tally.scores())
    }

    /// The scores on the validation set at the run's seed; all 0 where there are no data
    /// sets.
    pub(crate) fn validation_scores(&self, stop: Stop<'_>) -> Result<Scores> {
        let Ok(task) = self.task() else { return Ok(Scores::default()) };
        let sampling = Sampling {
            count: self.config().data.validation_sequences,
            seed: self.config().seed,
            split: Split::Validation,
            ..Sampling::paper(20)
        };
        self.scores(&self.executor(Mode::Memoised)?, &Dataset::sample(&task, &sampling)?, stop)
    }

    /// The scores on test sets at `seed`, one operation at a time, in O(n) memory; none where
    /// there are no data sets. The same sequences as every model's.
    pub fn test(
        &self,
        test: &TestConfig,
        seed: u64,
        mode: Mode,
        stop: Stop<'_>,
    ) -> Result<Vec<TestScores>> {
        let Ok(task) = self.task() else { return Ok(Vec::new()) };
        let executor = self.executor(mode)?;
        every_size(test, seed, |sampling| {
            join(sampling, |index| self.roll(&executor, &task, sampling, index, stop))
        })
    }

    fn roll(
        &self,
        executor: &Executor<'_>,
        task: &Task,
        sampling: &Sampling,
        index: u64,
        stop: Stop<'_>,
    ) -> Result<Rolled> {
        let mut truth = SequenceStream::new(task, sampling, index)?;
        let mut store = executor.store(truth.priorities());
        let mut rolled = Rolled::default();
        let nodes = sampling.nodes;
        let mut differs = vec![false; nodes];
        let mut different = 0u64;
        let (mut all_right, mut failed) = (true, false);
        for t in 0..sampling.ops {
            stop.check()?;
            let (operation, answer) = truth.advance()?;
            let outcome = match failed {
                true => None,
                false => self.apply(executor, &mut store, operation).ok(),
            };
            failed = outcome.is_none();
            let (guess, steps) = outcome.unwrap_or((!answer, 0));
            let right = rolled.tally.answer(guess, answer);
            let (ours, theirs) = (store.visited(), truth.visited());
            let only_ours = ours.nodes().iter().filter(|&&node| !theirs.contains(node));
            let only_theirs = theirs.nodes().iter().filter(|&&node| !ours.contains(node));
            let wrong_masks = (only_ours.clone().count() + only_theirs.count()) as u64;
            for &node in theirs.nodes().iter().chain(only_ours) {
                let is = truth.pointer(node) != self.pointer(&store, node);
                let was = std::mem::replace(&mut differs[node as usize], is);
                different = different + u64::from(is) - u64::from(was);
            }
            rolled.nodes(nodes as u64, different, wrong_masks);
            all_right &= right;
            if !right || different > 0 {
                rolled.first_error = rolled.first_error.or(Some(t));
            }
            rolled.operation(steps as usize, ours.nodes().len());
        }
        // A wrong network may have written where neither of them has been; nothing is left out.
        let mut all = 0..nodes as Node;
        if all.any(|node| truth.pointer(node) != self.pointer(&store, node)) {
            rolled.first_error = rolled.first_error.or(Some(sampling.ops.saturating_sub(1)));
        }
        Ok(rolled.end(all_right))
    }
}
