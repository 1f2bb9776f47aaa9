//! Equations 2 and 8, one application of a processor to x \[n, k\]:
//!
//! mᵢ = maxⱼ ReLU(message\[xᵢ ‖ xⱼ\]) = maxⱼ ReLU(aᵢ + bⱼ) over the neighbours j of i,
//! hᵢ = ReLU(update\[xᵢ ‖ mᵢ\]) = ReLU(cᵢ + W mᵢ).
//!
//! With several channels, each of which sends messages along a graph of its own by a message
//! function of its own, there is an m and a W of each. All products with x share one matrix, `mix`:
//!
//! | columns, of H channels | from | gives |
//! | --- | --- | --- |
//! | 0 .. Hk | receiver halves of the messages | aᵢ of each channel |
//! | Hk .. (H + 1)k | the x part of `update` | cᵢ |
//! | (H + 1)k .. (2H + 1)k | sender halves of the messages | bⱼ of each channel |
//!
//! The paper's models have one channel. With [`Graph::SelfOnly`] the sender is the receiver; its
//! half is added to the receiver's and `mix` has only the first two blocks.

use fearless_simd::prelude::*;

use super::{
    names::LayerNames,
    step::{AllSenders, Record, Scratch},
    tape::Pass,
};
use crate::{
    Config, Graph,
    aggregation::{AggregateGradients, Aggregated, Message, Senders},
    graph::Neighbours,
    kernels::{
        matmul::{Start, Then, mat, mat_mut, matmul, matmul_transposed},
        rows::{add_rows, gate},
    },
    packing::{Matrix, Packer, transposed},
    rows::Rows,
};

/// One processor's weights.
#[derive(Clone, Debug)]
pub struct Layer {
    mix: Matrix,          // [k, width]
    bias: Matrix,         // [width]: of messages | of update | 0
    update_m: Matrix,     // [channels, k, k]: W
    sender_t: Matrix,     // [k, k] as [out, in]: only a gradient, where ∂b is sparse
    mix_t: Vec<f32>,      // [width, k]
    update_m_t: Vec<f32>, // [channels, k, k], each the other way round
    channels: usize,
    pub width: usize,
}

/// Whether ∂b of the complete graph goes its own way.
pub fn has_sparse_senders(config: &Config) -> bool {
    config.message_aggregation.has_sparse_senders(config.graph)
}

impl Layer {
    /// The processor that the answer is read from (0), or the one that only pointers read (1).
    pub fn new(config: &Config, processor: usize, packer: &mut Packer) -> Layer {
        let (k, channels, names) = (config.k, config.channels(), LayerNames::of(config, processor));
        let is_alone = config.graph == Graph::SelfOnly;
        let width = if is_alone { 2 * k } else { (2 * channels + 1) * k };
        let (mut mix, mut bias) = (packer.zeros(k * width), packer.zeros(width));
        let mut update_m = packer.zeros(channels * k * k);
        let is_sparse = has_sparse_senders(config);
        let sender_t = packer.zeros(if is_sparse { k * k } else { 0 });
        for (channel, &[weight, its_bias]) in names.messages.iter().enumerate() {
            packer.columns(&mut mix, weight, 0..k, channel * k, width);
            let sender = if is_alone { 0 } else { (channels + 1 + channel) * k };
            if is_sparse {
                packer.weights(&mut mix, weight, k..2 * k, sender, [width, 1]);
                packer.gradients(&sender_t, weight, k..2 * k, 0, [1, k]);
            } else {
                packer.columns(&mut mix, weight, k..2 * k, sender, width);
            }
            packer.columns(&mut bias, its_bias, 0..1, channel * k, 1);
            let inputs = (channel + 1) * k..(channel + 2) * k;
            packer.columns(&mut update_m, names.update[0], inputs, channel * k * k, k);
        }
        packer.columns(&mut mix, names.update[0], 0..k, channels * k, width);
        packer.columns(&mut bias, names.update[1], 0..1, channels * k, 1);
        let mix_t = mix.transposed(width);
        let update_m_t = update_m.chunks_exact(k * k).flat_map(|w| transposed(w, k)).collect();
        Layer { mix, bias, update_m, sender_t, mix_t, update_m_t, channels, width }
    }

