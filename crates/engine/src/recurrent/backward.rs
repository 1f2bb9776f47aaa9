//! Back-propagation through time over one unrolled sequence: the mirror of `forward.rs`.
//!
//! Operations are walked from the last to the first, carrying ∂h. Weight gradients are not computed
//! one operation at a time: the gradients of a block of them are kept, and each matrix gets one tall
//! product a block.

use fearless_simd::prelude::*;
use pgn_structures::Feature;

use super::{
    forward::Unroll,
    layer::{Layer, LayerGradients, has_sparse_senders},
    tape::{Pass, Tape},
    weights::WeightGradients,
};
use crate::{
    AttentionInput, Config,
    aggregation::{AggregateGradients, Aggregated},
    attention::{AttentionGradients, attention_backward},
    features::for_each_flag,
    graph::Neighbours,
    kernels::{
        matmul::{Start, Then, mat, mat_mut, matmul, matmul_transposed},
        rows::{add, add_rows, axpy, gate},
    },
    readout::{outer_add, weighted_sum},
    rows::{Rows, RowsMut},
};

/// Which columns of `mixed` the shared products see: all but a sparse ∂b.
fn shared_columns(config: &Config, width: usize) -> usize {
    if has_sparse_senders(config) { 2 * config.k } else { width }
}

