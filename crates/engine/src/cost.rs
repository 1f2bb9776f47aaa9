//! How much arithmetic a job needs, and how much the machine can do: what a share of peak is a
//! share of.
//!
//! Only multiply-adds of matrix products are counted, two operations each, and only those that no
//! algebra can avoid: messages cost O(n·k²) for every graph, query and key are folded, rows without a
//! pointer to aim are skipped. Element-wise work is not counted.

use fearless_simd::prelude::*;
use pgn_structures::Sequence;

use crate::{Config, SimdLevel, processor::Design, simd::with_simd};

/// Floating-point operations of one forward and backward pass over a batch of teacher-forced
/// sequences. Each processor counts its own.
///
/// What a rollout needs depends on what the model does in it: [`State::flop`](crate::State::flop)
/// tells it operation by operation.
pub fn training_flop<'a>(config: &Config, batch: impl IntoIterator<Item = Sequence<'a>>) -> u64 {
    let mut transitions = 0;
    let one = |sequence: Sequence<'a>| {
        let first = transitions;
        transitions += sequence.ops();
        (Design::of(config).training_flop)(config, sequence, first)
    };
    batch.into_iter().map(one).sum()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Model, recurrent::cost::rollout_flop};
    use pgn_structures::{Dataset, Operation, Sampling, Task};

    #[test]
    fn an_epoch_of_pgn_needs_what_was_worked_out_by_hand() {
        let data = Dataset::sample(&Task::named("dsu").unwrap(), &Sampling::paper(20)).unwrap();
        let sequence = data.sequence(0);
        let rows = sequence.masks.iter().filter(|&&mask| mask == 0).count() as u64;
        let config = Config::preset("pgn").unwrap();
        let expected = 2 * (600 * 1024 * 15 + 600 * 64 * 3 + rows * 3 * (1024 + 640));
        assert_eq!(training_flop(&config, [sequence]), expected);
        // Deep Sets: the sender's block is the receiver's.
        let config = Config::preset("deepsets").unwrap();
        assert_eq!(training_flop(&config, [sequence]), 2 * 600 * 1024 * 12);
        assert_eq!(30 * rollout_flop(&config, 20, 1, 0), 2 * 600 * 1024 * 4);
    }

    /// A fresh structure of any size: u and v take part, point to themselves, and hear each other
    /// from the second step on.
    #[test]
    fn an_iterated_processor_counts_its_steps_and_participants() {
        let config = Config::preset("pgn-exact").unwrap();
        let model = Model::new(config.clone(), 0).unwrap();
        let of = |nodes| {
            let mut state = model.start(nodes).unwrap();
            state.apply(Operation::new(0, 1)).unwrap();
            assert_eq!(state.participants().unwrap().len(), 2);
            let masks = state.mask_logits()[..2].iter();
            let visited = masks.filter(|&&logit| !crate::left_alone(logit)).count() as u64;
            let steps = state.processor_steps() as u64;
            let processor = (3 * 2 * (steps - 1) + 3 * 2 * steps + steps) * 1024;
            let heads = 2 * (1024 + 64 * 40 + 64 * 32) + 32 * 40 + 2 * 64 + 64;
            assert_eq!(state.flop(), 2 * (processor + heads + visited * visited * 32));
            state.flop()
        };
        assert_eq!(of(8), of(5000));
        // In training, the first operation of a batch takes 24 steps and the second 25.
        let data = Dataset::sample(&Task::named("forest").unwrap(), &Sampling::paper(20)).unwrap();
        let sequence =
            |ops: usize| Sequence { operations: &data.operations[..ops], ..data.sequence(0) };
        let (one, two) =
            (training_flop(&config, [sequence(1)]), training_flop(&config, [sequence(2)]));
        let mask = data.masks[..20].iter().filter(|&&mask| mask == 0).count() as u64;
        let processor = (3 * 2 * 23 + 3 * 2 * 24 + 24) * 1024;
        let heads = 2 * (1024 + 64 * 40 + 64 * 32) + 32 * 40 + 2 * 64 + 64;
        assert_eq!(one, 3 * 2 * (processor + heads + mask * mask * 32));
        assert!(two > 2 * one);
    }
}
