//! Who is scored, on sequences at hand and on sequences that are sampled meanwhile.

use pgn_engine::{Config, Example, Model, State, left_alone};
use pgn_machines::Store;
use pgn_runs::Stop;
use pgn_structures::{Dataset, Node, Operation, Sampling, Sequence, SequenceStream, Split, Task};
use rayon::prelude::*;

use super::{
    scorer::{Executed, Recorded, Scorer, Streamed, Sums, Truth},
    until,
};
use crate::{
    Counting, Data, Examples, Result, TestConfig, TestScores, TrivialRules, limits,
    machine::Executor,
};

/// A model or a machine.
#[derive(Clone, Copy)]
pub(crate) enum Player<'a> {
    Model(&'a Model),
    Machine(&'a Executor<'a>),
}

impl<'a> Player<'a> {
    /// Whether operations can be scored one at a time, in O(n) memory, and their steps counted.
    pub fn is_iterated(self) -> bool {
        match self {
            Player::Model(model) => model.config().iterated().is_some(),
            Player::Machine(_) => true,
        }
    }

    fn start(self, priorities: &[f32]) -> Result<Work<'a>> {
        Ok(match self {
            Player::Model(model) => Work::Model(model.config(), model.start_with(priorities)?),
            Player::Machine(executor) => Work::Machine(executor, executor.store(priorities)),
        })
    }

    /// Scores one sequence.
    fn score(self, example: Example<'_>, rule: Option<&Counting>, stop: Stop<'_>) -> Result<Sums> {
        let sequence = example.sequence;
        let mut scorer = Scorer::new(Recorded::new(sequence), sequence.nodes(), rule);
        let Player::Model(model) = self else {
            return self.start(sequence.priorities)?.score(scorer, stop);
        };
        until(model, example, stop, |step| {
            scorer.next()?;
            let outcome = (step.answer().value(), step.state().processor_steps());
            scorer.compare(Some(outcome), &(model.config(), step.state()));
            Ok(())
        })?;
        // All of its pointers were compared after every operation.
        Ok(scorer.end(&Nothing))
    }

    /// Scores sequences at hand, in parallel on the current rayon pool; nothing is kept but counts.
    pub fn score_all<'e>(
        self,
        examples: impl IntoIterator<Item = Example<'e>>,
        rule: Option<&Counting>,
        stop: Stop<'_>,
    ) -> Result<Sums> {
        let examples: Vec<_> = examples.into_iter().collect();
        let each = examples.par_iter().with_max_len(1);
        let all = each.map(|&example| self.score(example, rule, stop));
        Ok(Sums::join(all.collect::<Result<_>>()?))
    }

    /// Scores a data set.
    pub fn score_set(
        self,
        examples: &Examples,
        rule: Option<&Counting>,
        stop: Stop<'_>,
    ) -> Result<TestScores> {
        let set = &examples.set;
        let size = [set.nodes, set.ops, set.count()];
        Ok(self.score_all(examples.examples(), rule, stop)?.scores(size, self.is_iterated()))
    }

    /// Scores what [`Dataset::sample`] would sample, one operation at a time: the same sequences and
    /// the same scores.
    pub fn score_stream(
        self,
        task: &Task,
        sampling: &Sampling,
        rule: Option<&Counting>,
        stop: Stop<'_>,
    ) -> Result<TestScores> {
        let &Sampling { nodes, ops, count, .. } = sampling;
        let one = |index| {
            let truth = SequenceStream::new(task, sampling, index as u64)?;
            let work = self.start(truth.priorities())?;
            work.score(Scorer::new(Streamed(truth, ops), nodes, rule), stop)
        };
        let all = (0..count).into_par_iter().map(one).collect::<Result<_>>()?;
        Ok(Sums::join(all).scores([nodes, ops, count], true))
    }

    /// The scores on every test set of `test` at `seed`, with those of counting: how a run ends, and
    /// how it is tested again. `data` has what a recurrent model is given.
    pub fn test(
        self,
        task: &Task,
        data: Option<&Data>,
        test: &TestConfig,
        seed: u64,
        stop: Stop<'_>,
    ) -> Result<Vec<TestScores>> {
        if let Player::Model(model) = self {
            for &nodes in &test.nodes {
                limits::check_rollouts(model.config(), nodes, test.sequences)?;
            }
        }
        let rule = counting(task, seed)?;
        let of_size = |(&nodes, &ops): (&usize, &usize)| {
            stop.check()?;
            let sampling = Sampling { nodes, ops, count: test.sequences, seed, split: Split::Test };
            match data.filter(|_| !self.is_iterated()) {
                None => self.score_stream(task, &sampling, rule.as_ref(), stop),
                Some(data) => {
                    let examples = data.examples(Dataset::sample(task, &sampling)?)?;
                    self.score_set(&examples, rule.as_ref(), stop)
                }
            }
        };
        test.nodes.iter().zip(&test.ops).map(of_size).collect()
    }
}

