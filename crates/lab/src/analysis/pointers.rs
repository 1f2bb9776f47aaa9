//! Depth, diameter and validity of learned pointers over a whole test set, next to the true ones.

use std::ops::ControlFlow;

use pgn_engine::{Example, Model};
use pgn_structures::Node;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    rounded,
    shape::{Comparison, Comparisons, Shape},
    share,
};
use crate::{Examples, Result};

/// What the pointers of free rollouts look like, over one test set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointerStudy {
    /// Nodes per sequence, n.
    pub nodes: usize,
    /// Operations per sequence.
    pub ops: usize,
    /// Number of sequences.
    pub sequences: usize,
    /// Share of steps after which the pointers are valid: the same nodes are connected as in the
    /// truth, and there is no circle.
    pub valid: f64,
    /// Share of steps after which the same nodes are connected as in the truth.
    pub same_components: f64,
    /// Share of steps after which there is no circle.
    pub acyclic: f64,
    /// Share of sequences that are valid after every step.
    pub sequences_valid: f64,
    /// Mean number of steps before the first that is not valid.
    pub steps_until_invalid: f64,
    /// Of the pairs of nodes connected in the model, the share that is so in the truth; 1 if
    /// there are none.
    pub pair_precision: f64,
    /// Of the pairs of nodes connected in the truth, the share that is so in the model; 1 if
    /// there are none.
    pub pair_recall: f64,
    /// The truth's pointers, over all steps.
    pub truth: Shapes,
    /// The model's pointers, over all steps.
    pub model: Shapes,
    /// Means over the sequences, step by step.
    pub along: Along,
}

/// Mean shapes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shapes {
    /// Mean of the largest depth.
    pub depth: f64,
    /// Mean depth of a node.
    pub mean_depth: f64,
    /// Mean of the diameter.
    pub diameter: f64,
}

/// Means over the sequences, step by step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Along {
    /// Share of sequences that are valid.
    pub valid: Vec<f64>,
    /// Largest depth, in the truth.
    pub truth_depth: Vec<f64>,
    /// Largest depth, in the model.
    pub model_depth: Vec<f64>,
    /// Diameter, in the truth.
    pub truth_diameter: Vec<f64>,
    /// Diameter, in the model.
    pub model_diameter: Vec<f64>,
}

/// What is added up, in whole numbers.
#[derive(Clone, Copy, Default)]
struct Sums {
    compared: Comparisons,
    /// Depth, total depth and diameter.
    truth: [u64; 3],
    model: [u64; 3],
}

impl Sums {
    fn of(truth: &[Node], model: &[Node]) -> Sums {
        let numbers = |pointers: &[Node]| {
            let shape = Shape::of(pointers);
            [u64::from(shape.depth), shape.total_depth, u64::from(shape.diameter)]
        };
        Sums {
            compared: Comparison::of(model, truth).into(),
            truth: numbers(truth),
            model: numbers(model),
        }
    }

    fn add(&mut self, other: Sums) {
        self.compared = self.compared.add(other.compared);
        for i in 0..3 {
            self.truth[i] += other.truth[i];
            self.model[i] += other.model[i];
        }
    }
}

impl PointerStudy {
    /// Rolls the model out freely over a test set and looks at its pointers after every step.
    pub fn of(model: &Model, examples: &Examples) -> Result<PointerStudy> {
        let set = &examples.set;
        let examples: Vec<_> = examples.examples().collect();
        let looked: Vec<Vec<Sums>> =
            examples.par_iter().map(|&one| look(model, one)).collect::<Result<_>>()?;
        let mut steps = vec![Sums::default(); set.ops];
        let (mut whole, mut until, mut total) = (0, 0, Sums::default());
        for sequence in &looked {
            let first = sequence.iter().position(|step| step.compared.valid == 0);
            whole += u64::from(first.is_none());
            until += first.unwrap_or(set.ops) as u64;
            for (sum, &step) in steps.iter_mut().zip(sequence) {
                sum.add(step);
                total.add(step);
            }
        }
        let (count, compared) = (looked.len() as u64, total.compared);
        let shapes = |[depth, total_depth, diameter]: [u64; 3]| Shapes {
            depth: share(depth, compared.steps),
            mean_depth: share(total_depth, compared.steps * set.nodes as u64),
            diameter: share(diameter, compared.steps),
        };
        let along = |part: fn(&Sums) -> u64| {
            steps.iter().map(|step| share(part(step), step.compared.steps)).collect()
        };
        Ok(PointerStudy {
            nodes: set.nodes,
            ops: set.ops,
            sequences: set.count(),
            valid: share(compared.valid, compared.steps),
            same_components: share(compared.same_components, compared.steps),
            acyclic: share(compared.acyclic, compared.steps),
            sequences_valid: share(whole, count),
            steps_until_invalid: rounded(until as f64 / count.max(1) as f64),
            pair_precision: compared.precision(),
            pair_recall: compared.recall(),
            truth: shapes(total.truth),
            model: shapes(total.model),
            along: Along {
                valid: along(|step| step.compared.valid),
                truth_depth: along(|step| step.truth[0]),
                model_depth: along(|step| step.model[0]),
                truth_diameter: along(|step| step.truth[2]),
                model_diameter: along(|step| step.model[2]),
            },
        })
    }
}

fn look(model: &Model, example: Example<'_>) -> Result<Vec<Sums>> {
    let sequence = example.sequence;
    let mut steps = Vec::with_capacity(sequence.ops());
    model.replay(example, |step| {
        let truth = sequence.pointers_after(step.t);
        steps.push(Sums::of(truth, step.pointers()));
        ControlFlow::Continue(())
    })?;
    Ok(steps)
}
