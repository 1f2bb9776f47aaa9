//! The paper's processor: one step per operation, h carried to the next.
//!
//! | file | what |
//! | --- | --- |
//! | `weights.rs`, `layer.rs`, `names.rs` | weights laid out for the kernels, and their gradients |
//! | `step.rs` | one operation: latents, masks and readout; training and rollouts run it |
//! | `pointers.rs` | where pointers go; likewise |
//! | `run.rs` | a structure in use: buffers that serve every operation, several threads |
//! | `tape.rs` | a sequence in training: buffers of every operation |
//! | `forward.rs`, `backward.rs` | losses and gradients of a sequence |
//! | `training.rs` | batches of sequences |
//! | `cost.rs` | the arithmetic it needs |

mod backward;
pub(crate) mod cost;
mod forward;
mod layer;
mod names;
mod pointers;
mod run;
mod step;
mod tape;
mod training;
mod weights;

use crate::{Config, Parameters, Search, SimdLevel, buffer_pool::BufferPool};

pub(crate) use layer::Layer;
pub(crate) use run::Run;
pub(crate) use weights::Weights;

use tape::Tape;
use weights::WeightGradients;

/// A network with this processor: its weights, and buffers that training uses again.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub config: Config,
    pub level: SimdLevel,
    pub search: Search,
    pub weights: Weights,
    tapes: BufferPool<Tape>,
    gradients: BufferPool<WeightGradients>,
}

impl Network {
    pub fn new(config: &Config, level: SimdLevel, parameters: &Parameters) -> Network {
        Network {
            config: config.clone(),
            level,
            search: Search::default(),
            weights: Weights::new(config, parameters),
            tapes: BufferPool::default(),
            gradients: BufferPool::default(),
        }
    }

    /// Takes other weights.
    pub fn update(&mut self, parameters: &Parameters) {
        self.weights = Weights::new(&self.config, parameters);
    }
}

/// The tensors of `model.safetensors`, by name and shape.
pub(crate) fn tensors(config: &Config, mut add: impl FnMut(&'static str, &[usize])) {
    let (k, m, x) = (config.k, config.m(), config.attention_width());
    add("encoder.weight", &[k, m + config.carried()]);
    add("encoder.bias", &[k]);
    for processor in 0..config.processors() {
        names::LayerNames::of(config, processor).add(k, &mut add);
    }
    add("decoder.weight", &[1, 2 * k]);
    add("decoder.bias", &[1]);
    if config.has_masks() {
        add("mask.weight", &[1, 2 * k]);
        add("mask.bias", &[1]);
    }
    if config.has_attention() {
        for [query, key] in &names::ATTENTION[..config.types()] {
            add(query, &[k, x]);
            add(key, &[k, x]);
        }
    }
}
