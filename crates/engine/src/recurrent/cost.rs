//! The arithmetic that the paper's processor needs.

use pgn_structures::Sequence;

use crate::{Config, Graph};

/// Of one forward and backward pass over a teacher-forced sequence.
pub fn training_flop(config: &Config, sequence: Sequence<'_>) -> u64 {
    let (n, ops, k) = (sequence.nodes() as u64, sequence.ops() as u64, config.k as u64);
    // k × k blocks a node and operation: encoder, receiver, sender, and both halves of update.
    let forward = if config.graph == Graph::SelfOnly { 4 } else { 5 };
    // The gradient of the complete graph's sender has one non-zero element a dimension.
    let backward = if config.graph == Graph::Complete { 4 } else { forward };
    let latents = n * ops * k * k * (forward + 2 * backward);
    let masks = if config.has_masks() { 3 * n * ops * 2 * k } else { 0 };
    let rows = if config.has_masks() {
        sequence.masks.iter().filter(|&&mask| mask == 0).count() as u64
    } else {
        n * ops
    };
    let w = config.attention_width() as u64;
    let passes = if config.losses.pointers > 0.0 || config.losses.dgm > 0.0 { 3 } else { 1 };
    let attention = if config.has_attention() { passes * rows * (w * w + n * w) } else { 0 };
    2 * (latents + masks + attention)
}

/// Of a free rollout in which `rows` pointers were aimed, over all operations.
pub fn rollout_flop(config: &Config, nodes: usize, ops: usize, rows: usize) -> u64 {
    let (n, ops, k) = (nodes as u64, ops as u64, config.k as u64);
    let blocks = if config.graph == Graph::SelfOnly { 4 } else { 5 };
    let masks = if config.has_masks() { n * ops * 2 * k } else { 0 };
    let w = config.attention_width() as u64;
    2 * (n * ops * k * k * blocks + masks + rows as u64 * (w * w + n * w))
}
