//! What a model knows beyond counting: how it answers operations whose nodes were operated on
//! equally often.

use pgn_engine::Model;
use pgn_structures::Sequence;
use serde::{Deserialize, Serialize};

use super::rounded;
use crate::{
    Examples, Result,
    counting::{CELLS, counted},
};

/// The answers of a model to operations that [`Counting`](crate::Counting) cannot tell apart, over
/// one test set.
///
/// F₁ does not distinguish a model that counts from one that looks at the structure. This does.
/// Operations are sorted by how often u and v were operated on before (never, once, more often);
/// in each of the six cases it is counted how often the model answers 1 where the truth does, and
/// where it does not. Both shares are means over the cases, weighted by n₁n₀/(n₁ + n₀), where n₁
/// and n₀ are a case's operations of either answer: a case in which all answers are the same has
/// nothing to tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BeyondCounting {
    /// Nodes per sequence, n.
    pub nodes: usize,
    /// Operations per sequence.
    pub ops: usize,
    /// Number of sequences.
    pub sequences: usize,
    /// Share of answers 1 where the truth is 1.
    pub where_1: f64,
    /// Share of answers 1 where the truth is 0.
    pub where_0: f64,
}

/// Operations of one case: by the truth, how many there are and how many were answered with 1.
#[derive(Clone, Copy, Default)]
struct Case {
    of: [u64; 2],
    answered_1: [u64; 2],
}

/// All cases, while answers are being counted.
#[derive(Default)]
pub(crate) struct Cases([Case; CELLS]);

impl Cases {
    /// Counts the answers to one sequence.
    pub fn add(&mut self, sequence: Sequence<'_>, answers: impl Iterator<Item = bool>) {
        for ((cell, truth), answer) in counted(sequence).zip(answers) {
            let truth = usize::from(truth);
            self.0[cell].of[truth] += 1;
            self.0[cell].answered_1[truth] += u64::from(answer);
        }
    }

    /// Shares of answers 1 where the truth is 0 and where it is 1.
    pub fn shares(&self) -> [f64; 2] {
        let [mut where_0, mut where_1, mut weights] = [0.0; 3];
        for Case { of, answered_1 } in self.0.iter().filter(|case| !case.of.contains(&0)) {
            let [share_0, share_1] =
                [0, 1].map(|truth| answered_1[truth] as f64 / of[truth] as f64);
            let weight = (of[0] * of[1]) as f64 / (of[0] + of[1]) as f64;
            where_0 += weight * share_0;
            where_1 += weight * share_1;
            weights += weight;
        }
        // With no case to look at, nothing is known.
        [where_0, where_1].map(|sum| if weights == 0.0 { 0.0 } else { rounded(sum / weights) })
    }
}

impl BeyondCounting {
    /// Rolls the model out freely over a test set.
    pub fn of(model: &Model, examples: &Examples) -> Result<BeyondCounting> {
        let set = &examples.set;
        let examples: Vec<_> = examples.examples().collect();
        let mut cases = Cases::default();
        for (example, rollout) in examples.iter().zip(model.rollouts(&examples)?) {
            cases.add(example.sequence, rollout.query_logits.iter().map(|&logit| logit > 0.0));
        }
        let [where_0, where_1] = cases.shares();
        Ok(BeyondCounting {
            nodes: set.nodes,
            ops: set.ops,
            sequences: set.count(),
            where_1,
            where_0,
        })
    }

    /// The difference of the two: 1 for the truth, 0 for whoever only counts, answers always the
    /// same, or at random.
    pub fn gain(&self) -> f64 {
        rounded(self.where_1 - self.where_0)
    }
}
