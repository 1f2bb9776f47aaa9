//! One processor (equations 2 and 8) laid out for the kernels, and its gradients.
//!
//! All products with the layer's input x share one matrix, `mix`. With H channels, each of which sends
//! messages along a graph of its own by a message function of its own, its columns are:
//!
//! | columns | from | gives |
//! | --- | --- | --- |
//! | 0 .. Hk | receiver halves of the messages | aᵢ of each channel |
//! | Hk .. (H + 1)k | the x part of `update` | cᵢ |
//! | (H + 1)k .. (2H + 1)k | sender halves of the messages | bⱼ of each channel |
//!
//! The paper's models have one channel. With [`Graph::SelfOnly`] the sender is the receiver; its half
//! is added to the receiver's and `mix` has only the first two blocks.

use super::names::LayerNames;
use crate::{
    Config, Graph, Parameters,
    rows::{Rows, RowsMut},
};

/// Forward and backward copies of one processor's weights.
#[derive(Clone, Debug)]
pub struct Layer {
    pub mix: Vec<f32>,        // [k, width]
    pub mix_bias: Vec<f32>,   // [width]: biases of messages | update.bias | 0
    pub update_m: Vec<f32>,   // [channels, k, k]
    pub mix_t: Vec<f32>,      // [width, k]
    pub update_m_t: Vec<f32>, // [channels, k, k], each the other way round
    pub channels: usize,
    pub width: usize,
}

impl Layer {
    pub fn new(config: &Config, names: &LayerNames, parameters: &Parameters) -> Layer {
        let (k, channels, width) = (config.k, config.channels(), mix_width(config));
        let update_width = (channels + 1) * k;
        let update = parameters.tensor(names.update[0]);
        let update_x = transposed(update, update_width, 0, k, k);
        let mut mix = vec![0.0; k * width];
        let mut mix_bias = vec![0.0; width];
        let (mut update_m, mut update_m_t) = (Vec::new(), Vec::new());
        for (channel, message) in names.messages.iter().enumerate() {
            let weight = parameters.tensor(message[0]);
            let receiver = transposed(weight, 2 * k, 0, k, k);
            let sender = transposed(weight, 2 * k, k, k, k);
            for i in 0..k {
                let row = &mut mix[i * width..][..width];
                row[channel * k..][..k].copy_from_slice(&receiver[i * k..][..k]);
                let sender = &sender[i * k..][..k];
                if config.graph == Graph::SelfOnly {
                    row[..k].iter_mut().zip(sender).for_each(|(r, s)| *r += s);
                } else {
                    row[sender_column(k, channels, channel)..][..k].copy_from_slice(sender);
                }
            }
            mix_bias[channel * k..][..k].copy_from_slice(parameters.tensor(message[1]));
            let share = transposed(update, update_width, (channel + 1) * k, k, k);
            update_m_t.extend(transposed(&share, k, 0, k, k));
            update_m.extend(share);
        }
        for i in 0..k {
            mix[i * width + channels * k..][..k].copy_from_slice(&update_x[i * k..][..k]);
        }
        mix_bias[channels * k..][..k].copy_from_slice(parameters.tensor(names.update[1]));
        let mix_t = transposed(&mix, width, 0, width, k);
        Layer { mix, mix_bias, update_m, mix_t, update_m_t, channels, width }
    }

    /// The column of `mix` at which a channel's sender begins.
    #[inline(always)]
    pub fn sender(&self, k: usize, channel: usize) -> usize {
        sender_column(k, self.channels, channel)
    }
}

/// Gradients in the layout of [`Layer`].
#[derive(Clone, Debug)]
pub struct LayerGradients {
    pub mix: Vec<f32>,
    /// The sender block of `mix`, as \[out, in\], where it is sparse.
    pub sender_t: Vec<f32>,
    pub mix_bias: Vec<f32>,
    pub update_m: Vec<f32>,
}

impl LayerGradients {
    pub fn zeros(config: &Config) -> LayerGradients {
        let (k, width) = (config.k, mix_width(config));
        LayerGradients {
            mix: vec![0.0; k * width],
            sender_t: vec![0.0; if has_sparse_senders(config) { k * k } else { 0 }],
            mix_bias: vec![0.0; width],
            update_m: vec![0.0; config.channels() * k * k],
        }
    }

    /// Undoes the layout.
    pub fn unpack(&self, config: &Config, names: &LayerNames, into: &mut Parameters) {
        let (k, channels, width) = (config.k, config.channels(), mix_width(config));
        let mix = Rows::new(&self.mix, width);
        for (channel, name) in names.messages.iter().enumerate() {
            let message = into.tensor_mut(name[0]);
            transpose_into(mix, channel * k, k, RowsMut::new(message, 2 * k), 0);
            if config.graph == Graph::SelfOnly {
                // The sender is the receiver, and its gradient the same.
                transpose_into(mix, 0, k, RowsMut::new(message, 2 * k), k);
            } else if has_sparse_senders(config) {
                for (row, sender) in message.chunks_exact_mut(2 * k).zip(self.sender_t.chunks(k)) {
                    row[k..].copy_from_slice(sender);
                }
            } else {
                let from = sender_column(k, channels, channel);
                transpose_into(mix, from, k, RowsMut::new(message, 2 * k), k);
            }
            into.tensor_mut(name[1]).copy_from_slice(&self.mix_bias[channel * k..][..k]);
        }
        let update = into.tensor_mut(names.update[0]);
        let update_width = (channels + 1) * k;
        transpose_into(mix, channels * k, k, RowsMut::new(update, update_width), 0);
        for (channel, share) in self.update_m.chunks_exact(k * k).enumerate() {
            let update = RowsMut::new(update, update_width);
            transpose_into(Rows::new(share, k), 0, k, update, (channel + 1) * k);
        }
        into.tensor_mut(names.update[1]).copy_from_slice(&self.mix_bias[channels * k..][..k]);
    }
}

/// Whether ∂b of the complete graph goes its own way.
pub fn has_sparse_senders(config: &Config) -> bool {
    config.message_aggregation.has_sparse_senders(config.graph)
}

fn mix_width(config: &Config) -> usize {
    let blocks = if config.graph == Graph::SelfOnly { 2 } else { 2 * config.channels() + 1 };
    blocks * config.k
}

fn sender_column(k: usize, channels: usize, channel: usize) -> usize {
    (channels + 1 + channel) * k
}

/// Columns `from .. from + columns` of `matrix` \[rows, stride\], as \[columns, rows\].
pub fn transposed(
    matrix: &[f32],
    stride: usize,
    from: usize,
    columns: usize,
    rows: usize,
) -> Vec<f32> {
    let mut result = vec![0.0; columns * rows];
    for (i, row) in matrix.chunks_exact(stride).take(rows).enumerate() {
        for (j, &value) in row[from..from + columns].iter().enumerate() {
            result[j * rows + i] = value;
        }
    }
    result
}

/// Writes columns `from ..` of `matrix` \[inputs, stride\] as rows of `target` \[out, its width\],
/// from its column `at`; as many of either as `target` has rows and `matrix` has `inputs`.
pub fn transpose_into(matrix: Rows, from: usize, inputs: usize, target: RowsMut, at: usize) {
    for (o, row) in target.data.chunks_exact_mut(target.width).enumerate() {
        for (i, value) in row[at..at + inputs].iter_mut().enumerate() {
            *value = matrix.data[i * matrix.width + from + o];
        }
    }
}
