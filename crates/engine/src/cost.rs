//! How much arithmetic a job needs, and how much the machine can do: what a share of peak is a
//! share of.
//!
//! Only multiply-adds of matrix products are counted, two operations each, and only those that no
//! algebra can avoid: messages cost O(n·k²) for every graph, query and key are folded, rows without a
//! pointer to aim are skipped. Element-wise work is not counted.

use fearless_simd::prelude::*;
use pgn_structures::Sequence;

use crate::{Config, SimdLevel, recurrent::cost::training_flop as recurrent, simd::with_simd};

/// Floating-point operations of one forward and backward pass over a batch of teacher-forced
/// sequences, with the paper's processor; 0 for others, whose arithmetic is not counted.
///
/// What a rollout needs depends on what the model does in it: [`State::flop`](crate::State::flop)
/// tells it operation by operation.
pub fn training_flop<'a>(config: &Config, batch: impl IntoIterator<Item = Sequence<'a>>) -> u64 {
    match config.iterated() {
        Some(_) => 0,
        None => batch.into_iter().map(|sequence| recurrent(config, sequence)).sum(),
    }
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
    let factor = S::f32s::splat(simd, std::hint::black_box(0.999));
    let mut chains = [S::f32s::splat(simd, 1.0); CHAINS];
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
    f64::from(ROUNDS) * (CHAINS * S::f32s::LEN * 2) as f64 / best
}
