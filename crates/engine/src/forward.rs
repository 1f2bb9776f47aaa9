//! One sequence unrolled with its ground truth at hand: the forward half of training.

use fearless_simd::prelude::*;
use pgn_structures::{Rng, Sequence};

use crate::{
    AttentionInput, Candidates, Config, Example, Forcing, Graph, Losses, Pointers,
    attention::{argmax, gather, keep_visited, queries, scores},
    features::{fixed_part, for_each_flag},
    kernels::{
        math::{binary_cross_entropies, binary_cross_entropy, sigmoid, softmax},
        matmul::{Start, Then, mat, matmul},
        rows::{add, dot},
    },
    message::{alone_forward, complete_forward, listed_forward},
    readout::{mask_forward, readout_forward},
    tape::Tape,
    weights::Weights,
};

/// What a sequence's share of a batch's loss needs beside the sequence.
pub struct Share<'a> {
    /// 1 / the number of sequences in the batch.
    pub scale: f32,
    /// Running accuracy of the answers, the baseline of the DGM reward.
    pub running_accuracy: f32,
    /// Where sampled pointers come from.
    pub noise: &'a mut Rng,
}

/// Unrolls a sequence; its losses, and their gradients with respect to all logits, are left on the
/// tape.
#[inline(always)]
pub fn forward<S: Simd>(
    simd: S,
    config: &Config,
    weights: &Weights,
    example: Example,
    share: &mut Share,
    tape: &mut Tape,
) -> Losses {
    let sequence = example.sequence;
    let (n, ops) = (sequence.nodes(), sequence.ops());
    tape.fit(config, weights.mix_width, n, ops);
    let inputs = &config.inputs;
    let bias = &weights.encoder_bias;
    fixed_part(simd, inputs, &weights.encoder_e, bias, sequence.priorities, &mut tape.fixed);
    let mut losses = Losses::default();
    for t in 0..ops {
        latents_forward(simd, config, weights, sequence, t, tape);
        answer_forward(simd, config, weights, sequence, t, share.scale, tape, &mut losses);
        if config.has_masks() {
            masks_forward(simd, config, weights, sequence, t, share.scale, tape, &mut losses);
        }
        if config.has_attention() {
            pointers_forward(simd, config, weights, sequence, t, share, tape, &mut losses);
        }
        if config.forcing == Forcing::Teacher {
            tape.read[(t + 1) * n..][..n].copy_from_slice(example.taught_after(t));
        }
    }
    losses
}

/// Equations 1, 2 and 8: z, m and h of step t.
#[inline(always)]
fn latents_forward<S: Simd>(
    simd: S,
    config: &Config,
    weights: &Weights,
    sequence: Sequence,
    t: usize,
    tape: &mut Tape,
) {
    let (k, n, width) = (config.k, tape.n, weights.mix_width);
    let step = t * n * k..(t + 1) * n * k;
    let (h_before, h_after) = tape.h.split_at_mut(step.end);
    let (h_before, h) = (&h_before[step.start..], &mut h_after[..n * k]);
    let (z, m) = (&mut tape.z[step.clone()], &mut tape.m[step.clone()]);

    // (1) z = encoder[e ‖ h⁻]; at the first step, or where nothing is carried, h⁻ = 0.
    if t == 0 || config.carried() == 0 {
        z.copy_from_slice(&tape.fixed);
    } else {
        let start = Start::Mat(mat(&tape.fixed, k));
        let (a, b) = (mat(h_before, k), mat(&weights.encoder_h, k));
        matmul(simd, (n, k, k), a, b, start, Then::Store, z, k);
    }
    let pointers = &tape.read[t * n..][..n];
    for_each_flag(
        &config.inputs,
        sequence.operations[t],
        pointers,
        0,
        n,
        #[inline(always)]
        |input, node| add(simd, &weights.encoder_e[input * k..][..k], &mut z[node * k..][..k]),
    );

    // (8) m = max ReLU(a + b) over the graph; h = ReLU(update[z ‖ m]).
    let mixed = &mut tape.mixed;
    let start = Start::Row(&weights.mix_bias);
    let b = mat(&weights.mix, width);
    matmul(simd, (n, k, width), mat(z, k), b, start, Then::Store, mixed, width);
    match config.graph {
        Graph::Symmetric | Graph::Directed => {
            let neighbours = &mut tape.neighbours[t];
            neighbours.rebuild(config.graph, pointers);
            listed_forward(simd, k, neighbours, mixed, m, &mut tape.source[step]);
        }
        Graph::Complete => {
            let source = &mut tape.source[t * k..][..k];
            complete_forward(simd, k, mixed, m, &mut tape.message_top, source);
        }
        Graph::SelfOnly => alone_forward(simd, k, mixed, m),
    }
    let start = Start::Mat(mat(&mixed[k..], width));
    matmul(simd, (n, k, k), mat(m, k), mat(&weights.update_m, k), start, Then::Relu, h, k);
}

