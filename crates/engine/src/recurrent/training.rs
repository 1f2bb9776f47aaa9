//! Gradients of a batch, in parallel over its sequences.

use pgn_structures::Stream;
use rayon::prelude::*;

use super::{
    Network, Tape,
    forward::{Draws, Unroll},
};
use crate::{Example, Losses, Parameters, processor::StepInputs, simd::with_simd, streams};

impl Network {
    /// The losses of a batch and the gradients of their weighted sum, for these weights. The same
    /// bits for any number of threads.
    pub fn batch_gradients(
        &self,
        parameters: &Parameters,
        batch: &[Example<'_>],
        inputs: StepInputs,
    ) -> (Losses, Parameters) {
        let config = &self.config;
        let scale = 1.0 / batch.len() as f32;
        // One sequence a task: they are long enough, and the threads finish together.
        let shares: Vec<(Losses, Vec<f32>)> = batch
            .par_iter()
            .with_max_len(1)
            .enumerate()
            .map(|(index, &example)| {
                let rng = |stream: Stream| stream.rng(inputs.seed, inputs.step, index as u64);
                let draws = Draws {
                    noise: rng(streams::NOISE),
                    forcing: rng(streams::FORCING),
                    teacher_probability: inputs.teacher_probability,
                };
                let unroll = Unroll {
                    config,
                    weights: &self.weights,
                    example,
                    scale,
                    running_accuracy: inputs.running_accuracy,
                };
                let mut tape = self.tapes.take(Tape::default);
                let mut gradients = self.gradients.take(|| self.weights.packing.zeros());
                gradients.fill(0.0);
                let losses = with_simd!(self.level, simd => {
                    let losses = unroll.forward(simd, draws, &mut tape);
                    unroll.backward(simd, &mut tape, &mut gradients);
                    losses
                });
                self.tapes.put_back(tape);
                (losses, gradients)
            })
            .collect();
        self.sum(parameters, shares, |sum| self.weights.unpack(sum, parameters))
    }
}
