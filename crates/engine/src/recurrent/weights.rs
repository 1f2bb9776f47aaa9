//! Weights laid out for the kernels, and their gradients in the same layout.
//!
//! A product x·W wants the matrix as \[in, out\]; the backward pass wants \[out, in\]. Both are copied
//! once per Adam step. Three products share the input z and so one matrix, `mix`:
//!
//! | columns | from | gives |
//! | --- | --- | --- |
//! | 0 .. k | receiver half of `message` | aᵢ |
//! | k .. 2k | z half of `update` | cᵢ |
//! | 2k .. 3k | sender half of `message` | bⱼ |
//!
//! Messages are ReLU(aᵢ + bⱼ), so their maximum over j is ReLU(aᵢ + maxⱼ bⱼ), exactly: rounding is
//! monotone, and so is ReLU. With [`Graph::SelfOnly`] the sender is the receiver; its half is added
//! to the receiver's and `mix` has only the first two blocks.
//!
//! Query and key only ever meet in ⟨W_q x, W_k x'⟩ = xᵀ (W_qᵀ W_k) x', so they are folded into one
//! matrix, `fold`, and so are their gradients.

use crate::{
    Config, Graph, Parameters,
    rows::{Rows, RowsMut},
};

/// Forward and backward copies of one model's weights.
#[derive(Clone, Debug)]
pub struct Weights {
    pub encoder_e: Vec<f32>,    // [m, k]
    pub encoder_h: Vec<f32>,    // [k, k], or empty
    pub encoder_bias: Vec<f32>, // [k]
    pub mix: Vec<f32>,          // [k, mix_width]
    pub mix_bias: Vec<f32>,     // [mix_width]: message.bias | update.bias | 0
    pub update_m: Vec<f32>,     // [k, k]
    pub decoder: Vec<f32>,      // [2k]
    pub decoder_bias: f32,
    pub mask: Vec<f32>, // [2k], or empty
    pub mask_bias: f32,
    pub fold: Vec<f32>, // [x, x], or empty
    // The same the other way round, for gradients with respect to inputs.
    pub encoder_h_t: Vec<f32>, // [k, k]
    pub mix_t: Vec<f32>,       // [mix_width, k]
    pub update_m_t: Vec<f32>,  // [k, k]
    pub fold_t: Vec<f32>,      // [x, x]
    /// 3k, or 2k with [`Graph::SelfOnly`].
    pub mix_width: usize,
    /// The width of what query and key read.
    pub attention_width: usize,
}

impl Weights {
    /// Lays out `parameters`.
    pub fn new(config: &Config, parameters: &Parameters) -> Weights {
        let (k, m, x) = (config.k, config.m(), config.attention_width());
        let carried = config.carried();
        let encoder = parameters.tensor("encoder.weight");
        let message = parameters.tensor("message.weight");
        let update = parameters.tensor("update.weight");
        let mix_width = mix_width(config);

        let encoder_e = transposed(encoder, m + carried, 0, m, k);
        let encoder_h = transposed(encoder, m + carried, m, carried, k);
        let update_m = transposed(update, 2 * k, k, k, k);
        let receiver = transposed(message, 2 * k, 0, k, k);
        let sender = transposed(message, 2 * k, k, k, k);
        let update_z = transposed(update, 2 * k, 0, k, k);
        let mut mix = vec![0.0; k * mix_width];
        for i in 0..k {
            let row = &mut mix[i * mix_width..][..mix_width];
            row[..k].copy_from_slice(&receiver[i * k..][..k]);
            row[k..2 * k].copy_from_slice(&update_z[i * k..][..k]);
            let sender = &sender[i * k..][..k];
            if config.graph == Graph::SelfOnly {
                row[..k].iter_mut().zip(sender).for_each(|(r, s)| *r += s);
            } else {
                row[2 * k..].copy_from_slice(sender);
            }
        }
        let mut mix_bias = vec![0.0; mix_width];
        mix_bias[..k].copy_from_slice(parameters.tensor("message.bias"));
        mix_bias[k..2 * k].copy_from_slice(parameters.tensor("update.bias"));

        let mut fold = Vec::new();
        if config.has_attention() {
            let (query, key) = (parameters.tensor("query.weight"), parameters.tensor("key.weight"));
            fold = vec![0.0; x * x];
            for o in 0..k {
                for a in 0..x {
                    for b in 0..x {
                        fold[a * x + b] += query[o * x + a] * key[o * x + b];
                    }
                }
            }
        }
        let has_masks = config.has_masks();
        Weights {
            encoder_h_t: transposed(&encoder_h, k, 0, k, k),
            mix_t: transposed(&mix, mix_width, 0, mix_width, k),
            update_m_t: transposed(&update_m, k, 0, k, k),
            fold_t: if fold.is_empty() { Vec::new() } else { transposed(&fold, x, 0, x, x) },
            encoder_e,
            encoder_h,
            encoder_bias: parameters.tensor("encoder.bias").to_vec(),
            mix,
            mix_bias,
            update_m,
            decoder: parameters.tensor("decoder.weight").to_vec(),
            decoder_bias: parameters.tensor("decoder.bias")[0],
            mask: if has_masks { parameters.tensor("mask.weight").to_vec() } else { Vec::new() },
            mask_bias: if has_masks { parameters.tensor("mask.bias")[0] } else { 0.0 },
            fold,
            mix_width,
            attention_width: x,
        }
    }
}

