//! The iterated processor: many steps per operation, nothing carried but pointers.
//!
//! The paper's processor looks at every node once per operation and carries h along. This one
//! starts from x = 0 at every operation and takes as many steps as messages need to travel:
//!
//! x ← min(ReLU(update\[z ‖ x ‖ parent ‖ children ‖ global\]), cap)
//!
//! Each relation has a message function of its own, ReLU(Mᵣ xⱼ): a node receives from the one it points
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
//! | `weights.rs` | weights laid out for the kernels |
//! | `reach.rs` | which nodes take part, step by step |
//! | `step.rs` | one processor step, forward and backward |
//! | `outputs.rs` | answer, masks and pointers from the last x, forward and backward |
//! | `forward.rs` | one operation; training and rollouts run it |
//! | `run.rs` | a structure in use |
//! | `transition.rs` | one transition: losses and gradients |
//! | `training.rs` | batches of transitions |

mod forward;
mod outputs;
mod reach;
mod run;
mod settings;
mod step;
mod training;
mod transition;
mod weights;

use std::sync::Arc;

use pgn_structures::Transition;

use crate::{
    Config, Error, Example, Losses, Parameters,
    parameters::Shapes,
    processor::{Design, Processor, ProcessorState, StepInputs},
};

pub use settings::{Iterated, Participants, Relation};

use run::IteratedState;
use transition::Tape;
use weights::Weights;

type Network = crate::processor::Network<Weights, Tape>;

pub(crate) const DESIGN: Design = Design {
    tensors: |config| tensors(config, settings(config)),
    build: |config, level, parameters| {
        Network::new(config, level, Weights::new(config, settings(config), parameters))
    },
};

/// The settings of a config with this processor.
fn settings(config: &Config) -> &Iterated {
    config.iterated().unwrap_or_else(|| unreachable!("the design of another processor"))
}

impl Processor for Network {
    fn update(&mut self, parameters: &Parameters) {
        self.weights = Weights::new(&self.config, &self.weights.settings, parameters);
    }

    fn gradients(
        &self,
        parameters: &Parameters,
        batch: &[Example<'_>],
        _: StepInputs,
    ) -> (Losses, Parameters) {
        self.sequence_gradients(parameters, batch)
    }

    fn gradients_on(
        &self,
        parameters: &Parameters,
        batch: &[Transition<'_>],
    ) -> Result<(Losses, Parameters), Error> {
        self.transition_gradients(parameters, batch)
    }

    fn start(self: Arc<Self>, priorities: &[f32]) -> Box<dyn ProcessorState> {
        Box::new(IteratedState::new(self, priorities))
    }
}

/// The tensors of `model.safetensors`, by name and shape: no h to encode, and a message function
/// per relation.
fn tensors(config: &Config, settings: &Iterated) -> Shapes {
    let (k, m) = (config.k, config.m());
    let mut all = vec![
        ("encoder.weight", vec![k, m]),
        ("encoder.bias", vec![k]),
        ("update.weight", vec![k, (2 + settings.relations.len()) * k]),
        ("update.bias", vec![k]),
        ("decoder.weight", vec![1, 2 * k]),
        ("decoder.bias", vec![1]),
        ("mask.weight", vec![1, 2 * k]),
        ("mask.bias", vec![1]),
        ("query.weight", vec![k, 3 * k]),
        ("key.weight", vec![k, 2 * k]),
    ];
    for relation in &settings.relations {
        let [weight, bias] = relation.tensors();
        all.extend([(weight, vec![k, k]), (bias, vec![k])]);
    }
    let relations = settings.biases();
    if relations > 0 {
        all.push(("relation.weight", vec![relations, 3 * k]));
        all.push(("relation.bias", vec![relations]));
    }
    all
}
