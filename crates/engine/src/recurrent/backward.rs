//! Back-propagation through time over one unrolled sequence: the mirror of `forward.rs`.
//!
//! Operations are walked from the last to the first, carrying ∂h. Weight gradients are not computed
//! one operation at a time: the gradients of a block of them are kept, and each matrix gets one tall
//! product a block.

use std::ops::Range;

use fearless_simd::prelude::*;

use super::{
    forward::Unroll,
    layer::LayerBackward,
    step::StepContext,
    tape::{PointerTape, Tape},
};
use crate::{
    AttentionInput,
    attention::AttentionGradients,
    kernels::{matmul::Start, rows::add},
};

impl Unroll<'_> {
    /// Adds the gradients of the losses on the tape to `gradients`.
    #[inline(always)]
    pub fn backward<S: Simd>(&self, simd: S, tape: &mut Tape, gradients: &mut [f32]) {
        let Unroll { config, weights, .. } = *self;
        tape.d_h.iter_mut().for_each(|d_h| d_h.fill(0.0));
        tape.d_fixed.fill(0.0);
        tape.pointers.iter_mut().for_each(|one| one.d_q.resize(one.q.len(), 0.0));
        for t in (0..tape.ops).rev() {
            self.outputs_backward(simd, t, tape, gradients);
            self.latents_backward(simd, t, tape, gradients);
            if t % tape.block == 0 {
                let end = (t + tape.block).min(tape.ops);
                self.weights_backward(simd, t..end, tape, gradients);
            }
        }
        for (query_key, PointerTape { d_q, .. }) in weights.query_keys.iter().zip(&tape.pointers) {
            query_key.weights_backward(simd, tape.rows.len(), [&tape.gathered, d_q], gradients);
        }
        let priorities = self.example.sequence.priorities;
        let (features, d_fixed) = (&config.features, &tape.d_fixed);
        weights.encoder.fixed_backward(simd, features, priorities, d_fixed, gradients);
    }

    /// Decoder, masks and attention: from the logits of operation t to ∂h (added to what the later
    /// ones sent) and ∂z (written).
    #[inline(always)]
    fn outputs_backward<S: Simd>(&self, simd: S, t: usize, tape: &mut Tape, gradients: &mut [f32]) {
        let Unroll { config, weights, .. } = *self;
        let (k, w, n, p) = (config.k, config.attention_width(), tape.n, tape.padded);
        let z = &tape.z[t * n * k..][..n * k];
        let last = tape.passes.len() - 1;
        let h = &tape.passes[last].h[(t + 1) * n * k..][..n * k];
        let d_z = &mut tape.d_z[t % tape.block * n * k..][..n * k];
        d_z.fill(0.0);

        // (3)
        let top = t * 2 * k..(t + 1) * 2 * k;
        let read = (&tape.top[top.clone()], &tape.top_sources[top]);
        let (readout, d) = (config.readout_aggregation, tape.d_query[t]);
        let d_rows = [&mut *d_z, &mut tape.d_h[0]];
        weights.decoder.backward(simd, readout, d, read, d_rows, gradients);
        // The processor that masks and pointers read.
        let d_h = &mut tape.d_h[config.processors() - 1][..];

        // (4)
        if let Some(masks) = &weights.masks
            && config.losses.masks > 0.0
        {
            let d = &tape.d_mask[t * p..][..n];
            masks.backward(simd, d, [z, h], [&mut *d_z, &mut *d_h], gradients);
        }

        // (6)
        if weights.query_keys.is_empty() {
            return;
        }
        let rows = tape.row_starts[t]..tape.row_starts[t + 1];
        if rows.is_empty() {
            return;
        }
        let (scale, nodes) = (tape.alpha_scale[t], &tape.rows[rows.clone()]);
        let (asked, scored) = (rows.start * w..rows.end * w, rows.start * p..rows.end * p);
        for (PointerTape { q, alpha, d_q, .. }, query_key) in
            tape.pointers.iter_mut().zip(&weights.query_keys)
        {
            let d_q = &mut d_q[asked.clone()];
            if scale == 0.0 {
                d_q.fill(0.0);
                continue;
            }
            let d_scores = &mut alpha[scored.clone()];
            d_scores.iter_mut().for_each(|d| *d *= scale);
            let scores = (&q[asked.clone()], &*d_scores);
            let into = AttentionGradients { d_q, d_gathered: &mut tape.d_gathered[..asked.len()] };
            match config.attention_input {
                AttentionInput::H => query_key.backward(simd, nodes, h, scores, into, d_h),
                AttentionInput::Zh => {
                    let (keys, d_x) = (&tape.zh[t * n * w..][..n * w], &mut tape.d_x[..]);
                    d_x.fill(0.0);
                    query_key.backward(simd, nodes, keys, scores, into, d_x);
                    let each = d_z.chunks_exact_mut(k).zip(d_h.chunks_exact_mut(k));
                    for (d_x, (d_z, d_h)) in d_x.chunks_exact(w).zip(each) {
                        add(simd, &d_x[..k], d_z);
                        add(simd, &d_x[k..], d_h);
                    }
                }
            }
        }
    }

    /// Processors and encoder: from ∂h and ∂z of operation t to ∂h of the one before.
    #[inline(always)]
    fn latents_backward<S: Simd>(&self, simd: S, t: usize, tape: &mut Tape, gradients: &mut [f32]) {
        let Unroll { config, weights, .. } = *self;
        let (k, n, channels) = (config.k, tape.n, config.channels());
        let at = t % tape.block * n;
        let z = &tape.z[t * n * k..][..n * k];
        let after = (t + 1) * n * k..(t + 2) * n * k;
        let d_z = &mut tape.d_z[at * k..][..n * k];
        // (8)
        for index in (0..tape.passes.len()).rev() {
            let (processor, number) = (index / config.layers, index % config.layers);
            let (before, from) = tape.passes.split_at_mut(index);
            let x = if number == 0 { z } else { &before[index - 1].h[after.clone()] };
            let d_x = if number == 0 { &mut *d_z } else { &mut tape.d_between[..] };
            if number > 0 {
                d_x.fill(0.0);
            }
            let step = LayerBackward {
                pass: &mut from[0],
                neighbours: &tape.neighbours[t * channels..][..channels],
                by_all: &mut tape.by_all,
                halves: &mut tape.halves,
                place: (t, tape.ops, at),
                x,
            };
            let d_h = &mut tape.d_h[processor];
            weights.layers[processor].backward(simd, config, step, d_h, d_x, gradients);
            if number > 0 {
                std::mem::swap(d_h, &mut tape.d_between);
            }
        }
        // (1)
        let context = StepContext {
            config,
            weights,
            operation: self.example.sequence.operations[t],
            pointers: &tape.pointers[0].read[t * n..][..n],
            fresh: t == 0,
        };
        weights.encoder.backward(simd, &context, d_z, &mut tape.d_fixed, gradients);
        // What only pointers read is not carried.
        tape.d_h[1..].iter_mut().for_each(|d_h| d_h.fill(0.0));
        if config.carried() == 0 {
            tape.d_h[0].fill(0.0);
        } else if t > 0 {
            weights.encoder.h.backward(simd, d_z, Start::Zero, &mut tape.d_h[0]);
        }
    }

    /// Weight gradients of a block of operations.
    #[inline(always)]
    fn weights_backward<S: Simd>(
        &self,
        simd: S,
        operations: Range<usize>,
        tape: &Tape,
        gradients: &mut [f32],
    ) {
        let Unroll { config, weights, .. } = *self;
        let (k, n) = (config.k, tape.n);
        let rows = operations.len() * n;
        let from = operations.start * n * k;
        for (index, pass) in tape.passes.iter().enumerate() {
            let (processor, number) = (index / config.layers, index % config.layers);
            let x = match number {
                0 => &tape.z[from..],
                _ => &tape.passes[index - 1].h[from + n * k..],
            };
            let layer = &weights.layers[processor];
            layer.weights_backward(simd, (k, rows), x, (pass, from), gradients);
        }
        if config.carried() > 0 {
            let h_before = &tape.passes[config.layers - 1].h[from..];
            let d_z = &tape.d_z[..rows * k];
            weights.encoder.h.weights_backward(simd, h_before, d_z, gradients);
        }
    }
}
