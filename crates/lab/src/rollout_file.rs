//! Rollout files: what a model answered, masked and pointed at, step by step.

use std::path::Path;

use pgn_engine::{Model, Rollout};
use pgn_structures::{Dataset, Sequence, files::TensorWriter};

use crate::{Result, RunConfig};

/// Rolls the model out freely on every sequence of `data`, and writes `query_logits` f32
/// \[count, ops\], `mask_logits` f32 \[count, ops, nodes\] and `pointers` u32
/// \[count, ops, nodes\], each where the model has them.
pub fn write_rollouts(model: &Model, run: &RunConfig, data: &Dataset, path: &Path) -> Result<()> {
    let sequences: Vec<Sequence<'_>> = data.sequences().collect();
    let rollouts = model.rollouts(&sequences)?;
    let flat = |part: fn(&Rollout) -> Option<&Vec<f32>>| -> Option<Vec<f32>> {
        let parts: Option<Vec<_>> = rollouts.iter().map(part).collect();
        Some(parts?.into_iter().flatten().copied().collect())
    };
    let query_logits = flat(|rollout| Some(&rollout.query_logits)).unwrap_or_default();
    let mask_logits = flat(|rollout| rollout.mask_logits.as_ref());
    let pointers: Option<Vec<_>> = rollouts.iter().map(|r| r.pointers.as_ref()).collect();
    let pointers: Option<Vec<u32>> = pointers.map(|p| p.into_iter().flatten().copied().collect());

    let (count, ops, nodes) = (data.count(), data.ops, data.nodes);
    let mut file = TensorWriter::new();
    file.metadata("format", "pgn-rollout-1");
    file.metadata("task", &data.task);
    file.metadata("model", &run.model);
    file.metadata("seed", run.seed);
    file.metadata("nodes", nodes);
    file.metadata("ops", ops);
    file.f32("query_logits", &[count, ops], &query_logits);
    if let Some(mask_logits) = &mask_logits {
        file.f32("mask_logits", &[count, ops, nodes], mask_logits);
    }
    if let Some(pointers) = &pointers {
        file.u32("pointers", &[count, ops, nodes], pointers);
    }
    Ok(file.save(path)?)
}