/// Gradients in the layout of [`Weights`].
#[derive(Clone, Debug)]
pub struct WeightGradients {
    pub encoder_e: Vec<f32>,
    pub encoder_h: Vec<f32>,
    pub encoder_bias: Vec<f32>,
    pub mix: Vec<f32>,
    /// The sender block of `mix`, as \[out, in\], where it is sparse.
    pub sender_t: Vec<f32>,
    pub mix_bias: Vec<f32>,
    pub update_m: Vec<f32>,
    pub decoder: Vec<f32>,
    pub decoder_bias: Vec<f32>,
    pub mask: Vec<f32>,
    pub mask_bias: Vec<f32>,
    pub fold: Vec<f32>,
}

/// References to all parts.
macro_rules! parts {
    ($all:ident, $($borrow:tt)+) => {
        [
            $($borrow)+ $all.encoder_e,
            $($borrow)+ $all.encoder_h,
            $($borrow)+ $all.encoder_bias,
            $($borrow)+ $all.mix,
            $($borrow)+ $all.sender_t,
            $($borrow)+ $all.mix_bias,
            $($borrow)+ $all.update_m,
            $($borrow)+ $all.decoder,
            $($borrow)+ $all.decoder_bias,
            $($borrow)+ $all.mask,
            $($borrow)+ $all.mask_bias,
            $($borrow)+ $all.fold,
        ]
    };
}

impl WeightGradients {
    /// Zeros for one model.
    pub fn zeros(config: &Config) -> WeightGradients {
        let (k, m, x) = (config.k, config.m(), config.attention_width());
        let width = mix_width(config);
        let zeros = |size: usize| vec![0.0; size];
        WeightGradients {
            encoder_e: zeros(m * k),
            encoder_h: zeros(config.carried() * k),
            encoder_bias: zeros(k),
            mix: zeros(k * width),
            sender_t: zeros(if has_sparse_senders(config) { k * k } else { 0 }),
            mix_bias: zeros(width),
            update_m: zeros(k * k),
            decoder: zeros(2 * k),
            decoder_bias: zeros(1),
            mask: zeros(if config.has_masks() { 2 * k } else { 0 }),
            mask_bias: zeros(1),
            fold: zeros(if config.has_attention() { x * x } else { 0 }),
        }
    }