/// Equation 3 and the query loss.
#[allow(clippy::too_many_arguments)] // the step's place, its weights and where results go
#[inline(always)]
fn answer_forward<S: Simd>(
    simd: S,
    config: &Config,
    weights: &Weights,
    sequence: Sequence,
    t: usize,
    scale: f32,
    tape: &mut Tape,
    losses: &mut Losses,
) {
    let (k, n) = (config.k, tape.n);
    let (z, h) = (&tape.z[t * n * k..][..n * k], &tape.h[(t + 1) * n * k..][..n * k]);
    let top = &mut tape.top[t * 2 * k..][..2 * k];
    let (top_z, top_h) = top.split_at_mut(k);
    let (source_z, source_h) = tape.top_source[t * 2 * k..][..2 * k].split_at_mut(k);
    readout_forward(simd, k, z, 0, top_z, source_z);
    readout_forward(simd, k, h, 0, top_h, source_h);
    let logit = dot(simd, top, &weights.decoder) + weights.decoder_bias;
    let truth = sequence.answers[t] == 1;
    let share = scale / tape.ops as f32;
    losses.query += f64::from(share) * binary_cross_entropy(logit, truth);
    losses.right += u64::from((logit > 0.0) == truth);
    tape.query_logits[t] = logit;
    let target = if truth { 1.0 } else { 0.0 };
    tape.d_query[t] = config.losses.query * share * (sigmoid(logit) - target);
}

/// Equation 4 and the mask loss.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn masks_forward<S: Simd>(
    simd: S,
    config: &Config,
    weights: &Weights,
    sequence: Sequence,
    t: usize,
    scale: f32,
    tape: &mut Tape,
    losses: &mut Losses,
) {
    let (k, n, p) = (config.k, tape.n, tape.padded);
    let (z, h) = (&tape.z[t * n * k..][..n * k], &tape.h[(t + 1) * n * k..][..n * k]);
    let logits = &mut tape.mask_logits[t * p..][..p];
    mask_forward(simd, k, z, h, &weights.mask, weights.mask_bias, logits);
    let share = scale / (tape.ops * n) as f32;
    let gradient = &mut tape.d_mask[t * p..][..p];
    let weight = config.losses.masks * share;
    let loss = binary_cross_entropies(simd, logits, sequence.mask(t), weight, gradient);
    losses.masks += f64::from(share) * loss;
}

