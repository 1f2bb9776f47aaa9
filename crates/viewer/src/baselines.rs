//! What an F₁ on a test set must be compared with: counting, always 1, the paper's model.

use pgn_lab::{Counting, TestScores};
use pgn_structures::Task;
use serde::Serialize;

use crate::{
    catalogue::Catalogue,
    halt::Halt,
    limits,
    refusal::{Answer, Refusal},
};

/// F₁ without a data structure, and in the paper, on one test size.
#[derive(Debug, Serialize)]
pub struct Baseline {
    pub nodes: usize,
    /// Of counting how often the operands have appeared; absent for test sets that are too large
    /// to be sampled again.
    pub counting: Option<f64>,
    /// Of answering 1 whatever is asked.
    pub always_1: f64,
    /// The paper's mean for this model, where it has one.
    pub paper: Option<f64>,
}

/// The baselines of a finished run, one for each of its test sizes.
pub fn of_run(catalogue: &Catalogue, id: &str, halt: &Halt) -> Answer<Vec<Baseline>> {
    let summary = catalogue.details(id)?.summary;
    let task = catalogue.tasks.named(&summary.task)?;
    let rule = Counting::of_seed(&task, summary.seed).map_err(Refusal::damaged)?;
    let one = |test: &TestScores| -> Answer<Baseline> {
        halt.check()?;
        Ok(Baseline {
            nodes: test.nodes,
            counting: counting(&rule, &task, summary.seed, test)?,
            always_1: test.scores.f1_always_1,
            paper: pgn_paper::numbers()
                .f1(&summary.task, &summary.model, test.nodes)
                .map(|spread| spread.mean),
        })
    };
    summary.test.iter().map(one).collect()
}

fn counting(rule: &Counting, task: &Task, seed: u64, test: &TestScores) -> Answer<Option<f64>> {
    let (nodes, ops, count) = (test.nodes, test.ops, test.sequences);
    if nodes.saturating_mul(ops).saturating_mul(count) > limits::COUNTED {
        return Ok(None);
    }
    let scores = rule.test(task, seed, nodes, ops, count).map_err(Refusal::damaged)?;
    Ok(Some(scores.f1))
}
