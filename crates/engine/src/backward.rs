//! Back-propagation through time over one unrolled sequence: the mirror of [`crate::forward`].
//!
//! Steps are walked from the last to the first, carrying ∂h. Weight gradients are not computed step
//! by step: the gradients of a block of steps are kept, and each matrix gets one tall product a
//! block.

use fearless_simd::prelude::*;
use pgn_structures::{Feature, Sequence};

use crate::{
    AttentionInput, Config, Graph,
    attention::attention_backward,
    features::for_each_flag,
    kernels::{
        matmul::{Start, Then, mat, matmul, matmul_transposed},
        rows::{add, add_rows, axpy, gate},
    },
    message::{complete_backward, listed_backward},
    readout::{outer_add, readout_backward, weighted_sum},
    tape::Tape,
    weights::{WeightGradients, Weights},
};

/// Adds the gradients of the losses on the tape to `gradients`.
#[inline(always)]
pub fn backward<S: Simd>(
    simd: S,
    config: &Config,
    weights: &Weights,
    sequence: Sequence,
    tape: &mut Tape,
    gradients: &mut WeightGradients,
) {
    let k = config.k;
    tape.d_h.fill(0.0);
    tape.d_fixed.fill(0.0);
    tape.d_q.resize(tape.q.len(), 0.0);
    for t in (0..tape.ops).rev() {
        heads_backward(simd, config, weights, t, tape, gradients);
        latents_backward(simd, config, weights, sequence, t, tape, gradients);
        if t % tape.block == 0 {
            let steps = tape.block.min(tape.ops - t);
            block_backward(simd, config, weights, t, steps, tape, gradients);
        }
    }
    if config.has_attention() {
        let w = config.attention_width();
        let shape = (w, tape.rows.len(), w);
        let (a, b) = (mat(&tape.gathered, w), mat(&tape.d_q, w));
        matmul_transposed(simd, shape, a, b, &mut gradients.fold, w);
    }
    // The part of z that is the same at every step: bias and priorities.
    for (row, &priority) in tape.d_fixed.chunks_exact(k).zip(sequence.priorities) {
        add(simd, row, &mut gradients.encoder_bias);
        for (input, column) in config.inputs.iter().zip(gradients.encoder_e.chunks_exact_mut(k)) {
            if *input == Feature::Priority {
                axpy(simd, priority, row, column);
            }
        }
    }
}

/// Decoder, masks and attention: from the logits of step t to ∂h (added to what the later steps
/// sent) and ∂z (written).
#[inline(always)]
fn heads_backward<S: Simd>(
    simd: S,
    config: &Config,
    weights: &Weights,
    t: usize,
    tape: &mut Tape,
    gradients: &mut WeightGradients,
) {
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
    let (source_z, source_h) = tape.top_source[t * 2 * k..][..2 * k].split_at(k);
    let (decoder_z, decoder_h) = weights.decoder.split_at(k);
    readout_backward(k, d, decoder_z, source_z, d_z);
    readout_backward(k, d, decoder_h, source_h, d_h);

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
    let q = &tape.q[rows.start * w..rows.end * w];
    let (rows, d_gathered) = (&tape.rows[rows.clone()], &mut tape.d_gathered[..rows.len() * w]);
    let fold_t = &weights.fold_t;
    match config.attention_input {
        AttentionInput::H => {
            attention_backward(simd, w, rows, fold_t, h, q, d_scores, d_q, d_gathered, d_h);
        }
        AttentionInput::Zh => {
            let zh = &tape.zh[t * n * w..][..n * w];
            let d_x = &mut tape.d_x[..];
            d_x.fill(0.0);
            attention_backward(simd, w, rows, fold_t, zh, q, d_scores, d_q, d_gathered, d_x);
            let each = d_z.chunks_exact_mut(k).zip(d_h.chunks_exact_mut(k));
            for (d_x, (d_z, d_h)) in d_x.chunks_exact(w).zip(each) {
                add(simd, &d_x[..k], d_z);
                add(simd, &d_x[k..], d_h);
            }
        }
    }
}