/// Equation 6, the pointer and DGM losses, and the pointers of models that aim their own while
/// training.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn pointers_forward<S: Simd>(
    simd: S,
    config: &Config,
    weights: &Weights,
    sequence: Sequence,
    t: usize,
    share: &mut Share,
    tape: &mut Tape,
    losses: &mut Losses,
) {
    let (k, w, n, p) = (config.k, config.attention_width(), tape.n, tape.padded);
    // Only nodes the operation visited are re-aimed; all of them in models without masks, or that
    // do not heed theirs.
    let mask = sequence.mask(t);
    let first = tape.rows.len();
    if config.has_masks() && config.pointers != Pointers::Every {
        tape.rows.extend((0..n as u32).filter(|&i| mask[i as usize] == 0));
    } else {
        tape.rows.extend(0..n as u32);
    }
    tape.row_starts.push(tape.rows.len());
    if config.forcing != Forcing::Teacher {
        let (before, after) = tape.read.split_at_mut((t + 1) * n);
        after[..n].copy_from_slice(&before[t * n..]);
    }

    let rows = first..tape.rows.len();
    tape.gathered.resize(rows.end * w, 0.0);
    tape.q.resize(rows.end * w, 0.0);
    tape.alpha.resize(rows.end * p, 0.0);
    let h = &tape.h[(t + 1) * n * k..][..n * k];
    let x = match config.attention_input {
        AttentionInput::H => h,
        AttentionInput::Zh => {
            let zh = &mut tape.zh[t * n * w..][..n * w];
            concatenate(k, &tape.z[t * n * k..][..n * k], h, zh);
            zh
        }
    };
    let gathered = &mut tape.gathered[rows.start * w..];
    gather(w, x, &tape.rows[rows.clone()], gathered);
    queries(simd, w, &weights.fold, gathered, &mut tape.q[rows.start * w..]);

    let each = share.scale / (tape.ops * n) as f32;
    tape.alpha_scale[t] = config.losses.pointers * each;
    let next = &mut tape.read[(t + 1) * n..][..n];
    let truth = sequence.pointers_after(t);
    for (row, alpha) in rows.clone().zip(tape.alpha[rows.start * p..].chunks_exact_mut(p)) {
        let node = tape.rows[row];
        scores(simd, &tape.q[row * w..][..w], x, alpha);
        if config.candidates == Candidates::Visited {
            keep_visited(&mut alpha[..n], node, |j| mask[j] == 0);
        }
        if config.forcing == Forcing::Own {
            next[node as usize] = argmax(&alpha[..n], next[node as usize]);
            if config.losses.pointers == 0.0 {
                continue;
            }
        }
        let target = if config.forcing == Forcing::Sampled {
            softmax(simd, alpha);
            let target = sample(&alpha[..n], share.noise);
            next[node as usize] = target;
            tape.log_probability[t] += each * alpha[target as usize].ln();
            target
        } else {
            let target = truth[node as usize];
            let score = alpha[target as usize];
            losses.pointers += f64::from(each) * f64::from(softmax(simd, alpha) - score);
            target
        };
        alpha[target as usize] -= 1.0;
    }
    if config.forcing == Forcing::Sampled && t > 0 {
        // The pointers sampled after step t − 1 were read in step t: whether its answer was right
        // is their reward. The loss is (running accuracy − right) · log α, and log α has gradient
        // target − α, hence the sign.
        let right = (tape.query_logits[t] > 0.0) == (sequence.answers[t] == 1);
        let reward = share.running_accuracy - if right { 1.0 } else { 0.0 };
        tape.alpha_scale[t - 1] = -config.losses.dgm * reward * each;
        losses.dgm += f64::from(reward * tape.log_probability[t - 1]);
    }
}

/// Draws from α with one uniform number: the same distribution as Gumbel noise and an argmax.
fn sample(alpha: &[f32], noise: &mut Rng) -> u32 {
    let mut rest = noise.unit_f32();
    for (j, &probability) in alpha.iter().enumerate() {
        rest -= probability;
        if rest < 0.0 {
            return j as u32;
        }
    }
    // Rounding may leave a little over: the last node that could have been drawn.
    alpha.iter().rposition(|&probability| probability > 0.0).unwrap_or(0) as u32
}

fn concatenate(k: usize, z: &[f32], h: &[f32], into: &mut [f32]) {
    let rows = z.chunks_exact(k).zip(h.chunks_exact(k));
    for ((z, h), into) in rows.zip(into.chunks_exact_mut(2 * k)) {
        into[..k].copy_from_slice(z);
        into[k..].copy_from_slice(h);
    }
}
