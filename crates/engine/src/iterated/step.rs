//! One processor step over the participants: x ← min(ReLU(update\[z ‖ x ‖ messages\]), cap).
//!
//! Letters: a participants in this step, s ≤ a of them senders (those of the step before).

use fearless_simd::{f32x8, prelude::*};

use super::weights::Weights;
use crate::kernels::{
    matmul::{Start, Then, mat},
    rows::{add, chunks, load, store},
};

/// What a step reads and leaves behind.
pub struct StepForward<'a> {
    pub parents: &'a [u32],        // [a]; NOWHERE is above every place
    pub fixed: &'a [f32],          // [a, k]: update_z · z + bias
    pub x: &'a [f32],              // [a, k]: before; zeros for those who were no senders
    pub messages: &'a mut [f32],   // [s, 3k]: parent | children | global
    pub aggregated: &'a mut [f32], // [a, 2k]: parent | children
    pub global: &'a mut [f32],     // [k]
    pub next: &'a mut [f32],       // [a, k]: after
}

/// One step.
#[inline(always)]
pub fn step_forward<S: Simd>(simd: S, k: usize, weights: &Weights, step: StepForward) {
    let w = &weights;
    let StepForward { parents, fixed, x, messages, aggregated, global, next } = step;
    let (a, s) = (parents.len(), messages.len() / (3 * k));
    let start = Start::Row(&w.message_bias);
    w.message.forward(simd, x, start, Then::Relu, messages);

    // Messages are at least 0, so 0 also stands for silence.
    aggregated.fill(0.0);
    global.fill(0.0);
    for (i, &parent) in parents.iter().enumerate() {
        let parent = parent as usize;
        if parent < s {
            let sent = &messages[parent * 3 * k..][..k];
            aggregated[i * 2 * k..][..k].copy_from_slice(sent);
        }
        if i < s {
            let sent = &messages[i * 3 * k..][..3 * k];
            if parent != i && parent < a {
                keep_larger(simd, &sent[k..2 * k], &mut aggregated[(2 * parent + 1) * k..][..k]);
            }
            keep_larger(simd, &sent[2 * k..], global);
        }
    }

    w.update_x.forward(simd, x, Start::Mat(mat(fixed, k)), Then::Store, next);
    w.update_m.forward(simd, aggregated, Start::Result, Then::Store, next);
    let zero = f32x8::splat(simd, 0.0);
    let cap = f32x8::splat(simd, weights.settings.cap.unwrap_or(f32::INFINITY));
    for at in chunks(k) {
        let mut from_global = zero;
        for (d, &value) in global.iter().enumerate() {
            let column = load(simd, &w.update_g.weight, d * k + at);
            from_global = f32x8::splat(simd, value).mul_add_precise(column, from_global);
        }
        for row in next.chunks_exact_mut(k) {
            store((load(simd, row, at) + from_global).max(zero).min(cap), row, at);
        }
    }
}

/// What the backward half of a step reads and leaves behind; shapes as in [`StepForward`].
pub struct StepBackward<'a> {
    pub parents: &'a [u32],
    pub messages: &'a [f32],         // [s, 3k]
    pub aggregated: &'a [f32],       // [a, 2k]
    pub global: &'a [f32],           // [k]
    pub next: &'a [f32],             // [a, k]
    pub d_next: &'a [f32],           // [a, k]
    pub d_pre: &'a mut [f32],        // [a, k]: before ReLU and cap
    pub d_pre_sum: &'a mut [f32],    // [k]: its sum over nodes
    pub d_messages: &'a mut [f32],   // [a, 3k]: before ReLU; zero rows for non-senders
    pub d_aggregated: &'a mut [f32], // [a, 2k], scratch
    pub d_global: &'a mut [f32],     // [k], scratch
    pub d_x: &'a mut [f32],          // [a, k]
}

