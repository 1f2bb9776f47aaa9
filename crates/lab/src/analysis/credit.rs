//! Credit assignment (appendix D). The readout takes the maximum over nodes in each dimension of
//! z and of h (equation 3), so that each dimension of what the decoder reads comes from exactly
//! one node: that node gets the dimension's credit.

use std::ops::ControlFlow;

use pgn_engine::{Example, Model};
use pgn_structures::Operation;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{at, share};
use crate::{Examples, Result};

/// Who the readout comes from, over one test set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Credit {
    /// Nodes per sequence, n.
    pub nodes: usize,
    /// Operations per sequence.
    pub ops: usize,
    /// Number of sequences.
    pub sequences: usize,
    /// Of the dimensions of max z.
    pub z: Shares,
    /// Of the dimensions of max h.
    pub h: Shares,
    /// Of both together.
    pub both: Shares,
    /// Of both together, without the dimensions of h that are 0 for every node.
    pub live: Shares,
    /// Of the nodes themselves: what the shares would be if every node got the same credit.
    pub baseline: Shares,
    /// Share of h's dimensions that are 0 for every node, over all steps. Nobody stands out in
    /// these; their credit goes to node 0, as ties go to the lowest number. Operands are drawn
    /// at random, so that node 0 is as often among them as any: such dimensions bring shares
    /// towards the baseline, and say nothing about what the model looks at.
    pub idle: f64,
}

/// Shares of three kinds of nodes, which add up to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// Over all steps.
    pub mean: Share,
    /// u and v, step by step.
    pub operated: Vec<f64>,
    /// The other nodes with mask 0 in the truth, step by step: those on the paths to the roots.
    pub path: Vec<f64>,
    /// All others, step by step.
    pub others: Vec<f64>,
}

/// One share of each kind of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// u and v.
    pub operated: f64,
    /// The other nodes with mask 0 in the truth.
    pub path: f64,
    /// All others.
    pub others: f64,
}

impl Share {
    /// What the nodes that matter to the operation have: u, v and the others with mask 0.
    pub fn relevant(&self) -> f64 {
        self.operated + self.path
    }
}

/// How often each kind of node got a dimension: operated, path, others.
type Counts = [u64; 3];

/// The counts of one step.
#[derive(Clone, Copy, Default)]
struct Step {
    z: Counts,
    h: Counts,
    nodes: Counts,
    idle: Counts,
}

impl Credit {
    /// Rolls the model out freely over a test set and counts who the readout comes from.
    pub fn of(model: &Model, examples: &Examples) -> Result<Credit> {
        let set = &examples.set;
        let examples: Vec<_> = examples.examples().collect();
        let counted: Vec<Vec<Step>> =
            examples.par_iter().map(|&one| count(model, one)).collect::<Result<_>>()?;
        let mut steps = vec![Step::default(); set.ops];
        for sequence in counted {
            for (sum, step) in steps.iter_mut().zip(sequence) {
                for kind in 0..3 {
                    sum.idle[kind] += step.idle[kind];
                    sum.z[kind] += step.z[kind];
                    sum.h[kind] += step.h[kind];
                    sum.nodes[kind] += step.nodes[kind];
                }
            }
        }
        let both = |step: &Step| std::array::from_fn(|kind| step.z[kind] + step.h[kind]);
        let live =
            |step: &Step| std::array::from_fn(|kind| step.z[kind] + step.h[kind] - step.idle[kind]);
        let idle = steps.iter().flat_map(|step| step.idle).sum();
        let dimensions: u64 = steps.iter().flat_map(|step| step.h).sum();
        Ok(Credit {
            nodes: set.nodes,
            ops: set.ops,
            sequences: set.count(),
            z: shares(steps.iter().map(|step| step.z)),
            h: shares(steps.iter().map(|step| step.h)),
            both: shares(steps.iter().map(both)),
            live: shares(steps.iter().map(live)),
            baseline: shares(steps.iter().map(|step| step.nodes)),
            idle: share(idle, dimensions),
        })
    }
}

fn count(model: &Model, example: Example<'_>) -> Result<Vec<Step>> {
    let (k, sequence) = (model.config().k, example.sequence);
    let mut steps = Vec::with_capacity(sequence.ops());
    model.replay(example, |one| {
        let (Operation { u, v, .. }, state) = (one.operation, one.state());
        let mask = sequence.mask(one.t);
        let kind = |node: u32| match () {
            () if node == u || node == v => 0,
            () if mask[at(node)] == 0 => 1,
            () => 2,
        };
        let mut step = Step::default();
        let (z, h) = state.readout_sources();
        z.iter().for_each(|&node| step.z[kind(node)] += 1);
        h.iter().for_each(|&node| step.h[kind(node)] += 1);
        (0..sequence.nodes() as u32).for_each(|node| step.nodes[kind(node)] += 1);
        // Latents are not kept for iterated processors of very many nodes; nothing idles there.
        let latents = state.latents();
        for (dimension, &node) in h.iter().enumerate() {
            if latents.get(at(node) * k + dimension) == Some(&0.0) {
                step.idle[kind(node)] += 1;
            }
        }
        steps.push(step);
        ControlFlow::Continue(())
    })?;
    Ok(steps)
}

fn shares(steps: impl Iterator<Item = Counts> + Clone) -> Shares {
    let along = |kind: usize| {
        steps.clone().map(|counts| share(counts[kind], counts.iter().sum())).collect()
    };
    let mut total = [0; 3];
    for counts in steps.clone() {
        (0..3).for_each(|kind| total[kind] += counts[kind]);
    }
    let whole = total.iter().sum();
    let [operated, path, others] = total.map(|part| share(part, whole));
    Shares {
        mean: Share { operated, path, others },
        operated: along(0),
        path: along(1),
        others: along(2),
    }
}
