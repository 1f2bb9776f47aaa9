//! Weights laid out for the kernels, and their gradients in the same layout.
//!
//! Relations that are switched off have zeros for weights, so they send and change nothing; their
//! gradients have no tensor to go to.

use super::{Iterated, Relation};
use crate::{Config, Parameters};

/// Columns of the scores' biases by relation, padded to a whole vector: self, parent, child, u, v.
pub const BIASES: usize = 8;
/// How many of them are used.
pub const RELATIONS: usize = 5;

/// Matrices as \[in, out\], the way products want them.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    pub encoder: Vec<f32>,      // [m, k]
    pub encoder_bias: Vec<f32>, // [k]
    pub update_z: Vec<f32>,     // [k, k]
    pub update_bias: Vec<f32>,  // [k]
    pub update_x: Vec<f32>,     // [k, k]
    pub update_m: Vec<f32>,     // [2k, k]: parent, children
    pub update_g: Vec<f32>,     // [k, k]: global
    pub message: Vec<f32>,      // [k, 3k]: parent | children | global
    pub message_bias: Vec<f32>, // [3k]
    pub decoder: Vec<f32>,      // [2k]
    pub decoder_bias: Vec<f32>, // [1]
    pub mask: Vec<f32>,         // [2k]
    pub mask_bias: Vec<f32>,    // [1]
    pub ask: Vec<f32>,          // [2k, k + BIASES]: query | relation, of z and x
    pub ask_top: Vec<f32>,      // [k, k + BIASES]: the same of max x
    pub ask_bias: Vec<f32>,     // [k + BIASES]
    pub key: Vec<f32>,          // [2k, k]
}

impl Blocks {
    pub fn zeros(config: &Config) -> Blocks {
        let (k, m) = (config.k, config.m());
        let width = k + BIASES;
        let zeros = |size: usize| vec![0.0; size];
        Blocks {
            encoder: zeros(m * k),
            encoder_bias: zeros(k),
            update_z: zeros(k * k),
            update_bias: zeros(k),
            update_x: zeros(k * k),
            update_m: zeros(2 * k * k),
            update_g: zeros(k * k),
            message: zeros(k * 3 * k),
            message_bias: zeros(3 * k),
            decoder: zeros(2 * k),
            decoder_bias: zeros(1),
            mask: zeros(2 * k),
            mask_bias: zeros(1),
            ask: zeros(2 * k * width),
            ask_top: zeros(k * width),
            ask_bias: zeros(width),
            key: zeros(2 * k * k),
        }
    }

    fn parts_mut(&mut self) -> [&mut Vec<f32>; 17] {
        [
            &mut self.encoder,
            &mut self.encoder_bias,
            &mut self.update_z,
            &mut self.update_bias,
            &mut self.update_x,
            &mut self.update_m,
            &mut self.update_g,
            &mut self.message,
            &mut self.message_bias,
            &mut self.decoder,
            &mut self.decoder_bias,
            &mut self.mask,
            &mut self.mask_bias,
            &mut self.ask,
            &mut self.ask_top,
            &mut self.ask_bias,
            &mut self.key,
        ]
    }