impl Unroll<'_> {
    /// Adds the gradients of the losses on the tape to `gradients`.
    #[inline(always)]
    pub fn backward<S: Simd>(&self, simd: S, tape: &mut Tape, gradients: &mut WeightGradients) {
        let (config, k) = (self.config, self.config.k);
        tape.d_h.iter_mut().for_each(|d_h| d_h.fill(0.0));
        tape.d_fixed.fill(0.0);
        tape.d_q.resize(tape.q.len(), 0.0);
        for extra in &mut tape.extra {
            extra.d_q.resize(extra.q.len(), 0.0);
        }
        for t in (0..tape.ops).rev() {
            self.outputs_backward(simd, t, tape, gradients);
            self.latents_backward(simd, t, tape, gradients);
            if t % tape.block == 0 {
                let end = (t + tape.block).min(tape.ops);
                self.weights_backward(simd, t..end, tape, gradients);
            }
        }
        if config.has_attention() {
            let w = config.attention_width();
            let shape = (w, tape.rows.len(), w);
            let of_extra = tape.extra.iter().map(|extra| &extra.d_q);
            let of_all = std::iter::once(&tape.d_q).chain(of_extra);
            for (d_q, fold) in of_all.zip(&mut gradients.query_keys) {
                let (a, b) = (mat(&tape.gathered, w), mat(d_q, w));
                matmul_transposed(simd, shape, a, b, mat_mut(fold, w));
            }
        }
        // The part of z that is the same in every operation: bias and priorities.
        let priorities = self.example.sequence.priorities;
        for (row, &priority) in tape.d_fixed.chunks_exact(k).zip(priorities) {
            add(simd, row, &mut gradients.encoder_bias);
            let columns = gradients.encoder_e.chunks_exact_mut(k);
            for (input, column) in config.features.iter().zip(columns) {
                if *input == Feature::Priority {
                    axpy(simd, priority, row, column);
                }
            }
        }
    }

    /// Decoder, masks and attention: from the logits of operation t to ∂h (added to what the later
    /// ones sent) and ∂z (written).
    #[inline(always)]
    fn outputs_backward<S: Simd>(
        &self,
        simd: S,
        t: usize,
        tape: &mut Tape,
        gradients: &mut WeightGradients,
    ) {
        let Unroll { config, weights, .. } = *self;
        let (k, w, n, p) = (config.k, config.attention_width(), tape.n, tape.padded);
        let z = &tape.z[t * n * k..][..n * k];
        let last = tape.passes.len() - 1;
        let h = &tape.passes[last].h[(t + 1) * n * k..][..n * k];
        let d_z = &mut tape.d_z[t % tape.block * n * k..][..n * k];
        d_z.fill(0.0);

        // (3) decoder
        let d = tape.d_query[t];
        axpy(simd, d, &tape.top[t * 2 * k..][..2 * k], &mut gradients.decoder);
        gradients.decoder_bias[0] += d;
        let (source_z, source_h) = tape.top_sources[t * 2 * k..][..2 * k].split_at(k);
        let (decoder_z, decoder_h) = weights.decoder.split_at(k);
        let readout = config.readout_aggregation;
        readout.readout_backward(simd, d, decoder_z, source_z, d_z);
        readout.readout_backward(simd, d, decoder_h, source_h, &mut tape.d_h[0]);
        // The processor that masks and pointers read.
        let d_h = &mut tape.d_h[config.processors() - 1][..];

        // (4) masks
        if config.losses.masks > 0.0 {
            let d = &tape.d_mask[t * p..][..n];
            let (mask_z, mask_h) = weights.mask.split_at(k);
            outer_add(simd, d, mask_z, d_z);
            outer_add(simd, d, mask_h, d_h);
            let (d_mask_z, d_mask_h) = gradients.mask.split_at_mut(k);
            weighted_sum(simd, d, z, d_mask_z);
            weighted_sum(simd, d, h, d_mask_h);
            gradients.mask_bias[0] += d.iter().sum::<f32>();
        }

        // (6) attention
        let rows =
            if config.has_attention() { tape.row_starts[t]..tape.row_starts[t + 1] } else { 0..0 };
        if rows.is_empty() {
            return;
        }
        let scale = tape.alpha_scale[t];
        let own = (&tape.q, &mut tape.alpha, &mut tape.d_q);
        let of_extra = tape.extra.iter_mut().map(|one| (&one.q, &mut one.alpha, &mut one.d_q));
        let all = std::iter::once(own).chain(of_extra);
        let nodes = &tape.rows[rows.clone()];
        for ((q, alpha, d_q), fold) in all.zip(&weights.query_keys) {
            let d_q = &mut d_q[rows.start * w..rows.end * w];
            if scale == 0.0 {
                d_q.fill(0.0);
                continue;
            }
            let d_scores = &mut alpha[rows.start * p..rows.end * p];
            d_scores.iter_mut().for_each(|d| *d *= scale);
            let asked = (&q[rows.start * w..rows.end * w], &*d_scores);
            let d_gathered = &mut tape.d_gathered[..rows.len() * w];
            let into = AttentionGradients { d_q, d_gathered };
            let fold_t = &fold.backward;
            match config.attention_input {
                AttentionInput::H => {
                    let keys = Rows::new(h, w);
                    attention_backward(simd, nodes, fold_t, keys, asked, into, d_h);
                }
                AttentionInput::Zh => {
                    let keys = Rows::new(&tape.zh[t * n * w..][..n * w], w);
                    let d_x = &mut tape.d_x[..];
                    d_x.fill(0.0);
                    attention_backward(simd, nodes, fold_t, keys, asked, into, d_x);
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
    fn latents_backward<S: Simd>(
        &self,
        simd: S,
        t: usize,
        tape: &mut Tape,
        gradients: &mut WeightGradients,
    ) {
        let Unroll { config, weights, .. } = *self;
        let (k, n, channels) = (config.k, tape.n, config.channels());
        let at = t % tape.block * n;
        let z = &tape.z[t * n * k..][..n * k];
        let after = (t + 1) * n * k..(t + 2) * n * k;
        let d_z = &mut tape.d_z[at * k..][..n * k];
        for index in (0..tape.passes.len()).rev() {
            let (processor, number) = (index / config.layers, index % config.layers);
            let (before, from) = tape.passes.split_at_mut(index);
            let x = if number == 0 { z } else { &before[index - 1].h[after.clone()] };
            let d_x = if number == 0 { &mut *d_z } else { &mut tape.d_between[..] };
            if number > 0 {
                d_x.fill(0.0);
            }
            let one = OnePass {
                config,
                layer: &weights.layers[processor],
                pass: &mut from[0],
                neighbours: &tape.neighbours[t * channels..][..channels],
                by_all: &mut tape.by_all,
                halves: &mut tape.halves,
                place: (t, tape.ops, at),
                x,
            };
            let d_h = &mut tape.d_h[processor];
            one.backward(simd, d_h, d_x, &mut gradients.layers[processor]);
            if number > 0 {
                std::mem::swap(d_h, &mut tape.d_between);
            }
        }

        // (1) encoder
        add(simd, d_z, &mut tape.d_fixed);
        let (d_rows, mut columns) = (Rows::new(d_z, k), RowsMut::new(&mut gradients.encoder_e, k));
        for_each_flag(
            &config.features,
            self.example.sequence.operations[t],
            &tape.read[t * n..][..n],
            0..n,
            #[inline(always)]
            |input, node| add(simd, d_rows.row(node), columns.row(input)),
        );
        // What only pointers read is not carried.
        tape.d_h[1..].iter_mut().for_each(|d_h| d_h.fill(0.0));
        if config.carried() == 0 {
            tape.d_h[0].fill(0.0);
        } else if t > 0 {
            let (a, b) = (mat(d_z, k), mat(&weights.encoder_h_t, k));
            let d_h = mat_mut(&mut tape.d_h[0], k);
            matmul(simd, (n, k, k), a, b, Start::Zero, Then::Store, d_h);
        }
    }

    /// Weight gradients of a block of operations.
    #[inline(always)]
    fn weights_backward<S: Simd>(
        &self,
        simd: S,
        operations: std::ops::Range<usize>,
        tape: &Tape,
        gradients: &mut WeightGradients,
    ) {
        let Unroll { config, weights, .. } = *self;
        let (k, n) = (config.k, tape.n);
        let rows = operations.len() * n;
        let from = operations.start * n * k;
        let after = from + n * k;
        for (index, pass) in tape.passes.iter().enumerate() {
            let (processor, number) = (index / config.layers, index % config.layers);
            let Layer { channels, width, .. } = weights.layers[processor];
            let into = &mut gradients.layers[processor];
            let x = if number == 0 { &tape.z[from..] } else { &tape.passes[index - 1].h[after..] };
            let d_mixed = mat(&pass.d_mixed, width);
            let shape = (k, rows, shared_columns(config, width));
            matmul_transposed(simd, shape, mat(x, k), d_mixed, mat_mut(&mut into.mix, width));
            let d_c = mat(&pass.d_mixed[channels * k..], width);
            for (channel, into) in into.update_m.chunks_exact_mut(k * k).enumerate() {
                let m = mat(&pass.m[channel * tape.ops * n * k + from..], k);
                matmul_transposed(simd, (k, rows, k), m, d_c, mat_mut(into, k));
            }
            let d_mixed = &pass.d_mixed[..rows * width];
            add_rows(simd, d_mixed, width, &mut into.mix_bias[..(channels + 1) * k]);
        }
        if config.carried() > 0 {
            let h_before = &tape.passes[config.layers - 1].h[from..];
            let (a, b) = (mat(h_before, k), mat(&tape.d_z, k));
            let encoder_h = mat_mut(&mut gradients.encoder_h, k);
            matmul_transposed(simd, (k, rows, k), a, b, encoder_h);
        }
    }
}

/// One application of a processor to one operation.
struct OnePass<'a> {
    config: &'a Config,
    layer: &'a Layer,
    pass: &'a mut Pass,
    neighbours: &'a [Neighbours],
    by_all: &'a mut [f32],
    halves: &'a mut Vec<f32>,
    /// The operation, how many there are, and its first row in the block.
    place: (usize, usize, usize),
    x: &'a [f32], // [n, k]: what it read
}

impl OnePass<'_> {
    /// From ∂h to ∂x, which is added to; ∂h is spent.
    #[inline(always)]
    fn backward<S: Simd>(
        self,
        simd: S,
        d_h: &mut [f32],
        d_x: &mut [f32],
        gradients: &mut LayerGradients,
    ) {
        let OnePass { config, layer, pass, neighbours, by_all, halves, place, x } = self;
        let ((t, ops, at), k, width) = (place, config.k, layer.width);
        let n = x.len() / k;
        let channels = layer.channels;
        let d_mixed = &mut pass.d_mixed[at * width..][..n * width];
        let h = &pass.h[(t + 1) * n * k..][..n * k];

        // (8) h = ReLU(c + W m): ∂c, and from it ∂m.
        let rows = h.chunks_exact(k).zip(d_h.chunks_exact(k));
        for ((h, d_h), d_mixed) in rows.zip(d_mixed.chunks_exact_mut(width)) {
            gate(simd, h, d_h, &mut d_mixed[channels * k..][..k]);
        }
        // ∂h is spent; its buffer takes ∂m.
        let d_m = d_h;
        let each = pass.sources.len() / (channels * ops);
        for (channel, neighbours) in neighbours.iter().enumerate() {
            let (d_c, b) =
                (mat(&d_mixed[channels * k..], width), &layer.update_m_t[channel * k * k..]);
            let shape = (n, k, k);
            matmul(simd, shape, d_c, mat(b, k), Start::Zero, Then::Store, mat_mut(d_m, k));
            // (8) from ∂m to ∂a and ∂b.
            let step = channel * ops + t;
            let aggregated = Aggregated {
                graph: config.graph,
                neighbours,
                x,
                m: &pass.m[step * n * k..][..n * k],
                sources: &pass.sources[step * each..][..each],
                layer,
                channel,
            };
            let into = AggregateGradients {
                mixed: &mut *d_mixed,
                x: &mut *d_x,
                sender: &mut gradients.sender_t,
                by_all: &mut *by_all,
                halves: &mut *halves,
            };
            config.message_aggregation.aggregate_backward(simd, aggregated, d_m, into);
        }
        let shape = (n, shared_columns(config, width), k);
        let (a, b) = (mat(d_mixed, width), mat(&layer.mix_t, k));
        matmul(simd, shape, a, b, Start::Result, Then::Store, mat_mut(d_x, k));
    }
}
