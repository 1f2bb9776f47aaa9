//! What the tensors of `model.safetensors` are called.

use crate::{Config, parameters::Shapes};

/// A weight and its bias.
type Pair = [&'static str; 2];

/// The message functions of a processor: of the learned pointers, of extra pointer types, and of
/// an input graph.
const MESSAGES: [[Pair; 4]; 2] = [
    [
        ["message.weight", "message.bias"],
        ["message.2.weight", "message.2.bias"],
        ["message.3.weight", "message.3.bias"],
        ["message.4.weight", "message.4.bias"],
    ],
    [
        ["pointer.message.weight", "pointer.message.bias"],
        ["pointer.message.2.weight", "pointer.message.2.bias"],
        ["pointer.message.3.weight", "pointer.message.3.bias"],
        ["pointer.message.4.weight", "pointer.message.4.bias"],
    ],
];

const UPDATES: [Pair; 2] =
    [["update.weight", "update.bias"], ["pointer.update.weight", "pointer.update.bias"]];

/// Query and key of each pointer type.
pub const ATTENTION: [Pair; 4] = [
    ["query.weight", "key.weight"],
    ["query.2.weight", "key.2.weight"],
    ["query.3.weight", "key.3.weight"],
    ["query.4.weight", "key.4.weight"],
];

/// The tensors of one processor.
#[derive(Clone, Debug)]
pub struct LayerNames {
    pub messages: Vec<Pair>,
    pub update: Pair,
}

impl LayerNames {
    /// The processor that the answer is read from (0), or the one that only pointers read (1).
    pub fn of(config: &Config, processor: usize) -> LayerNames {
        LayerNames {
            messages: MESSAGES[processor][..config.channels()].to_vec(),
            update: UPDATES[processor],
        }
    }

    /// All of them, with their shapes.
    pub fn shapes(&self, k: usize) -> Shapes {
        let message = |[weight, bias]: &Pair| [(*weight, vec![k, 2 * k]), (*bias, vec![k])];
        let mut all: Vec<_> = self.messages.iter().flat_map(message).collect();
        let [weight, bias] = self.update;
        all.extend([(weight, vec![k, (self.messages.len() + 1) * k]), (bias, vec![k])]);
        all
    }
}
