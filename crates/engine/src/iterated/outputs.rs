//! From the last x to answer, masks and pointers (equations 3, 4 and 6), forward and backward.
//!
//! Everything is over the a participants; u stands in place 0 and v in place 1.

use fearless_simd::prelude::*;

use super::{
    forward::StepContext,
    reach::Reach,
    weights::{BIASES, Weights},
};
use crate::{
    Candidates, Config,
    aggregation::Aggregation,
    kernels::{
        LANES,
        matmul::{Start, Then},
        rows::{add, axpy, dot},
    },
    masks::{outer_add, weighted_sum},
};

/// How the participants become what the decoder reads.
const READOUT: Aggregation = Aggregation::Max;

/// Buffers of the outputs.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    pub e: Vec<f32>,           // [a, m]
    pub z: Vec<f32>,           // [a, k]
    pub fixed: Vec<f32>,       // [a, k]: update_z · z + bias
    pub zx: Vec<f32>,          // [a, 2k]
    pub top: Vec<f32>,         // [2k]: max z | max x
    pub top_sources: Vec<u32>, // [2k]: the place each element came from
    pub logit: f32,            // the answer's
    pub mask_logits: Vec<f32>, // [a], padded to whole vectors
    pub ask: Vec<f32>,         // [a, k + BIASES]: query | relation biases
    pub keys: Vec<f32>,        // [a, k]
    ask_start: Vec<f32>,       // [k + BIASES]: the share of max x, the same for all
    priorities: Vec<f32>,      // [a], where they are compared
}

/// Gradients of the outputs' buffers.
#[derive(Clone, Debug, Default)]
pub struct OutputGradients {
    pub d_zx: Vec<f32>,   // [a, 2k]
    pub d_ask: Vec<f32>,  // [a, k + BIASES]
    pub d_keys: Vec<f32>, // [a, k]
    pub d_z: Vec<f32>,    // [a, k]
    d_ask_sum: Vec<f32>,  // [k + BIASES]
    d_top: Vec<f32>,      // [k]
}

impl Outputs {
    /// Equation 1 without h: z = encoder\[e\], and the share of z in every step.
    #[inline(always)]
    pub fn encode<S: Simd>(&mut self, simd: S, context: &StepContext, reach: &Reach) {
        let StepContext { config, operation, priorities, pointers, .. } = *context;
        let (k, m, a) = (config.k, config.m(), reach.nodes.len());
        let w = &context.weights;
        self.priorities.clear();
        if w.settings.compare_priorities {
            self.priorities.extend(reach.nodes.iter().map(|&node| priorities[node as usize]));
        }
        self.e.clear();
        self.z.resize(a * k, 0.0);
        for (&node, row) in reach.nodes.iter().zip(self.z.chunks_exact_mut(k)) {
            let (priority, pointer) = (priorities[node as usize], pointers[node as usize]);
            row.copy_from_slice(&w.encoder_bias);
            for (input, column) in config.features.iter().zip(w.encoder.chunks_exact(k)) {
                let value = input.value(node, operation, priority, pointer);
                self.e.push(value);
                if value != 0.0 {
                    axpy(simd, value, column, row);
                }
            }
        }
        debug_assert_eq!(self.e.len(), a * m);
        self.fixed.resize(a * k, 0.0);
        let start = Start::Row(&w.update_bias);
        w.update_z.forward(simd, &self.z, start, Then::Store, &mut self.fixed);
    }

    /// Answer and mask logits from the last x \[a, k\].
    #[inline(always)]
    pub fn answer<S: Simd>(&mut self, simd: S, k: usize, weights: &Weights, x: &[f32]) {
        let (w, a) = (&weights, x.len() / k);
        self.zx.resize(a * 2 * k, 0.0);
        let rows = self.z.chunks_exact(k).zip(x.chunks_exact(k));
        for (into, (z, x)) in self.zx.chunks_exact_mut(2 * k).zip(rows) {
            into[..k].copy_from_slice(z);
            into[k..].copy_from_slice(x);
        }
        self.top.clear();
        self.top.resize(2 * k, READOUT.nothing());
        self.top_sources.clear();
        self.top_sources.resize(2 * k, 0);
        READOUT.accumulate(simd, &self.zx, 0, &mut self.top, &mut self.top_sources[..]);
        self.logit = dot(simd, &self.top, &w.decoder) + w.decoder_bias[0];
        self.mask_logits.clear();
        self.mask_logits.resize(a.next_multiple_of(LANES), 0.0);
        for (logit, zx) in self.mask_logits.iter_mut().zip(self.zx.chunks_exact(2 * k)) {
            *logit = dot(simd, zx, &w.mask) + w.mask_bias[0];
        }
    }