/// The mirror of [`step_forward`]. A maximum's gradient goes to the first of equal senders.
#[inline(always)]
pub fn step_backward<S: Simd>(simd: S, k: usize, weights: &Weights, step: StepBackward) {
    let StepBackward { parents, messages, aggregated, global, next, d_next, .. } = step;
    let StepBackward { d_pre, d_pre_sum, d_messages, d_aggregated, d_global, d_x, .. } = step;
    let (a, s) = (parents.len(), messages.len() / (3 * k));
    let zero = f32x8::splat(simd, 0.0);
    let cap = f32x8::splat(simd, weights.settings.cap.unwrap_or(f32::INFINITY));
    d_pre_sum.fill(0.0);
    for at in chunks(a * k) {
        let value = load(simd, next, at);
        let open = value.simd_gt(zero) & value.simd_lt(cap);
        store(open.select(load(simd, d_next, at), zero), d_pre, at);
    }
    d_pre.chunks_exact(k).for_each(|row| add(simd, row, d_pre_sum));

    weights.update_x.backward(simd, d_pre, Start::Zero, d_x);
    weights.update_m.backward(simd, d_pre, Start::Zero, d_aggregated);
    weights.update_g.backward(simd, d_pre_sum, Start::Zero, d_global);

    d_messages.fill(0.0);
    for (i, &parent) in parents.iter().enumerate() {
        let parent = parent as usize;
        if parent < s {
            let d = &d_aggregated[i * 2 * k..][..k];
            add(simd, d, &mut d_messages[parent * 3 * k..][..k]);
        }
    }
    for j in 0..s {
        let (sent, d) = (&messages[j * 3 * k..][..3 * k], &mut d_messages[j * 3 * k..][..3 * k]);
        let parent = parents[j] as usize;
        if parent != j && parent < a {
            let place = (2 * parent + 1) * k;
            let d_top = &mut d_aggregated[place..][..k];
            claim(simd, &sent[k..2 * k], &aggregated[place..][..k], d_top, &mut d[k..2 * k]);
        }
        claim(simd, &sent[2 * k..], global, d_global, &mut d[2 * k..]);
        for at in chunks(3 * k) {
            let open = load(simd, sent, at).simd_gt(zero);
            store(open.select(load(simd, d, at), zero), d, at);
        }
    }
    weights.message.backward(simd, &d_messages[..s * 3 * k], Start::Result, d_x);
}

/// Weight gradients of all steps at once. Rows are those of every step, one after the other.
pub struct Steps<'a> {
    pub x: &'a [f32],          // [rows, k]
    pub aggregated: &'a [f32], // [rows, 2k]
    pub d_pre: &'a [f32],      // [rows, k]
    pub d_messages: &'a [f32], // [rows, 3k]
    pub globals: &'a [f32],    // [steps, k]
    pub d_pre_sums: &'a [f32], // [steps, k]
}

/// Adds them to `gradients`.
#[inline(always)]
pub fn weights_backward<S: Simd>(
    simd: S,
    k: usize,
    weights: &Weights,
    steps: Steps,
    gradients: &mut [f32],
) {
    let Steps { x, aggregated, d_pre, d_messages, globals, d_pre_sums } = steps;
    weights.update_x.weights_backward(simd, x, d_pre, gradients);
    weights.update_m.weights_backward(simd, aggregated, d_pre, gradients);
    weights.message.weights_backward(simd, x, d_messages, gradients);
    for row in d_messages.chunks_exact(3 * k) {
        add(simd, row, weights.message_bias.gradient(gradients));
    }
    weights.update_g.weights_backward(simd, globals, d_pre_sums, gradients);
}

/// top = max(top, row).
#[inline(always)]
fn keep_larger<S: Simd>(simd: S, row: &[f32], top: &mut [f32]) {
    for at in chunks(top.len()) {
        store(load(simd, top, at).max(load(simd, row, at)), top, at);
    }
}

/// Takes the gradient of each element of a maximum that this sender attained, so that no later
/// one gets it too.
#[inline(always)]
fn claim<S: Simd>(simd: S, sent: &[f32], top: &[f32], d_top: &mut [f32], d: &mut [f32]) {
    let zero = f32x8::splat(simd, 0.0);
    for at in chunks(top.len()) {
        let mine = load(simd, sent, at).simd_eq(load(simd, top, at));
        let gradient = load(simd, d_top, at);
        store(mine.select(gradient, zero), d, at);
        store(mine.select(zero, gradient), d_top, at);
    }
}