    /// The message function of a channel.
    fn message(&self, k: usize, channel: usize) -> Message<'_> {
        let (receiver, sender) = (channel * k, (self.channels + 1 + channel) * k);
        let Layer { mix, bias, mix_t, width, .. } = self;
        Message { mix, bias, mix_t, width: *width, receiver, sender }
    }

    /// Columns of `mix` that the shared products of the backward pass see: all but a sparse ∂b.
    fn shared_columns(&self, k: usize) -> usize {
        if self.sender_t.is_empty() { self.width } else { 2 * k }
    }

    /// b of every channel, \[rows, channels · k\], from x \[rows, k\]; nothing where nobody sends.
    #[inline(always)]
    pub fn send<S: Simd>(&self, simd: S, config: &Config, x: &[f32], sent: &mut [f32]) {
        if config.graph == Graph::SelfOnly {
            return;
        }
        let (k, width) = (config.k, self.channels * config.k);
        let b = mat(&self.mix[(self.channels + 1) * k..], self.width);
        let shape = (x.len() / k, k, width);
        matmul(simd, shape, mat(x, k), b, Start::Zero, Then::Store, mat_mut(sent, width));
    }

    /// h \[rows, k\] from x \[rows, k\], of up to [`ROWS`](super::step::ROWS) rows of which the first is
    /// number `offset` of its block and node `first`.
    #[inline(always)]
    pub fn forward<S: Simd, R: Record>(
        &self,
        simd: S,
        config: &Config,
        all: AllSenders,
        (offset, first): (usize, usize),
        (x, h): (&[f32], &mut [f32]),
        (record, scratch): (&mut R, &mut Scratch),
    ) {
        let (k, channels) = (config.k, self.channels);
        let (count, width) = (x.len() / k, (channels + 1) * k);
        // a | c
        let (start, b) = (Start::Row(&self.bias), mat(&self.mix, self.width));
        let mixed = mat_mut(&mut scratch.mixed, width);
        matmul(simd, (count, k, width), mat(x, k), b, start, Then::Store, mixed);
        for channel in 0..channels {
            // m = max ReLU(a + b)
            let AllSenders { neighbours, sent, by_all } = all;
            let (graph, neighbours) = (config.graph, &neighbours[channel]);
            let senders = Senders { graph, neighbours, sent, channel, channels, by_all };
            let (m, sources) = record.messages(channel, offset, count, k, &mut scratch.m);
            let a = Rows::new(&scratch.mixed[channel * k..][..count * width], width);
            config.message_aggregation.aggregate(simd, senders, first, a, m, sources);
            // h = ReLU(c + W m)
            let c = Start::Mat(mat(&scratch.mixed[channels * k..], width));
            let start = if channel == 0 { c } else { Start::Result };
            let then = if channel + 1 == channels { Then::Relu } else { Then::Store };
            let w = mat(&self.update_m[channel * k * k..], k);
            matmul(simd, (count, k, k), mat(m, k), w, start, then, mat_mut(h, k));
        }
    }

    /// From ∂h \[n, k\] of one operation to ∂x \[n, k\], which is added to, and to ∂`mixed` of `pass`.
    /// ∂h is spent.
    #[inline(always)]
    pub fn backward<S: Simd>(
        &self,
        simd: S,
        config: &Config,
        step: LayerBackward,
        d_h: &mut [f32],
        d_x: &mut [f32],
        gradients: &mut [f32],
    ) {
        let LayerBackward { pass, neighbours, by_all, halves, place: (t, ops, at), x } = step;
        let (k, width, channels) = (config.k, self.width, self.channels);
        let n = x.len() / k;
        let d_mixed = &mut pass.d_mixed[at * width..][..n * width];
        let h = &pass.h[(t + 1) * n * k..][..n * k];
        // h = ReLU(c + W m): ∂c, and from it ∂m, which takes the buffer of ∂h.
        let rows = h.chunks_exact(k).zip(d_h.chunks_exact(k));
        for ((h, d_h), d_mixed) in rows.zip(d_mixed.chunks_exact_mut(width)) {
            gate(simd, h, d_h, &mut d_mixed[channels * k..][..k]);
        }
        let d_m = d_h;
        let each = pass.sources.len() / (channels * ops);
        for (channel, neighbours) in neighbours.iter().enumerate() {
            let d_c = mat(&d_mixed[channels * k..], width);
            let w_t = mat(&self.update_m_t[channel * k * k..], k);
            matmul(simd, (n, k, k), d_c, w_t, Start::Zero, Then::Store, mat_mut(d_m, k));
            // m = max ReLU(a + b): ∂a and ∂b.
            let step = channel * ops + t;
            let aggregated = Aggregated {
                graph: config.graph,
                neighbours,
                x,
                m: &pass.m[step * n * k..][..n * k],
                sources: &pass.sources[step * each..][..each],
                message: self.message(k, channel),
            };
            let into = AggregateGradients {
                mixed: &mut *d_mixed,
                x: &mut *d_x,
                sender: self.sender_t.gradient(gradients),
                by_all: &mut *by_all,
                halves: &mut *halves,
            };
            config.message_aggregation.aggregate_backward(simd, aggregated, d_m, into);
        }
        let shape = (n, self.shared_columns(k), k);
        let (a, b) = (mat(d_mixed, width), mat(&self.mix_t, k));
        matmul(simd, shape, a, b, Start::Result, Then::Store, mat_mut(d_x, k));
    }

    /// The gradients of the weights from many rows: x \[rows, k\], and `pass`, which has m of every
    /// channel from the number `from` of its operations' numbers on, and ∂`mixed`.
    #[inline(always)]
    pub fn weights_backward<S: Simd>(
        &self,
        simd: S,
        (k, rows): (usize, usize),
        x: &[f32],
        (pass, from): (&Pass, usize),
        gradients: &mut [f32],
    ) {
        let (width, channels) = (self.width, self.channels);
        let d_mixed = mat(&pass.d_mixed, width);
        let shape = (k, rows, self.shared_columns(k));
        let into = mat_mut(self.mix.gradient(gradients), width);
        matmul_transposed(simd, shape, mat(x, k), d_mixed, into);
        let d_c = mat(&pass.d_mixed[channels * k..], width);
        let all_m = pass.m.chunks_exact(pass.m.len() / channels);
        for (m, into) in all_m.zip(self.update_m.gradient(gradients).chunks_exact_mut(k * k)) {
            matmul_transposed(simd, (k, rows, k), mat(&m[from..], k), d_c, mat_mut(into, k));
        }
        let into = &mut self.bias.gradient(gradients)[..(channels + 1) * k];
        add_rows(simd, &pass.d_mixed[..rows * width], width, into);
    }
}

/// What the backward pass of one operation reads.
pub struct LayerBackward<'a> {
    pub pass: &'a mut Pass,
    pub neighbours: &'a [Neighbours], // one of each channel
    pub by_all: &'a mut [f32],        // [k], scratch
    pub halves: &'a mut Vec<f32>,     // scratch
    /// The operation, how many there are, and its first row in the block.
    pub place: (usize, usize, usize),
    pub x: &'a [f32], // [n, k]: what it read
}
