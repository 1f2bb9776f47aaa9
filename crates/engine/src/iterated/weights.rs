//! Weights laid out for the kernels.
//!
//! Relations that are switched off have zeros for weights, so they send and change nothing; their
//! gradients have no tensor to go to.

use super::{Iterated, Relation};
use crate::{
    Config, Parameters,
    packing::{Linear, Matrix, Packer, Packing},
};

/// Columns of the scores' biases by relation, padded to a whole vector: self, parent, child, u, v,
/// higher priority.
pub const BIASES: usize = 8;

/// One model's weights: matrices as \[in, out\].
#[derive(Clone, Debug)]
pub struct Weights {
    pub settings: Iterated,
    pub encoder: Matrix,      // [m, k]
    pub encoder_bias: Matrix, // [k]
    pub update_z: Linear,     // [k, k]
    pub update_bias: Matrix,  // [k]
    pub update_x: Linear,     // [k, k]
    pub update_m: Linear,     // [2k, k]: parent, children
    pub update_g: Linear,     // [k, k]: global
    pub message: Linear,      // [k, 3k]: parent | children | global
    pub message_bias: Matrix, // [3k]
    pub decoder: Matrix,      // [2k]
    pub decoder_bias: Matrix, // [1]
    pub mask: Matrix,         // [2k]
    pub mask_bias: Matrix,    // [1]
    pub ask: Linear,          // [2k, k + BIASES]: query | relation, of z and x
    pub ask_top: Linear,      // [k, k + BIASES]: of max x
    pub ask_bias: Matrix,     // [k + BIASES]
    pub key: Linear,          // [2k, k]
    pub packing: Packing,
}

impl Weights {
    /// Lays out `parameters`.
    pub fn new(config: &Config, settings: &Iterated, parameters: &Parameters) -> Weights {
        let (k, m) = (config.k, config.m());
        let width = k + BIASES;
        let mut packer = Packer::new(parameters);
        let p = &mut packer;
        let [mut encoder, mut update_z, mut update_x] = [m, k, k].map(|rows| p.zeros(rows * k));
        p.columns(&mut encoder, "encoder.weight", 0..m, 0, k);
        p.columns(&mut update_z, "update.weight", 0..k, 0, k);
        p.columns(&mut update_x, "update.weight", k..2 * k, 0, k);
        let [mut update_m, mut update_g] = [2, 1].map(|rows| p.zeros(rows * k * k));
        let (mut message, mut message_bias) = (p.zeros(k * 3 * k), p.zeros(3 * k));
        for (number, &relation) in settings.relations.iter().enumerate() {
            let [weight, bias] = relation.tensors();
            let (update, at, column) = match relation {
                Relation::Parent => (&mut update_m, 0, 0),
                Relation::Children => (&mut update_m, k * k, k),
                Relation::Global => (&mut update_g, 0, 2 * k),
            };
            p.columns(update, "update.weight", (2 + number) * k..(3 + number) * k, at, k);
            p.columns(&mut message, weight, 0..k, column, 3 * k);
            p.columns(&mut message_bias, bias, 0..1, column, 1);
        }
        let [mut ask, mut ask_top, mut ask_bias] = [2 * k, k, 1].map(|rows| p.zeros(rows * width));
        let mut key = p.zeros(2 * k * k);
        p.columns(&mut ask, "query.weight", 0..2 * k, 0, width);
        p.columns(&mut ask_top, "query.weight", 2 * k..3 * k, 0, width);
        p.columns(&mut key, "key.weight", 0..2 * k, 0, k);
        if settings.relation_biases {
            p.columns(&mut ask, "relation.weight", 0..2 * k, k, width);
            p.columns(&mut ask_top, "relation.weight", 2 * k..3 * k, k, width);
            p.columns(&mut ask_bias, "relation.bias", 0..1, k, 1);
        }
        Weights {
            settings: settings.clone(),
            encoder_bias: p.copy("encoder.bias", k),
            update_bias: p.copy("update.bias", k),
            decoder: p.copy("decoder.weight", 2 * k),
            decoder_bias: p.copy("decoder.bias", 1),
            mask: p.copy("mask.weight", 2 * k),
            mask_bias: p.copy("mask.bias", 1),
            update_z: Linear::new(update_z, k),
            update_x: Linear::new(update_x, k),
            update_m: Linear::new(update_m, k),
            update_g: Linear::new(update_g, k),
            message: Linear::new(message, 3 * k),
            ask: Linear::new(ask, width),
            ask_top: Linear::new(ask_top, width),
            key: Linear::new(key, k),
            packing: std::mem::take(p.packing()),
            encoder,
            message_bias,
            ask_bias,
        }
    }
}
