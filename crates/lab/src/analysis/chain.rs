//! The paper's figure 4: `union(i, i + 1)` for every i, with nodes in the order of their
//! priorities. Each union hangs the whole chain so far below the next node, and no `find` ever
//! walks far enough to compress a path: the truth ends as one chain of n nodes.

use std::ops::ControlFlow;

use pgn_engine::Model;
use pgn_structures::{Dataset, Edge, Node, Operation, Task};
use serde::{Deserialize, Serialize};

use super::shape::{Comparison, Shape};
use crate::{Data, Result};

/// A rollout of the chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// Nodes, n; there are n − 1 operations.
    pub nodes: usize,
    /// One entry for each operation.
    pub steps: Vec<Moment>,
    /// Where everything points, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointers: Option<ChainPointers>,
}

/// What a chain looks like after an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Whether the model's answer is right.
    pub right: bool,
    /// Whether its pointers are valid, as [`Comparison::is_valid`] has it.
    pub valid: bool,
    /// Largest depth, in the truth.
    pub truth_depth: u32,
    /// Largest depth, in the model.
    pub model_depth: u32,
    /// Diameter, in the truth.
    pub truth_diameter: u32,
    /// Diameter, in the model.
    pub model_diameter: u32,
}

/// The pointers after every operation of a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainPointers {
    /// The truth's.
    pub truth: Vec<Vec<Node>>,
    /// The model's.
    pub model: Vec<Vec<Node>>,
}

impl Chain {
    /// Rolls the model out freely over the chain of `nodes` nodes; `with_pointers` keeps them
    /// all.
    pub fn of(model: &Model, data: &Data, nodes: usize, with_pointers: bool) -> Result<Chain> {
        let truth = data.examples(Chain::truth(data.task(), nodes)?)?;
        let sequence = truth.set.sequence(0);
        let mut steps = Vec::with_capacity(sequence.ops());
        let mut kept = ChainPointers::default();
        model.replay(truth.example(0), |step| {
            let (theirs, ours) = (sequence.pointers_after(step.t), step.pointers());
            let (truth, model) = (Shape::of(theirs), Shape::of(ours));
            steps.push(Moment {
                right: u8::from(step.answer().value()) == sequence.answers[step.t],
                valid: Comparison::of(ours, theirs).is_valid(),
                truth_depth: truth.depth,
                model_depth: model.depth,
                truth_diameter: truth.diameter,
                model_diameter: model.diameter,
            });
            if with_pointers {
                kept.truth.push(theirs.to_vec());
                kept.model.push(ours.to_vec());
            }
            ControlFlow::Continue(())
        })?;
        Ok(Chain { nodes, steps, pointers: with_pointers.then_some(kept) })
    }

    /// After how many operations the model's pointers are valid.
    pub fn valid_steps(&self) -> usize {
        self.steps.iter().filter(|step| step.valid).count()
    }

    /// The chain itself, with its truth: priorities i/n, operations (i, i + 1).
    pub fn truth(task: &Task, nodes: usize) -> Result<Dataset> {
        let priorities: Vec<f32> = (0..nodes).map(|i| i as f32 / nodes as f32).collect();
        let operations: Vec<Operation> =
            (1..nodes as Node).map(|i| Operation::new(i - 1, i)).collect();
        let mut truth = Dataset::from_operations(task, nodes, &priorities, &operations)?;
        if task.has_input_graph() {
            truth.edges = Edge::of_operations(&operations);
        }
        Ok(truth)
    }
}
