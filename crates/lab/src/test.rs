//! Scores on test sets, with those of counting beside: how a run ends, and how it is tested again.

use pgn_engine::Model;

use pgn_runs::Stop;

use crate::{
    Counting, Data, Examples, Result, TestConfig, TestScores, TrivialRules,
    evaluate::{evaluate_set, evaluate_streams},
    limits,
};

/// Scores a model on the test sets at `seed`.
pub(crate) fn test(
    model: &Model,
    data: &Data,
    test: &TestConfig,
    seed: u64,
    stop: Stop<'_>,
) -> Result<Vec<TestScores>> {
    if model.config().iterated().is_some() {
        // One operation at a time: the test sets may be too large to be held in memory.
        return evaluate_streams(model, data.task(), test, seed, stop);
    }
    for &nodes in &test.nodes {
        limits::check_rollouts(model.config(), nodes, test.sequences)?;
    }
    let rule = data.counting(seed)?;
    let one = |set: Result<Examples>| {
        stop.check()?;
        test_set(model, &set?, rule.as_ref(), stop)
    };
    data.tests(test, seed).map(one).collect()
}

/// Scores a model on one test set.
pub(crate) fn test_set(
    model: &Model,
    set: &Examples,
    rule: Option<&Counting>,
    stop: Stop<'_>,
) -> Result<TestScores> {
    let mut scores = evaluate_set(model, set, stop)?;
    scores.counting_f1 = rule.map(|rule| rule.scores(set.set.sequences()).f1);
    scores.trivial = TrivialRules::of(set.set.sequences());
    Ok(scores)
}

impl Data {
    /// What can be answered without a data structure on data of this seed, learned from the paper's
    /// training sequences of the same seed: one number for a data set, whatever the model. `None`
    /// for structures that are not built in: theirs may not work with the paper's 20 nodes.
    pub(crate) fn counting(&self, seed: u64) -> Result<Option<Counting>> {
        let built_in = self.task().is_built_in();
        built_in.then(|| Counting::of_seed(self.task(), seed)).transpose()
    }
}
