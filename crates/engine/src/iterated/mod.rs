//! The iterated processor: many steps per operation, nothing carried but pointers.
//!
//! The paper's processor looks at every node once per operation and carries h along. This one
//! starts from x = 0 at every operation and takes as many steps as messages need to travel:
//!
//! x ← min(ReLU(update\[z ‖ x ‖ parent ‖ children ‖ global\]), cap)
//!
//! Each relation has a message function of its own, ReLU(Mᵣ xⱼ): a node hears the one it points
//! to, the strongest of those that point to it (element by element), and the strongest of all. At
//! the end x takes the place of h: decoder and masks read \[z ‖ x\] as ever (equations 3 and 4), and
//! a node with mask 0 is re-aimed (equation 6) by the score
//!
//! ⟨query\[zᵢ ‖ xᵢ ‖ max x\], key\[zⱼ ‖ xⱼ\]⟩ / √k + Σᵣ 𝕀(r relates i to j) · relationᵣ\[zᵢ ‖ xᵢ ‖ max x\].
//!
//! As no state but the pointers passes from one operation to the next, a single
//! [`Transition`](pgn_structures::Transition) is all that training looks at, and an operation
//! costs what its paths are long, whatever n is.
//!
//! | file | what |
//! | --- | --- |
//! | `settings.rs` | the choices, as part of a [`Config`](crate::Config) |
//! | `blocks.rs` | weights laid out for the kernels |
//! | `reach.rs` | which nodes take part, step by step |
//! | `step.rs` | one processor step, forward and backward |
//! | `heads.rs` | answer, masks and pointers from the last x, forward and backward |
//! | `forward.rs` | one operation; training and rollouts run it |
//! | `run.rs` | a structure in use |
//! | `transition.rs` | one transition: losses and gradients |
//! | `training.rs` | batches of transitions |
//! | `cost.rs` | the arithmetic it needs |

mod blocks;
pub(crate) mod cost;
mod forward;
mod heads;
mod reach;
mod run;
mod settings;
mod step;
mod training;
mod transition;

use crate::{Config, Parameters, SimdLevel, buffer_pool::BufferPool};

pub(crate) use run::{LEFT_ALONE, Run};
pub use settings::{Iterated, Participants, ProcessorKind, Relation};

use blocks::{RELATIONS, Weights};
use transition::Tape;

/// A network with this processor: its weights, and buffers that training uses again.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub config: Config,
    pub level: SimdLevel,
    weights: Weights,
    tapes: BufferPool<Tape>,
}

impl Network {
    pub fn new(
        config: &Config,
        settings: &Iterated,
        level: SimdLevel,
        parameters: &Parameters,
    ) -> Network {
        let weights = Weights::new(config, settings, parameters);
        Network { config: config.clone(), level, weights, tapes: BufferPool::default() }
    }

    /// Takes other weights.
    pub fn update(&mut self, parameters: &Parameters) {
        self.weights = Weights::new(&self.config, &self.weights.settings, parameters);
    }
}

/// The tensors of `model.safetensors`, by name and shape: no h to encode, and a message function
/// per relation.
pub(crate) fn tensors(
    config: &Config,
    settings: &Iterated,
    mut add: impl FnMut(&'static str, &[usize]),
) {
    let (k, m) = (config.k, config.m());
    add("encoder.weight", &[k, m]);
    add("encoder.bias", &[k]);
    add("update.weight", &[k, (2 + settings.relations.len()) * k]);
    add("update.bias", &[k]);
    add("decoder.weight", &[1, 2 * k]);
    add("decoder.bias", &[1]);
    add("mask.weight", &[1, 2 * k]);
    add("mask.bias", &[1]);
    add("query.weight", &[k, 3 * k]);
    add("key.weight", &[k, 2 * k]);
    for relation in &settings.relations {
        let [weight, bias] = relation.tensors();
        add(weight, &[k, k]);
        add(bias, &[k]);
    }
    if settings.relation_biases {
        add("relation.weight", &[RELATIONS, 3 * k]);
        add("relation.bias", &[RELATIONS]);
    }
}
