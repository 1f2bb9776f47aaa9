//! The arithmetic that the paper's processor needs.

use pgn_structures::Sequence;

use super::layer::has_sparse_senders;
use crate::{Config, Forcing, Graph};

/// Of one forward and backward pass over a sequence. A model that reads its own masks is taken to
/// visit as many nodes as the truth does.
pub fn training_flop(config: &Config, sequence: Sequence<'_>) -> u64 {
    let (n, ops, k) = (sequence.nodes() as u64, sequence.ops() as u64, config.k as u64);
    let forward = 1 + blocks(config) * config.layers as u64;
    // The gradient of the complete graph's sender has one non-zero element a dimension.
    let sparse = if has_sparse_senders(config) { config.processors() * config.layers } else { 0 };
    let backward = forward - sparse as u64;
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
    let attention = attention * config.types() as u64;
    let again = match config.forcing {
        Forcing::Own if passes == 3 => rows * n * w,
        Forcing::Free if !config.heeds_masks() => rows * n * w,
        Forcing::Free => rows * (w * w + n * w),
        _ => 0,
    };
    2 * (latents + masks + attention + again)
}

/// k × k blocks a node and layer, of all processors: receiver and sender of every channel, and all
/// parts of update.
fn blocks(config: &Config) -> u64 {
    let each = if config.graph == Graph::SelfOnly { 3 } else { 3 * config.channels() + 1 };
    (config.processors() * each) as u64
}

/// Of one operation of a free rollout with so many layers, in which `rows` pointers were aimed.
pub fn rollout_flop(config: &Config, nodes: usize, layers: usize, rows: usize) -> u64 {
    let (n, k) = (nodes as u64, config.k as u64);
    let blocks = 1 + blocks(config) * layers as u64;
    let masks = if config.has_masks() { n * 2 * k } else { 0 };
    let w = config.attention_width() as u64;
    2 * (n * k * k * blocks + masks + (rows * config.types()) as u64 * (w * w + n * w))
}
