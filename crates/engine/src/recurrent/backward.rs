//! Back-propagation through time over one unrolled sequence: the mirror of `forward.rs`.
//!
//! Operations are walked from the last to the first, carrying ∂h. Weight gradients are not computed
//! one operation at a time: the gradients of a block of them are kept, and each matrix gets one tall
//! product a block.

use fearless_simd::prelude::*;
use pgn_structures::Feature;

use super::{forward::Lesson, tape::Tape, weights::WeightGradients};
use crate::{
    AttentionInput, Config,
    aggregation::{Heard, HeardGradients},
    attention::{AttentionGradients, attention_backward},
    features::for_each_flag,
    kernels::{
        matmul::{Start, Then, mat, mat_mut, matmul, matmul_transposed},
        rows::{add, add_rows, axpy, gate},
    },
    readout::{outer_add, weighted_sum},
    rows::{Rows, RowsMut},
};

/// Which columns of `mixed` the shared products see: all but a sparse ∂b.
fn shared_columns(config: &Config, mix_width: usize) -> usize {
    match config.message_aggregation().has_sparse_senders(config.graph) {
        true => 2 * config.k,
        false => mix_width,
    }
}

impl Lesson<'_> {
    /// Adds the gradients of the losses on the tape to `gradients`.
    #[inline(always)]
    pub fn backward<S: Simd>(&self, simd: S, tape: &mut Tape, gradients: &mut WeightGradients) {
        let (config, k) = (self.config, self.config.k);
        tape.d_h.fill(0.0);
        tape.d_fixed.fill(0.0);
        tape.d_q.resize(tape.q.len(), 0.0);
        for t in (0..tape.ops).rev() {
            self.heads_backward(simd, t, tape, gradients);
            self.latents_backward(simd, t, tape, gradients);
            if t % tape.block == 0 {
                let end = (t + tape.block).min(tape.ops);
                self.weights_backward(simd, t..end, tape, gradients);
            }
        }
        if config.has_attention() {
            let w = config.attention_width();
            let shape = (w, tape.rows.len(), w);
            let (a, b) = (mat(&tape.gathered, w), mat(&tape.d_q, w));
            matmul_transposed(simd, shape, a, b, mat_mut(&mut gradients.fold, w));
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
    fn heads_backward<S: Simd>(
        &self,
        simd: S,
        t: usize,
        tape: &mut Tape,
        gradients: &mut WeightGradients,
    ) {
        let Lesson { config, weights, .. } = *self;
        let (k, w, n, p) = (config.k, config.attention_width(), tape.n, tape.padded);
        let z = &tape.z[t * n * k..][..n * k];
        let h = &tape.h[(t + 1) * n * k..][..n * k];
        let d_h = &mut tape.d_h[..];
        let d_z = &mut tape.d_z[t % tape.block * n * k..][..n * k];
        d_z.fill(0.0);

        // (3) decoder
        let d = tape.d_query[t];
        axpy(simd, d, &tape.top[t * 2 * k..][..2 * k], &mut gradients.decoder);
        gradients.decoder_bias[0] += d;
        let (source_z, source_h) = tape.top_sources[t * 2 * k..][..2 * k].split_at(k);
        let (decoder_z, decoder_h) = weights.decoder.split_at(k);
        let readout = config.readout_aggregation();
        readout.readout_backward(d, decoder_z, source_z, d_z);
        readout.readout_backward(d, decoder_h, source_h, d_h);

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
        let d_q = &mut tape.d_q[rows.start * w..rows.end * w];
        if scale == 0.0 {
            d_q.fill(0.0);
            return;
        }
        let d_scores = &mut tape.alpha[rows.start * p..rows.end * p];
        d_scores.iter_mut().for_each(|d| *d *= scale);
        let asked = (&tape.q[rows.start * w..rows.end * w], &*d_scores);
        let into = AttentionGradients { d_q, d_gathered: &mut tape.d_gathered[..rows.len() * w] };
        let (rows, fold_t) = (&tape.rows[rows], &weights.fold_t);
        match config.attention_input {
            AttentionInput::H => {
                let keys = Rows::new(h, w);
                attention_backward(simd, rows, fold_t, keys, asked, into, d_h);
            }
            AttentionInput::Zh => {
                let keys = Rows::new(&tape.zh[t * n * w..][..n * w], w);
                let d_x = &mut tape.d_x[..];
                d_x.fill(0.0);
                attention_backward(simd, rows, fold_t, keys, asked, into, d_x);
                let each = d_z.chunks_exact_mut(k).zip(d_h.chunks_exact_mut(k));
                for (d_x, (d_z, d_h)) in d_x.chunks_exact(w).zip(each) {
                    add(simd, &d_x[..k], d_z);
                    add(simd, &d_x[k..], d_h);
                }
            }
        }
    }

    /// Update, messages and encoder: from ∂h and ∂z of operation t to ∂h of the one before.
    #[inline(always)]
    fn latents_backward<S: Simd>(
        &self,
        simd: S,
        t: usize,
        tape: &mut Tape,
        gradients: &mut WeightGradients,
    ) {
        let Lesson { config, weights, .. } = *self;
        let (k, n, width) = (config.k, tape.n, weights.mix_width);
        let each = tape.sources_each(config);
        let here = t * n * k..(t + 1) * n * k;
        let at = t % tape.block * n;
        let d_z = &mut tape.d_z[at * k..][..n * k];
        let d_mixed = &mut tape.d_mixed[at * width..][..n * width];
        let h = &tape.h[(t + 1) * n * k..][..n * k];

        // (8) h = ReLU(c + W m): ∂c, and from it ∂m.
        let rows = h.chunks_exact(k).zip(tape.d_h.chunks_exact(k));
        for ((h, d_h), d_mixed) in rows.zip(d_mixed.chunks_exact_mut(width)) {
            gate(simd, h, d_h, &mut d_mixed[k..2 * k]);
        }
        // ∂h is spent; its buffer takes ∂m.
        let d_m = &mut tape.d_h;
        let (d_c, b) = (mat(&d_mixed[k..], width), mat(&weights.update_m_t, k));
        matmul(simd, (n, k, k), d_c, b, Start::Zero, Then::Store, mat_mut(d_m, k));
        // (8) from ∂m to ∂a and ∂b.
        let heard = Heard {
            graph: config.graph,
            neighbours: &tape.neighbours[t],
            z: &tape.z[here.clone()],
            m: &tape.m[here],
            sources: &tape.sources[t * each..][..each],
            weights,
        };
        let into = HeardGradients {
            mixed: d_mixed,
            z: d_z,
            sender: &mut gradients.sender_t,
            by_all: &mut tape.by_all,
        };
        config.message_aggregation().hear_backward(simd, heard, d_m, into);
        let shape = (n, shared_columns(config, width), k);
        let (a, b) = (mat(d_mixed, width), mat(&weights.mix_t, k));
        matmul(simd, shape, a, b, Start::Result, Then::Store, mat_mut(d_z, k));

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
        if config.carried() == 0 {
            tape.d_h.fill(0.0);
        } else if t > 0 {
            let (a, b) = (mat(d_z, k), mat(&weights.encoder_h_t, k));
            let d_h = mat_mut(&mut tape.d_h, k);
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
        let Lesson { config, weights, .. } = *self;
        let (k, n, width) = (config.k, tape.n, weights.mix_width);
        let rows = operations.len() * n;
        let from = operations.start * n * k;
        let (z, m, h_before) = (&tape.z[from..], &tape.m[from..], &tape.h[from..]);
        let d_mixed = mat(&tape.d_mixed, width);
        let shape = (k, rows, shared_columns(config, width));
        matmul_transposed(simd, shape, mat(z, k), d_mixed, mat_mut(&mut gradients.mix, width));
        let d_c = mat(&tape.d_mixed[k..], width);
        let update_m = mat_mut(&mut gradients.update_m, k);
        matmul_transposed(simd, (k, rows, k), mat(m, k), d_c, update_m);
        if config.carried() > 0 {
            let (a, b) = (mat(h_before, k), mat(&tape.d_z, k));
            let encoder_h = mat_mut(&mut gradients.encoder_h, k);
            matmul_transposed(simd, (k, rows, k), a, b, encoder_h);
        }
        let d_mixed = &tape.d_mixed[..rows * width];
        add_rows(simd, d_mixed, width, &mut gradients.mix_bias[..2 * k]);
    }
}
