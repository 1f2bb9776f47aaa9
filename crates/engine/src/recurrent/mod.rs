//! The paper's processor: one step per operation, h carried to the next.
//!
//! | file | what |
//! | --- | --- |
//! | `encoder.rs` | equation 1, forward and backward |
//! | `layer.rs` | equations 2 and 8: messages and update, forward and backward |
//! | `decoder.rs` | equation 3, forward and backward |
//! | [`masks`](crate::masks), [`attention`](crate::attention) | equations 4 to 6, forward and backward |
//! | `step.rs` | one operation: latents, masks and readout; training and rollouts run it |
//! | `pointers.rs` | equation 7: where pointers go; likewise |
//! | `run.rs` | a structure in use: buffers that serve every operation, several threads |
//! | `tape.rs` | a sequence in training: buffers of every operation |
//! | `forward.rs`, `backward.rs` | losses and gradients of a sequence |
//! | `training.rs` | batches of sequences |
//! | `names.rs`, `cost.rs` | names of tensors; the arithmetic it needs |

mod backward;
pub(crate) mod cost;
mod decoder;
mod encoder;
mod forward;
mod layer;
mod names;
mod pointers;
mod run;
mod step;
mod tape;
mod training;

use std::sync::Arc;

use crate::{
    Config, Example, Losses, Parameters,
    attention::QueryKey,
    masks::Masks,
    packing::{Packer, Packing},
    parameters::Shapes,
    processor::{Design, Processor, ProcessorState, StepInputs},
};

use decoder::Decoder;
use encoder::Encoder;
use layer::Layer;
use run::RecurrentState;
use tape::Tape;

/// The layers of a network.
#[derive(Clone, Debug)]
struct Weights {
    encoder: Encoder,
    /// The processor, and the second one that only pointers and masks read, if there is one.
    layers: Vec<Layer>,
    decoder: Decoder,
    masks: Option<Masks>,
    /// Query and key of every pointer type; empty without attention.
    query_keys: Vec<QueryKey>,
    packing: Packing,
}

impl Weights {
    fn new(config: &Config, parameters: &Parameters) -> Weights {
        let (k, w) = (config.k, config.attention_width());
        let types = if config.has_attention() { config.types() } else { 0 };
        let mut packer = Packer::new(parameters);
        let packer = &mut packer;
        let (encoder, decoder) = (Encoder::new(config, packer), Decoder::new(k, packer));
        let layers = (0..config.processors()).map(|number| Layer::new(config, number, packer));
        let layers = layers.collect();
        let masks = config.has_masks().then(|| Masks::new(k, packer));
        let names = names::ATTENTION[..types].iter();
        let query_keys = names.map(|&names| QueryKey::new((k, w), names, packer)).collect();
        let packing = std::mem::take(packer.packing());
        Weights { encoder, layers, decoder, masks, query_keys, packing }
    }

    /// Gradients of the tensors, from those of the matrices.
    fn unpack(&self, gradients: &[f32], parameters: &Parameters) -> Parameters {
        let mut into = parameters.zeroed();
        self.packing.unpack(gradients, &mut into);
        for query_key in &self.query_keys {
            query_key.unpack(gradients, parameters, &mut into);
        }
        into
    }
}

type Network = crate::processor::Network<Weights, Tape>;

pub(crate) const DESIGN: Design = Design {
    tensors,
    build: |config, level, parameters| {
        Network::new(config, level, Weights::new(config, parameters))
    },
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
        Box::new(RecurrentState::new(self, priorities))
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