/// Update, messages and encoder: from ∂h and ∂z of step t to ∂h of the step before.
#[inline(always)]
fn latents_backward<S: Simd>(
    simd: S,
    config: &Config,
    weights: &Weights,
    sequence: Sequence,
    t: usize,
    tape: &mut Tape,
    gradients: &mut WeightGradients,
) {
    let (k, n, width) = (config.k, tape.n, weights.mix_width);
    let step = t * n * k..(t + 1) * n * k;
    let at = t % tape.block * n;
    let d_z = &mut tape.d_z[at * k..][..n * k];
    let d_mixed = &mut tape.d_mixed[at * width..][..n * width];
    let h = &tape.h[(t + 1) * n * k..][..n * k];
    let m = &tape.m[step.clone()];

    // (8) h = ReLU(c + W m): ∂c, and from it ∂m.
    let rows = h.chunks_exact(k).zip(tape.d_h.chunks_exact(k));
    for ((h, d_h), d_mixed) in rows.zip(d_mixed.chunks_exact_mut(width)) {
        gate(simd, h, d_h, &mut d_mixed[k..2 * k]);
    }
    // ∂h is spent; its buffer takes ∂m.
    let d_m = &mut tape.d_h;
    let b = mat(&weights.update_m_t, k);
    matmul(simd, (n, k, k), mat(&d_mixed[k..], width), b, Start::Zero, Then::Store, d_m, k);
    // (8) m = ReLU(a + max b): ∂a, and from it ∂b.
    let rows = m.chunks_exact(k).zip(d_m.chunks_exact(k));
    for ((m, d_m), d_mixed) in rows.zip(d_mixed.chunks_exact_mut(width)) {
        gate(simd, m, d_m, &mut d_mixed[..k]);
    }
    let mut depth = width;
    match config.graph {
        Graph::Symmetric | Graph::Directed => {
            listed_backward(simd, k, &tape.neighbours[t], &tape.source[step.clone()], d_mixed);
        }
        Graph::Complete => {
            depth = 2 * k;
            let source = &tape.source[t * k..][..k];
            let sender_t = &weights.mix_t[2 * k * k..];
            let (z, d_sender) = (&tape.z[step.clone()], &mut gradients.sender_t);
            let d_top = &mut tape.message_top;
            complete_backward(simd, k, d_mixed, source, sender_t, z, d_z, d_sender, d_top);
        }
        Graph::SelfOnly => {}
    }
    let b = mat(&weights.mix_t, k);
    matmul(simd, (n, depth, k), mat(d_mixed, width), b, Start::Result, Then::Store, d_z, k);

    // (1) encoder
    add(simd, d_z, &mut tape.d_fixed);
    let pointers = &tape.read[t * n..][..n];
    for_each_flag(
        &config.inputs,
        sequence.operations[t],
        pointers,
        0,
        n,
        #[inline(always)]
        |input, node| add(simd, &d_z[node * k..][..k], &mut gradients.encoder_e[input * k..][..k]),
    );
    if config.carried() == 0 {
        tape.d_h.fill(0.0);
    } else if t > 0 {
        let (a, b) = (mat(d_z, k), mat(&weights.encoder_h_t, k));
        matmul(simd, (n, k, k), a, b, Start::Zero, Then::Store, &mut tape.d_h, k);
    }
}

/// Weight gradients of steps t .. t + steps.
#[inline(always)]
fn block_backward<S: Simd>(
    simd: S,
    config: &Config,
    weights: &Weights,
    t: usize,
    steps: usize,
    tape: &Tape,
    gradients: &mut WeightGradients,
) {
    let (k, n, width) = (config.k, tape.n, weights.mix_width);
    let rows = steps * n;
    let from = t * n * k;
    let (z, m, h_before) = (&tape.z[from..], &tape.m[from..], &tape.h[from..]);
    // The complete graph's ∂b went its own way.
    let columns = if config.graph == Graph::Complete { 2 * k } else { width };
    let d_mixed = mat(&tape.d_mixed, width);
    let shape = (k, rows, columns);
    matmul_transposed(simd, shape, mat(z, k), d_mixed, &mut gradients.mix, width);
    let d_c = mat(&tape.d_mixed[k..], width);
    matmul_transposed(simd, (k, rows, k), mat(m, k), d_c, &mut gradients.update_m, k);
    if config.carried() > 0 {
        let (a, b) = (mat(h_before, k), mat(&tape.d_z, k));
        matmul_transposed(simd, (k, rows, k), a, b, &mut gradients.encoder_h, k);
    }
    let d_mixed = &tape.d_mixed[..rows * width];
    add_rows(simd, d_mixed, width, &mut gradients.mix_bias[..2 * k]);
}