    /// Queries, relation biases and keys of all participants.
    #[inline(always)]
    pub fn ask<S: Simd>(&mut self, simd: S, k: usize, weights: &Weights) {
        let (w, a, width) = (&weights, self.zx.len() / (2 * k), k + BIASES);
        self.ask_start.clear();
        self.ask_start.extend_from_slice(&w.ask_bias);
        for (&value, row) in self.top[k..].iter().zip(w.ask_top.weight.chunks_exact(width)) {
            axpy(simd, value, row, &mut self.ask_start);
        }
        self.ask.resize(a * width, 0.0);
        let start = Start::Row(&self.ask_start);
        w.ask.forward(simd, &self.zx, start, Then::Store, &mut self.ask);
        self.keys.resize(a * k, 0.0);
        w.key.forward(simd, &self.zx, Start::Zero, Then::Store, &mut self.keys);
    }

    /// The score by which the node in place i would be aimed at the one in place j.
    #[inline(always)]
    pub fn score<S: Simd>(&self, simd: S, k: usize, reach: &Reach, i: usize, j: usize) -> f32 {
        let (query, biases) = self.ask[i * (k + BIASES)..][..k + BIASES].split_at(k);
        let mut score = dot(simd, query, &self.keys[j * k..][..k]) * scale(k);
        self.for_each_relation(reach, i, j, |relation| score += biases[relation]);
        score
    }

    /// Calls `visit` with the number of every relation of i to j: self, parent, child, u, v, lower
    /// priority.
    #[inline(always)]
    fn for_each_relation(&self, reach: &Reach, i: usize, j: usize, mut visit: impl FnMut(usize)) {
        if i == j {
            visit(0);
        } else {
            if reach.parents[i] as usize == j {
                visit(1);
            }
            if reach.parents[j] as usize == i {
                visit(2);
            }
        }
        if j == 0 {
            visit(3);
        }
        if j == 1 {
            visit(4);
        }
        if !self.priorities.is_empty() && self.priorities[i] < self.priorities[j] {
            visit(5);
        }
    }
}

/// 1/√k.
fn scale(k: usize) -> f32 {
    1.0 / (k as f32).sqrt()
}

/// The places a pointer may be aimed at, `visited` being those with mask 0. Nodes that are
/// re-aimed have mask 0, so each is among its own candidates.
pub fn candidates(config: &Config, visited: &[u32], participants: usize, into: &mut Vec<u32>) {
    into.clear();
    match config.candidates {
        Candidates::Visited => into.extend_from_slice(visited),
        Candidates::All => into.extend(0..participants as u32),
    }
}

impl OutputGradients {
    /// Makes room for a participants, with nothing in it.
    pub fn clear(&mut self, k: usize, a: usize) {
        for (buffer, width) in
            [(&mut self.d_zx, 2 * k), (&mut self.d_ask, k + BIASES), (&mut self.d_keys, k)]
        {
            buffer.clear();
            buffer.resize(a * width, 0.0);
        }
    }

    /// Notes ∂ of one score.
    #[inline(always)]
    pub fn score<S: Simd>(
        &mut self,
        simd: S,
        k: usize,
        (outputs, reach): (&Outputs, &Reach),
        (i, j): (usize, usize),
        d: f32,
    ) {
        let width = k + BIASES;
        let (d_query, d_biases) = self.d_ask[i * width..][..width].split_at_mut(k);
        outputs.for_each_relation(reach, i, j, |relation| d_biases[relation] += d);
        let d = d * scale(k);
        axpy(simd, d, &outputs.keys[j * k..][..k], d_query);
        axpy(simd, d, &outputs.ask[i * width..][..k], &mut self.d_keys[j * k..][..k]);
    }

