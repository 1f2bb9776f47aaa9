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

use std::sync::Arc;

use crate::{
    Config, Example, Losses, Parameters, Search, SimdLevel,
    buffer_pool::BufferPool,
    parameters::Shapes,
    processor::{Design, Processor, ProcessorState, StepInputs},
};

pub(crate) use layer::Layer;

use run::Run;
use tape::Tape;
use weights::{WeightGradients, Weights};

/// A network with this processor: its weights, and buffers that training uses again.
#[derive(Debug)]
struct Network {
    config: Arc<Config>,
    level: SimdLevel,
    search: Search,
    weights: Weights,
    tapes: BufferPool<Tape>,
    gradients: BufferPool<WeightGradients>,
}

pub(crate) const DESIGN: Design = Design {
    tensors,
    build: |config, level, search, parameters| {
        Arc::new(Network {
            config: Arc::clone(config),
            level,
            search,
            weights: Weights::new(config, parameters),
            tapes: BufferPool::default(),
            gradients: BufferPool::default(),
        })
    },
    training_flop: |config, sequence, _| cost::training_flop(config, sequence),
};

impl Processor for Network {
    fn update(&mut self, parameters: &Parameters) {
        self.weights = Weights::new(&self.config, parameters);
    }

    fn gradients(
        &self,
        parameters: &Parameters,
        batch: &[Example<'_>],
        inputs: StepInputs,
    ) -> (Losses, Parameters) {
        self.batch_gradients(parameters, batch, inputs)
    }

    fn start(self: Arc<Self>, priorities: &[f32]) -> Box<dyn ProcessorState> {
        Box::new(Run::new(self, priorities))
    }
}

/// The tensors of `model.safetensors`, by name and shape.
fn tensors(config: &Config) -> Shapes {
    let (k, m, x) = (config.k, config.m(), config.attention_width());
    let mut all =
        vec![("encoder.weight", vec![k, m + config.carried()]), ("encoder.bias", vec![k])];
    for processor in 0..config.processors() {
        all.extend(names::LayerNames::of(config, processor).shapes(k));
    }
    all.extend([("decoder.weight", vec![1, 2 * k]), ("decoder.bias", vec![1])]);
    if config.has_masks() {
        all.extend([("mask.weight", vec![1, 2 * k]), ("mask.bias", vec![1])]);
    }
    if config.has_attention() {
        let names = names::ATTENTION[..config.types()].iter().flatten();
        all.extend(names.map(|&name| (name, vec![k, x])));
    }
    all
}
