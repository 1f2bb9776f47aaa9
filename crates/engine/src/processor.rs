//! How latents are computed: the paper's processor, or an iterated one.
//!
//! Each variant owns its weights, laid out for its kernels, and what training uses again and again.
//! A structure in use ([`State`](crate::State)) shares them, and has a [`Core`] of the same kind.

use std::sync::Arc;

use pgn_structures::{Edge, Node, Operation, Transition};

use crate::{
    Config, Error, Example, Losses, Parameters, Search, SimdLevel, iterated, recurrent,
    state::Board,
};

/// A model's network.
#[derive(Clone, Debug)]
pub enum Processor {
    Recurrent(Arc<recurrent::Network>),
    Iterated(Arc<iterated::Network>),
}

/// What training draws and keeps beside weights and data.
#[derive(Clone, Copy, Debug)]
pub struct Chance {
    pub seed: u64,
    /// Adam steps so far.
    pub step: u64,
    /// Running share of right answers.
    pub running_accuracy: f32,
    /// How likely an operation is teacher-forced where forcing is own or free.
    pub teacher_probability: f32,
}

impl Processor {
    /// The processor of a config, which is valid.
    pub fn new(config: &Config, level: SimdLevel, parameters: &Parameters) -> Processor {
        match config.iterated() {
            None => {
                Processor::Recurrent(Arc::new(recurrent::Network::new(config, level, parameters)))
            }
            Some(settings) => {
                let network = iterated::Network::new(config, settings, level, parameters);
                Processor::Iterated(Arc::new(network))
            }
        }
    }

    /// Takes other weights. States that share the old ones keep them.
    pub fn update(&mut self, parameters: &Parameters) {
        match self {
            Processor::Recurrent(network) => Arc::make_mut(network).update(parameters),
            Processor::Iterated(network) => Arc::make_mut(network).update(parameters),
        }
    }

    pub fn config(&self) -> &Config {
        match self {
            Processor::Recurrent(network) => &network.config,
            Processor::Iterated(network) => &network.config,
        }
    }

    pub fn level(&self) -> SimdLevel {
        match self {
            Processor::Recurrent(network) => network.level,
            Processor::Iterated(network) => network.level,
        }
    }

    pub fn set_level(&mut self, level: SimdLevel) {
        match self {
            Processor::Recurrent(network) => Arc::make_mut(network).level = level,
            Processor::Iterated(network) => Arc::make_mut(network).level = level,
        }
    }

    /// Changes how structures that are started from now on search for pointers. An iterated
    /// processor has no use for it: few nodes take part in an operation.
    pub fn set_search(&mut self, search: Search) {
        match self {
            Processor::Recurrent(network) => Arc::make_mut(network).search = search,
            Processor::Iterated(_) => {}
        }
    }

    /// The losses of a batch and the gradients of their weighted sum.
    pub fn gradients(
        &self,
        parameters: &Parameters,
        batch: &[Example<'_>],
        chance: Chance,
    ) -> (Losses, Parameters) {
        match self {
            Processor::Recurrent(network) => network.gradients(parameters, batch, chance),
            Processor::Iterated(network) => network.gradients(batch),
        }
    }

    /// The same of single transitions.
    pub fn gradients_on(&self, batch: &[Transition<'_>]) -> Result<(Losses, Parameters), Error> {
        match self {
            Processor::Recurrent(_) => Err(Error::Input(
                "single transitions teach only models with an iterated processor: the paper's \
                 carries latents from one operation to the next"
                    .into(),
            )),
            Processor::Iterated(network) => network.gradients_on(batch),
        }
    }

    /// A fresh structure: what goes on in it, and what it shows.
    pub fn start(&self, priorities: &[f32]) -> (Core, Board) {
        let n = priorities.len();
        match self {
            Processor::Recurrent(network) => {
                let run = recurrent::Run::new(Arc::clone(network), priorities);
                (Core::Recurrent(Box::new(run)), Board::new(n, 0.0))
            }
            Processor::Iterated(network) => {
                let run = iterated::Run::new(Arc::clone(network), priorities);
                (Core::Iterated(Box::new(run)), Board::new(n, iterated::LEFT_ALONE))
            }
        }
    }
}

/// A structure in use, as its processor sees it.
#[derive(Clone, Debug)]
pub enum Core {
    Recurrent(Box<recurrent::Run>),
    Iterated(Box<iterated::Run>),
}

impl Core {
    /// Applies one operation: the answer's logit; the rest is on the board.
    pub fn apply(&mut self, operation: Operation, board: &mut Board) -> f32 {
        match self {
            Core::Recurrent(run) => run.apply(operation, board),
            Core::Iterated(run) => run.apply(operation, board),
        }
    }

    pub fn config(&self) -> &Config {
        match self {
            Core::Recurrent(run) => run.config(),
            Core::Iterated(run) => run.config(),
        }
    }

    /// Takes the graph that comes with a sequence.
    pub fn set_input_graph(&mut self, nodes: usize, edges: &[Edge]) {
        match self {
            Core::Recurrent(run) => run.set_input_graph(nodes, edges),
            Core::Iterated(_) => {}
        }
    }

    /// Replaces the pointers of a further type.
    pub fn set_further(&mut self, number: usize, pointers: &[Node]) {
        match self {
            Core::Recurrent(run) => run.set_further(number, pointers),
            Core::Iterated(_) => {}
        }
    }

    /// Pointers of a further type.
    pub fn further(&self, number: usize) -> Option<&[Node]> {
        match self {
            Core::Recurrent(run) => run.further(number),
            Core::Iterated(_) => None,
        }
    }

    /// h, \[n, k\].
    pub fn latents(&self) -> &[f32] {
        match self {
            Core::Recurrent(run) => run.latents(),
            Core::Iterated(run) => run.latents(),
        }
    }

    /// z, \[n, k\].
    pub fn encoded(&self) -> &[f32] {
        match self {
            Core::Recurrent(run) => run.encoded(),
            Core::Iterated(run) => run.encoded(),
        }
    }

    /// Where the readout came from: for max z, then for max h.
    pub fn readout_sources(&self) -> (Vec<Node>, Vec<Node>) {
        match self {
            Core::Recurrent(run) => run.readout_sources(),
            Core::Iterated(run) => run.readout_sources(),
        }
    }

    /// α of a node that there is, in a model with attention.
    pub fn attention(&self, node: Node, board: &Board) -> Vec<f32> {
        match self {
            Core::Recurrent(run) => run.attention(node, board),
            Core::Iterated(run) => run.attention(node),
        }
    }

    /// Steps that the last operation took.
    pub fn steps(&self) -> usize {
        match self {
            Core::Recurrent(run) => run.layers(),
            Core::Iterated(run) => run.steps(),
        }
    }

    /// Who took part in the last operation, if not all did.
    pub fn participants(&self) -> Option<&[Node]> {
        match self {
            Core::Recurrent(_) => None,
            Core::Iterated(run) => Some(run.participants()),
        }
    }

    /// Floating-point operations that the last operation needed.
    pub fn flop(&self, board: &Board) -> u64 {
        match self {
            Core::Recurrent(run) => run.flop(board),
            Core::Iterated(run) => run.flop(),
        }
    }
}