    /// Adds other gradients.
    pub fn add(&mut self, other: &mut Blocks) {
        for (mine, theirs) in self.parts_mut().into_iter().zip(other.parts_mut()) {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += *theirs);
        }
    }

    /// Where every tensor's values lie: calls `visit(tensor, first input column, inputs, block,
    /// stride)`, where the block begins at the tensor's first output. A bias has no inputs.
    fn for_each_piece(
        &mut self,
        config: &Config,
        settings: &Iterated,
        mut visit: impl FnMut(&'static str, usize, usize, &mut [f32], usize),
    ) {
        let (k, m) = (config.k, config.m());
        let width = k + BIASES;
        visit("encoder.weight", 0, m, &mut self.encoder, k);
        visit("encoder.bias", 0, 0, &mut self.encoder_bias, 0);
        visit("update.weight", 0, k, &mut self.update_z, k);
        visit("update.weight", k, k, &mut self.update_x, k);
        visit("update.bias", 0, 0, &mut self.update_bias, 0);
        for (number, &relation) in settings.relations.iter().enumerate() {
            let [weight, bias] = relation.tensors();
            let (block, at) = match relation {
                Relation::Parent => (&mut self.update_m[..k * k], 0),
                Relation::Children => (&mut self.update_m[k * k..], k),
                Relation::Global => (&mut self.update_g[..], 2 * k),
            };
            visit("update.weight", (2 + number) * k, k, block, k);
            visit(weight, 0, k, &mut self.message[at..], 3 * k);
            visit(bias, 0, 0, &mut self.message_bias[at..], 0);
        }
        visit("decoder.weight", 0, 2 * k, &mut self.decoder, 1);
        visit("decoder.bias", 0, 0, &mut self.decoder_bias, 0);
        visit("mask.weight", 0, 2 * k, &mut self.mask, 1);
        visit("mask.bias", 0, 0, &mut self.mask_bias, 0);
        visit("query.weight", 0, 2 * k, &mut self.ask, width);
        visit("query.weight", 2 * k, k, &mut self.ask_top, width);
        visit("key.weight", 0, 2 * k, &mut self.key, k);
        if settings.relation_biases {
            visit("relation.weight", 0, 2 * k, &mut self.ask[k..], width);
            visit("relation.weight", 2 * k, k, &mut self.ask_top[k..], width);
            visit("relation.bias", 0, 0, &mut self.ask_bias[k..], 0);
        }
    }

    fn pack(config: &Config, settings: &Iterated, parameters: &Parameters) -> Blocks {
        let mut blocks = Blocks::zeros(config);
        blocks.for_each_piece(config, settings, |name, from, inputs, block, stride| {
            let (tensor, columns) = (parameters.tensor(name), parameters.columns(name));
            for (o, row) in tensor.chunks_exact(columns).enumerate() {
                match inputs {
                    0 => block[o] = row[0],
                    _ => (0..inputs).for_each(|i| block[i * stride + o] = row[from + i]),
                }
            }
        });
        blocks
    }

    /// Undoes the layout: gradients of the parameters themselves.
    pub fn unpack(&mut self, config: &Config, settings: &Iterated, into: &mut Parameters) {
        self.for_each_piece(config, settings, |name, from, inputs, block, stride| {
            let columns = into.columns(name);
            for (o, row) in into.tensor_mut(name).chunks_exact_mut(columns).enumerate() {
                match inputs {
                    0 => row[0] = block[o],
                    _ => (0..inputs).for_each(|i| row[from + i] = block[i * stride + o]),
                }
            }
        });
    }
}

/// Forward and backward copies of one model's weights.
#[derive(Clone, Debug)]
pub struct Weights {
    pub settings: Iterated,
    pub forward: Blocks,
    // Transposed, [out, in], for gradients with respect to inputs.
    pub update_z_t: Vec<f32>, // [k, k]
    pub update_x_t: Vec<f32>, // [k, k]
    pub update_m_t: Vec<f32>, // [k, 2k]
    pub update_g_t: Vec<f32>, // [k, k]
    pub message_t: Vec<f32>,  // [3k, k]
    pub ask_t: Vec<f32>,      // [k + BIASES, 2k]
    pub ask_top_t: Vec<f32>,  // [k + BIASES, k]
    pub key_t: Vec<f32>,      // [k, 2k]
}

impl Weights {
    /// Lays out `parameters`.
    pub fn new(config: &Config, settings: &Iterated, parameters: &Parameters) -> Weights {
        let k = config.k;
        let forward = Blocks::pack(config, settings, parameters);
        Weights {
            settings: settings.clone(),
            update_z_t: transposed(&forward.update_z, k),
            update_x_t: transposed(&forward.update_x, k),
            update_m_t: transposed(&forward.update_m, k),
            update_g_t: transposed(&forward.update_g, k),
            message_t: transposed(&forward.message, 3 * k),
            ask_t: transposed(&forward.ask, k + BIASES),
            ask_top_t: transposed(&forward.ask_top, k + BIASES),
            key_t: transposed(&forward.key, k),
            forward,
        }
    }
}

/// A matrix with `columns` columns, as one with that many rows.
fn transposed(matrix: &[f32], columns: usize) -> Vec<f32> {
    let rows = matrix.len() / columns;
    let mut result = vec![0.0; matrix.len()];
    for (i, row) in matrix.chunks_exact(columns).enumerate() {
        row.iter().enumerate().for_each(|(j, &value)| result[j * rows + i] = value);
    }
    result
}
