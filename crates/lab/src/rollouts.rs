//! Rollouts that can be stopped, and files of rollouts: what a model answered, masked and pointed
//! at, step by step.

use std::path::Path;

use pgn_engine::{Example, Model, Rollout};
use pgn_runs::Stop;
use pgn_structures::{Node, files::TensorWriter};
use rayon::prelude::*;

use crate::{Result, evaluate::until};

/// Rolls out many sequences as [`Model::rollouts`] does, unless told to stop.
pub fn rollouts(model: &Model, examples: &[Example<'_>], stop: Stop<'_>) -> Result<Vec<Rollout>> {
    let one = |&example: &Example<'_>| {
        let mut rollout = Rollout::of(model.config(), example.sequence);
        until(model, example, stop, |step| {
            rollout.push(step);
            Ok(())
        })?;
        Ok(rollout)
    };
    examples.par_iter().with_max_len(1).map(one).collect()
}

/// The rollouts of a data set, flat and row-major, exactly as in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutArrays {
    /// \[count, ops\]
    pub query_logits: Vec<f32>,
    /// \[count, ops, nodes\]
    pub mask_logits: Option<Vec<f32>>,
    /// \[count, ops, nodes\]
    pub pointers: Option<Vec<Node>>,
}

/// What rollouts are of: what a file says beside its arrays.
#[derive(Clone, Copy, Debug)]
pub struct RolloutOf<'a> {
    /// The data structure.
    pub task: &'a str,
    /// The model's name.
    pub model: &'a str,
    /// The seed of its run.
    pub seed: u64,
    /// Operations per sequence.
    pub ops: usize,
    /// Nodes per sequence.
    pub nodes: usize,
}

impl RolloutArrays {
    /// One after the other, all of one model.
    pub fn join(rollouts: Vec<Rollout>) -> RolloutArrays {
        let mut query_logits = Vec::new();
        let (mut mask_logits, mut pointers) = (Some(Vec::new()), Some(Vec::new()));
        for rollout in rollouts {
            query_logits.extend(rollout.query_logits);
            append(&mut mask_logits, rollout.mask_logits);
            append(&mut pointers, rollout.pointers);
        }
        RolloutArrays { query_logits, mask_logits, pointers }
    }

    /// Writes the file: `query_logits` f32 \[count, ops\], `mask_logits` f32
    /// \[count, ops, nodes\] and `pointers` u32 \[count, ops, nodes\], each where the model has them.
    pub fn save(&self, of: &RolloutOf<'_>, path: &Path) -> Result<()> {
        let &RolloutOf { task, model, seed, ops, nodes } = of;
        let count = self.query_logits.len().checked_div(ops).unwrap_or(0);
        let mut file = TensorWriter::new();
        file.metadata("format", "pgn-rollout-1");
        file.metadata("task", task);
        file.metadata("model", model);
        file.metadata("seed", seed);
        file.metadata("nodes", nodes);
        file.metadata("ops", ops);
        file.f32("query_logits", &[count, ops], &self.query_logits);
        if let Some(mask_logits) = &self.mask_logits {
            file.f32("mask_logits", &[count, ops, nodes], mask_logits);
        }
        if let Some(pointers) = &self.pointers {
            file.u32("pointers", &[count, ops, nodes], pointers);
        }
        Ok(file.save(path)?)
    }
}

/// Appends a rollout's tensor. If one rollout lacks it, the file has none.
fn append<T>(all: &mut Option<Vec<T>>, part: Option<Vec<T>>) {
    match (all.as_mut(), part) {
        (Some(all), Some(part)) => all.extend(part),
        _ => *all = None,
    }
}
