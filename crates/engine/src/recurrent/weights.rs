//! Weights laid out for the kernels, and their gradients in the same layout.
//!
//! A product x·W wants the matrix as \[in, out\]; the backward pass wants \[out, in\]. Both are copied
//! once per Adam step. A processor's are in `layer.rs`.
//!
//! Query and key only ever meet in ⟨W_q x, W_k x'⟩ = xᵀ (W_qᵀ W_k) x', so they are folded into one
//! matrix, `fold`, and so are their gradients.

use super::{
    layer::{Layer, LayerGradients, transpose_into, transposed},
    names::{ATTENTION, LayerNames},
};
use crate::{
    Config, Parameters,
    rows::{Rows, RowsMut},
};

/// Forward and backward copies of one model's weights.
#[derive(Clone, Debug)]
pub struct Weights {
    pub encoder_e: Vec<f32>,    // [m, k]
    pub encoder_h: Vec<f32>,    // [k, k], or empty
    pub encoder_bias: Vec<f32>, // [k]
    /// The processor, and the second one that only pointers and masks read, if there is one.
    pub layers: Vec<Layer>,
    pub decoder: Vec<f32>, // [2k]
    pub decoder_bias: f32,
    pub mask: Vec<f32>, // [2k], or empty
    pub mask_bias: f32,
    /// Query and key of every pointer type; empty without attention.
    pub query_keys: Vec<QueryKey>,
    // The same the other way round, for gradients with respect to inputs.
    pub encoder_h_t: Vec<f32>, // [k, k]
    /// The width of what query and key read.
    pub attention_width: usize,
}

impl Weights {
    /// Lays out `parameters`.
    pub fn new(config: &Config, parameters: &Parameters) -> Weights {
        let (k, m, x) = (config.k, config.m(), config.attention_width());
        let carried = config.carried();
        let encoder = parameters.tensor("encoder.weight");
        let encoder_e = transposed(encoder, m + carried, 0, m, k);
        let encoder_h = transposed(encoder, m + carried, m, carried, k);

        let types = if config.has_attention() { config.types() } else { 0 };
        let has_masks = config.has_masks();
        Weights {
            encoder_h_t: transposed(&encoder_h, k, 0, k, k),
            encoder_e,
            encoder_h,
            encoder_bias: parameters.tensor("encoder.bias").to_vec(),
            layers: (0..config.processors())
                .map(|processor| Layer::new(config, &LayerNames::of(config, processor), parameters))
                .collect(),
            decoder: parameters.tensor("decoder.weight").to_vec(),
            decoder_bias: parameters.tensor("decoder.bias")[0],
            mask: if has_masks { parameters.tensor("mask.weight").to_vec() } else { Vec::new() },
            mask_bias: if has_masks { parameters.tensor("mask.bias")[0] } else { 0.0 },
            query_keys: ATTENTION[..types]
                .iter()
                .map(|names| QueryKey::new(k, x, names, parameters))
                .collect(),
            attention_width: x,
        }
    }
}

/// W_qᵀ W_k of one pointer type, and the same the other way round.
#[derive(Clone, Debug)]
pub struct QueryKey {
    pub forward: Vec<f32>,  // [x, x]
    pub backward: Vec<f32>, // [x, x]
}

impl QueryKey {
    fn new(k: usize, x: usize, [query, key]: &[&str; 2], parameters: &Parameters) -> QueryKey {
        let (query, key) = (parameters.tensor(query), parameters.tensor(key));
        let mut forward = vec![0.0; x * x];
        for o in 0..k {
            for a in 0..x {
                for b in 0..x {
                    forward[a * x + b] += query[o * x + a] * key[o * x + b];
                }
            }
        }
        QueryKey { backward: transposed(&forward, x, 0, x, x), forward }
    }
}