/// What can be answered without a data structure on data of this seed, learned from the paper's
/// training sequences of the same seed: one number for a data set, whatever the model. `None`
/// for structures that are not built in: theirs may not work with the paper's 20 nodes.
pub(crate) fn counting(task: &Task, seed: u64) -> Result<Option<Counting>> {
    task.is_built_in().then(|| Counting::of_seed(task, seed)).transpose()
}

impl TrivialRules {
    /// Scores the rules on sequences; `None` where there are none.
    pub fn of<'a>(sequences: impl IntoIterator<Item = Sequence<'a>>) -> Option<TrivialRules> {
        let one = |sequence: Sequence<'a>| {
            let mut scorer = Scorer::new(Recorded::new(sequence), sequence.nodes(), None);
            while let Ok(Some(_)) = scorer.next() {
                scorer.compare(None, &Nothing);
            }
            scorer.end(&Nothing)
        };
        Sums::join(sequences.into_iter().map(one).collect()).trivial()
    }
}

/// Somebody with neither pointers nor masks.
struct Nothing;

impl Executed for Nothing {
    fn participants(&self) -> Option<&[Node]> {
        None
    }

    fn visits(&self, _: Node) -> Option<bool> {
        None
    }

    fn pointer(&self, _: Node) -> Option<Node> {
        None
    }
}

/// A model after an operation.
impl Executed for (&Config, &State) {
    fn participants(&self) -> Option<&[Node]> {
        self.1.participants()
    }

    fn visits(&self, node: Node) -> Option<bool> {
        self.0.has_masks().then(|| !left_alone(self.1.mask_logits()[node as usize]))
    }

    fn pointer(&self, node: Node) -> Option<Node> {
        self.0.owns_pointers().then(|| self.1.pointers()[node as usize])
    }
}

/// A structure that operations are carried out on.
enum Work<'a> {
    Model(&'a Config, State),
    Machine(&'a Executor<'a>, Store),
}

impl Work<'_> {
    fn score<T: Truth>(mut self, mut scorer: Scorer<'_, T>, stop: Stop<'_>) -> Result<Sums> {
        let mut failed = false;
        while let Some(operation) = scorer.next()? {
            stop.check()?;
            let outcome = if failed { None } else { self.execute(operation)? };
            failed = outcome.is_none();
            scorer.compare(outcome, &self);
        }
        Ok(scorer.end(&self))
    }

    /// Its answer, and the steps that it took. `None` where a machine could not, after which it is
    /// asked no more.
    fn execute(&mut self, operation: Operation) -> Result<Option<(bool, usize)>> {
        Ok(match self {
            Work::Model(_, state) => {
                let answer = state.apply(operation)?.value();
                Some((answer, state.processor_steps()))
            }
            Work::Machine(executor, store) => {
                let outcome = executor.run().apply(executor, store, operation).ok();
                outcome.map(|(answer, steps)| (answer, steps as usize))
            }
        })
    }
}

impl Executed for Work<'_> {
    fn participants(&self) -> Option<&[Node]> {
        match self {
            Work::Model(_, state) => state.participants(),
            Work::Machine(_, store) => Some(store.visited().nodes()),
        }
    }

    fn visits(&self, node: Node) -> Option<bool> {
        match self {
            Work::Model(config, state) => (*config, state).visits(node),
            Work::Machine(_, store) => Some(store.visited().contains(node)),
        }
    }

    fn pointer(&self, node: Node) -> Option<Node> {
        match self {
            Work::Model(config, state) => (*config, state).pointer(node),
            Work::Machine(executor, store) => {
                Some(executor.machine().program().node_pointer(store, node))
            }
        }
    }
}