    /// From ∂ of logits (answer, masks) and of queries, biases and keys to ∂z and ∂x.
    #[inline(always)]
    pub fn outputs<S: Simd>(
        &mut self,
        simd: S,
        k: usize,
        weights: &Weights,
        outputs: &Outputs,
        (d_logit, d_masks): (f32, &[f32]),
        gradients: &mut [f32],
    ) {
        let (w, width) = (&weights, k + BIASES);
        // (6)
        self.d_ask_sum.clear();
        self.d_ask_sum.resize(width, 0.0);
        self.d_ask.chunks_exact(width).for_each(|row| add(simd, row, &mut self.d_ask_sum));
        add(simd, &self.d_ask_sum, weights.ask_bias.gradient(gradients));
        let d_ask_top = weights.ask_top.weight.gradient(gradients);
        for (&value, row) in outputs.top[k..].iter().zip(d_ask_top.chunks_exact_mut(width)) {
            axpy(simd, value, &self.d_ask_sum, row);
        }
        let (zx, d_ask, d_keys) = (&outputs.zx, &self.d_ask, &self.d_keys);
        w.ask.weights_backward(simd, zx, d_ask, gradients);
        w.key.weights_backward(simd, zx, d_keys, gradients);
        let d_zx = &mut self.d_zx[..];
        w.ask.backward(simd, d_ask, Start::Zero, d_zx);
        w.key.backward(simd, d_keys, Start::Result, d_zx);
        // (3), and the share of max x in (6)
        self.d_top.clear();
        self.d_top.resize(k, 0.0);
        for (&d, row) in self.d_ask_sum.iter().zip(weights.ask_top.transposed.chunks_exact(k)) {
            axpy(simd, d, row, &mut self.d_top);
        }
        axpy(simd, d_logit, &outputs.top, weights.decoder.gradient(gradients));
        weights.decoder_bias.gradient(gradients)[0] += d_logit;
        READOUT.readout_backward(simd, d_logit, &w.decoder, &outputs.top_sources, d_zx);
        for (dimension, (&d, &from)) in self.d_top.iter().zip(&outputs.top_sources[k..]).enumerate()
        {
            d_zx[from as usize * 2 * k + k + dimension] += d;
        }
        // (4)
        outer_add(simd, d_masks, &w.mask, d_zx);
        weighted_sum(simd, d_masks, &outputs.zx, weights.mask.gradient(gradients));
        weights.mask_bias.gradient(gradients)[0] += d_masks.iter().sum::<f32>();
        // Halves.
        self.d_z.clear();
        self.d_z.extend(d_zx.chunks_exact(2 * k).flat_map(|row| &row[..k]));
    }

    /// The last x's half of ∂\[z ‖ x\].
    pub fn d_x(&self, k: usize, into: &mut [f32]) {
        for (into, row) in into.chunks_exact_mut(k).zip(self.d_zx.chunks_exact(2 * k)) {
            into.copy_from_slice(&row[k..]);
        }
    }

    /// The mirror of [`Outputs::encode`]; `d_fixed` \[a, k\] is ∂ of the share of z in every step,
    /// summed over steps.
    #[inline(always)]
    pub fn encode<S: Simd>(
        &mut self,
        simd: S,
        (k, m): (usize, usize),
        weights: &Weights,
        outputs: &Outputs,
        d_fixed: &[f32],
        gradients: &mut [f32],
    ) {
        weights.update_z.weights_backward(simd, &outputs.z, d_fixed, gradients);
        d_fixed
            .chunks_exact(k)
            .for_each(|row| add(simd, row, weights.update_bias.gradient(gradients)));
        weights.update_z.backward(simd, d_fixed, Start::Result, &mut self.d_z);
        for (e, d_z) in outputs.e.chunks_exact(m).zip(self.d_z.chunks_exact(k)) {
            add(simd, d_z, weights.encoder_bias.gradient(gradients));
            for (&value, column) in
                e.iter().zip(weights.encoder.gradient(gradients).chunks_exact_mut(k))
            {
                if value != 0.0 {
                    axpy(simd, value, d_z, column);
                }
            }
        }
    }
}
