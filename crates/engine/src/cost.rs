//! How much arithmetic a job needs, and how much the machine can do: what a share of peak is a
//! share of.
//!
//! Only multiply-adds of matrix products are counted, two operations each, and only those that no
//! algebra can avoid: messages cost O(n·k²) for every graph, query and key are folded, rows without a
//! pointer to aim are skipped. Element-wise work is not counted.

use fearless_simd::{f32x8, prelude::*};
use pgn_structures::Sequence;

use crate::{Config, Graph, SimdLevel, simd::with_simd};

/// Floating-point operations of one forward and backward pass over a teacher-forced sequence.
pub fn training_flop(config: &Config, sequence: Sequence<'_>) -> u64 {
    let (n, ops, k) = (sequence.nodes() as u64, sequence.ops() as u64, config.k as u64);
    // k × k blocks a node and step: encoder, receiver, sender, and both halves of update.
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

/// Floating-point operations of a free rollout in which `rows` pointers were aimed, over all steps.
pub fn rollout_flop(config: &Config, nodes: usize, ops: usize, rows: usize) -> u64 {
    let (n, ops, k) = (nodes as u64, ops as u64, config.k as u64);
    let blocks = if config.graph == Graph::SelfOnly { 4 } else { 5 };
    let masks = if config.has_masks() { n * ops * 2 * k } else { 0 };
    let w = config.attention_width() as u64;
    2 * (n * ops * k * k * blocks + masks + rows as u64 * (w * w + n * w))
}

/// The most multiply-adds one thread of this machine can do, measured: operations a second, two
/// for each multiply-add, on independent registers.
pub fn fma_peak(level: SimdLevel) -> f64 {
    with_simd!(level, simd => measured_peak(simd))
}

#[inline(always)]
fn measured_peak<S: Simd>(simd: S) -> f64 {
    /// Enough chains to hide the latency of a multiply-add, few enough for the registers.
    const CHAINS: usize = 12;
    const ROUNDS: u32 = 200_000;
    let factor = f32x8::splat(simd, std::hint::black_box(0.999));
    let mut chains = [f32x8::splat(simd, 1.0); CHAINS];
    // The best of several short spells: longer ones are interrupted by whatever else runs. (A plain
    // loop: a closure would be compiled without the instructions that are being measured.)
    let mut best = f64::INFINITY;
    for _ in 0..40 {
        let start = std::time::Instant::now();
        for _ in 0..ROUNDS {
            for chain in &mut chains {
                *chain = chain.mul_add(factor, factor);
            }
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    std::hint::black_box(chains.map(|chain| chain.to_array()));
    f64::from(ROUNDS) * (CHAINS * 8 * 2) as f64 / best
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgn_structures::{Dataset, Sampling, Task};

    #[test]
    fn an_epoch_of_pgn_needs_what_was_worked_out_by_hand() {
        let data = Dataset::sample(&Task::named("dsu").unwrap(), &Sampling::paper(20)).unwrap();
        let sequence = data.sequence(0);
        let rows = sequence.masks.iter().filter(|&&mask| mask == 0).count() as u64;
        let config = Config::preset("pgn").unwrap();
        let expected = 2 * (600 * 1024 * 15 + 600 * 64 * 3 + rows * 3 * (1024 + 640));
        assert_eq!(training_flop(&config, sequence), expected);
        // Deep Sets: the sender's block is the receiver's.
        let config = Config::preset("deepsets").unwrap();
        assert_eq!(training_flop(&config, sequence), 2 * 600 * 1024 * 12);
        assert_eq!(rollout_flop(&config, 20, 30, 0), 2 * 600 * 1024 * 4);
    }
}
