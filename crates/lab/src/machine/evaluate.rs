//! Scores and rollouts of machines, on the same sequences and files as every model's.

use pgn_engine::Rollout;
use pgn_machines::Store;
use pgn_structures::{Dataset, Node, Operation, Sampling, Sequence, Split};
use rayon::prelude::*;

use super::{Executor, MachineRun, Mode};
use pgn_runs::Stop;

use crate::{
    Examples, Result, Scores, TestScores, TestSets,
    evaluate::{Player, counting},
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
            let program = self.machine().program();
            pointers.extend((0..nodes as Node).map(|node| program.node_pointer(&store, node)));
        }
        Ok(Rollout { query_logits, mask_logits: Some(mask_logits), pointers: Some(pointers) })
    }

    /// Carries out an operation of a data set; its answer and the number of micro-steps. Kinds are
    /// the program's operations: where the structure has a single one, it is the program's first.
    pub fn apply(
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

    /// The scores on a data set.
    pub fn evaluate(&self, set: &Dataset, mode: Mode, stop: Stop<'_>) -> Result<TestScores> {
        let executor = self.executor(mode)?;
        let rule = self.task().ok().map(|task| counting(&task, set.seed)).transpose()?.flatten();
        let set = Examples::from(set.clone());
        Player::Machine(&executor).score_set(&set, rule.as_ref(), stop)
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
        Ok(self.evaluate(&Dataset::sample(&task, &sampling)?, Mode::Memoised, stop)?.scores)
    }

    /// The scores on test sets, the run's own unless others are asked for, one operation at a time,
    /// in O(n) memory; none where there are no data sets. The same sequences as every model's.
    pub fn test(&self, sets: &TestSets, mode: Mode, stop: Stop<'_>) -> Result<Vec<TestScores>> {
        let Ok(task) = self.task() else { return Ok(Vec::new()) };
        let seed = sets.seed.unwrap_or(self.config().seed);
        let sets = sets.of(&self.config().test)?;
        Player::Machine(&self.executor(mode)?).test(&task, None, &sets, seed, stop)
    }
}