    /// Adds another sequence's gradients.
    pub fn add(&mut self, other: &WeightGradients) {
        for (mine, theirs) in parts!(self, &mut).into_iter().zip(parts!(other, &)) {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
    }

    /// Back to zeros.
    pub fn clear(&mut self) {
        parts!(self, &mut).into_iter().for_each(|part| part.fill(0.0));
    }

    /// Undoes the layout: gradients of the parameters themselves.
    pub fn unpack(&self, config: &Config, parameters: &Parameters, into: &mut Parameters) {
        let (k, m, x) = (config.k, config.m(), config.attention_width());
        let width = mix_width(config);
        let (encoder, carried) = (into.tensor_mut("encoder.weight"), config.carried());
        transpose_into(Rows::new(&self.encoder_e, k), 0, m, RowsMut::new(encoder, m + carried), 0);
        transpose_into(
            Rows::new(&self.encoder_h, k),
            0,
            carried,
            RowsMut::new(encoder, m + carried),
            m,
        );
        into.tensor_mut("encoder.bias").copy_from_slice(&self.encoder_bias);
        let message = into.tensor_mut("message.weight");
        transpose_into(Rows::new(&self.mix, width), 0, k, RowsMut::new(message, 2 * k), 0);
        match config.graph {
            // The sender is the receiver, and its gradient the same.
            Graph::SelfOnly => {
                transpose_into(Rows::new(&self.mix, width), 0, k, RowsMut::new(message, 2 * k), k)
            }
            _ if has_sparse_senders(config) => {
                for (row, sender) in message.chunks_exact_mut(2 * k).zip(self.sender_t.chunks(k)) {
                    row[k..].copy_from_slice(sender);
                }
            }
            _ => transpose_into(
                Rows::new(&self.mix, width),
                2 * k,
                k,
                RowsMut::new(message, 2 * k),
                k,
            ),
        }
        into.tensor_mut("message.bias").copy_from_slice(&self.mix_bias[..k]);
        let update = into.tensor_mut("update.weight");
        transpose_into(Rows::new(&self.mix, width), k, k, RowsMut::new(update, 2 * k), 0);
        transpose_into(Rows::new(&self.update_m, k), 0, k, RowsMut::new(update, 2 * k), k);
        into.tensor_mut("update.bias").copy_from_slice(&self.mix_bias[k..2 * k]);
        into.tensor_mut("decoder.weight").copy_from_slice(&self.decoder);
        into.tensor_mut("decoder.bias").copy_from_slice(&self.decoder_bias);
        if config.has_masks() {
            into.tensor_mut("mask.weight").copy_from_slice(&self.mask);
            into.tensor_mut("mask.bias").copy_from_slice(&self.mask_bias);
        }
        if config.has_attention() {
            // fold = W_qᵀ W_k: ∂W_q = W_k ∂foldᵀ and ∂W_k = W_q ∂fold.
            let (query, key) = (parameters.tensor("query.weight"), parameters.tensor("key.weight"));
            let mut d_query = vec![0.0; k * x];
            let mut d_key = vec![0.0; k * x];
            for o in 0..k {
                for a in 0..x {
                    for b in 0..x {
                        let d = self.fold[a * x + b];
                        d_query[o * x + a] += d * key[o * x + b];
                        d_key[o * x + b] += d * query[o * x + a];
                    }
                }
            }
            into.tensor_mut("query.weight").copy_from_slice(&d_query);
            into.tensor_mut("key.weight").copy_from_slice(&d_key);
        }
    }
}

fn has_sparse_senders(config: &Config) -> bool {
    config.message_aggregation().has_sparse_senders(config.graph)
}

fn mix_width(config: &Config) -> usize {
    if config.graph == Graph::SelfOnly { 2 * config.k } else { 3 * config.k }
}

/// Columns `from .. from + columns` of `matrix` \[rows, stride\], as \[columns, rows\].
fn transposed(matrix: &[f32], stride: usize, from: usize, columns: usize, rows: usize) -> Vec<f32> {
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
fn transpose_into(matrix: Rows, from: usize, inputs: usize, target: RowsMut, at: usize) {
    for (o, row) in target.data.chunks_exact_mut(target.width).enumerate() {
        for (i, value) in row[at..at + inputs].iter_mut().enumerate() {
            *value = matrix.data[i * matrix.width + from + o];
        }
    }
}