/// Gradients in the layout of [`Weights`].
#[derive(Clone, Debug)]
pub struct WeightGradients {
    pub encoder_e: Vec<f32>,
    pub encoder_h: Vec<f32>,
    pub encoder_bias: Vec<f32>,
    pub layers: Vec<LayerGradients>,
    pub decoder: Vec<f32>,
    pub decoder_bias: Vec<f32>,
    pub mask: Vec<f32>,
    pub mask_bias: Vec<f32>,
    pub query_keys: Vec<Vec<f32>>,
}

/// References to all parts.
macro_rules! parts {
    ($all:ident, $iter:ident, $($borrow:tt)+) => {
        [
            $($borrow)+ $all.encoder_e,
            $($borrow)+ $all.encoder_h,
            $($borrow)+ $all.encoder_bias,
            $($borrow)+ $all.decoder,
            $($borrow)+ $all.decoder_bias,
            $($borrow)+ $all.mask,
            $($borrow)+ $all.mask_bias,
        ]
        .into_iter()
        .chain($all.layers.$iter().flat_map(|layer| {
            [
                $($borrow)+ layer.mix,
                $($borrow)+ layer.sender_t,
                $($borrow)+ layer.mix_bias,
                $($borrow)+ layer.update_m,
            ]
        }))
        .chain($all.query_keys.$iter())
    };
}

impl WeightGradients {
    /// Zeros for one model.
    pub fn zeros(config: &Config) -> WeightGradients {
        let (k, m, x) = (config.k, config.m(), config.attention_width());
        let zeros = |size: usize| vec![0.0; size];
        WeightGradients {
            encoder_e: zeros(m * k),
            encoder_h: zeros(config.carried() * k),
            encoder_bias: zeros(k),
            layers: (0..config.processors()).map(|_| LayerGradients::zeros(config)).collect(),
            decoder: zeros(2 * k),
            decoder_bias: zeros(1),
            mask: zeros(if config.has_masks() { 2 * k } else { 0 }),
            mask_bias: zeros(1),
            query_keys: vec![zeros(x * x); if config.has_attention() { config.types() } else { 0 }],
        }
    }

    /// Adds another sequence's gradients.
    pub fn add(&mut self, other: &WeightGradients) {
        for (mine, theirs) in parts!(self, iter_mut, &mut).zip(parts!(other, iter, &)) {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
    }

    /// Back to zeros.
    pub fn clear(&mut self) {
        parts!(self, iter_mut, &mut).for_each(|part| part.fill(0.0));
    }

    /// Undoes the layout: gradients of the parameters themselves.
    pub fn unpack(&self, config: &Config, parameters: &Parameters, into: &mut Parameters) {
        let (k, m, x) = (config.k, config.m(), config.attention_width());
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
        for (processor, layer) in self.layers.iter().enumerate() {
            layer.unpack(config, &LayerNames::of(config, processor), into);
        }
        into.tensor_mut("decoder.weight").copy_from_slice(&self.decoder);
        into.tensor_mut("decoder.bias").copy_from_slice(&self.decoder_bias);
        if config.has_masks() {
            into.tensor_mut("mask.weight").copy_from_slice(&self.mask);
            into.tensor_mut("mask.bias").copy_from_slice(&self.mask_bias);
        }
        for (fold, [query_name, key_name]) in self.query_keys.iter().zip(&ATTENTION) {
            // fold = W_qᵀ W_k: ∂W_q = W_k ∂foldᵀ and ∂W_k = W_q ∂fold.
            let (query, key) = (parameters.tensor(query_name), parameters.tensor(key_name));
            let mut d_query = vec![0.0; k * x];
            let mut d_key = vec![0.0; k * x];
            for o in 0..k {
                for a in 0..x {
                    for b in 0..x {
                        let d = fold[a * x + b];
                        d_query[o * x + a] += d * key[o * x + b];
                        d_key[o * x + b] += d * query[o * x + a];
                    }
                }
            }
            into.tensor_mut(query_name).copy_from_slice(&d_query);
            into.tensor_mut(key_name).copy_from_slice(&d_key);
        }
    }
}
