//! How latents are computed: what a processor provides, and the one list of them.

use std::{
    fmt::Debug,
    sync::{Arc, atomic::AtomicBool},
};

use pgn_structures::{Edge, Node, Operation, Transition};
use serde::{Deserialize, Serialize};

use crate::{
    Config, Error, Example, Iterated, Losses, Parameters, SimdLevel, buffer_pool::BufferPool,
    iterated, packing::sum_in_order, parameters::Shapes, recurrent, state::VisibleState,
};

/// How latents are computed from features, pointers and messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ProcessorKind {
    /// As in the paper: one step per operation, h carried to the next (equations 1, 2 and 8).
    #[default]
    #[serde(rename = "once", alias = "recurrent")]
    Recurrent,
    /// The paper's processor with h = 0 before every operation: nothing is carried but pointers.
    #[serde(rename = "fresh", alias = "memoryless")]
    Memoryless,
    /// Many steps per operation, nothing carried but pointers.
    Iterated(Iterated),
}

/// What is known of a kind of processor without weights.
pub(crate) struct Design {
    /// The tensors of `model.safetensors`.
    pub tensors: fn(&Config) -> Shapes,
    /// Lays weights out for the kernels; the config is valid.
    pub build: fn(&Arc<Config>, SimdLevel, &Parameters) -> Arc<dyn Processor>,
}

impl Design {
    /// The one list of processors.
    pub fn of(config: &Config) -> &'static Design {
        match config.processor {
            ProcessorKind::Recurrent | ProcessorKind::Memoryless => &recurrent::DESIGN,
            ProcessorKind::Iterated(_) => &iterated::DESIGN,
        }
    }
}

/// A network: its weights laid out for the kernels, and buffers that training uses again.
#[derive(Debug)]
pub(crate) struct Network<W, T> {
    pub config: Arc<Config>,
    pub level: SimdLevel,
    pub weights: W,
    pub tapes: BufferPool<T>,
    pub gradients: BufferPool<Vec<f32>>,
}

impl<W, T> Network<W, T> {
    pub fn new(config: &Arc<Config>, level: SimdLevel, weights: W) -> Arc<Network<W, T>> {
        let (tapes, gradients) = Default::default();
        Arc::new(Network { config: Arc::clone(config), level, weights, tapes, gradients })
    }

    /// Losses and gradients of a batch from those of its parts, in their order.
    pub fn sum(
        &self,
        parameters: &Parameters,
        parts: Vec<(Losses, Vec<f32>)>,
        unpack: impl FnOnce(&[f32]) -> Parameters,
    ) -> (Losses, Parameters) {
        let mut losses = Losses::default();
        let sum = sum_in_order(parts, &self.gradients, |part| losses.add(part, 1.0));
        losses.weigh(&self.config);
        let Some(sum) = sum else { return (losses, parameters.zeroed()) };
        let gradients = unpack(&sum);
        self.gradients.put_back(sum);
        (losses, gradients)
    }
}

/// What training draws and keeps beside weights and data.
#[derive(Clone, Copy, Debug)]
pub struct StepInputs {
    pub seed: u64,
    /// Adam steps so far.
    pub step: u64,
    /// Running share of right answers.
    pub running_accuracy: f32,
    /// How likely an operation is teacher-forced where forcing is own or free.
    pub teacher_probability: f32,
}

/// A model's network: weights laid out for the kernels, and the buffers that training uses again.
pub(crate) trait Processor: Debug + Send + Sync {
    /// Takes other weights.
    fn update(&mut self, parameters: &Parameters);

    /// The losses of a batch and the gradients of their weighted sum, for these weights. The same
    /// bits for any number of threads.
    fn gradients(
        &self,
        parameters: &Parameters,
        batch: &[Example<'_>],
        inputs: StepInputs,
    ) -> (Losses, Parameters);

    /// Losses and gradients of single transitions.
    fn gradients_on(
        &self,
        parameters: &Parameters,
        batch: &[Transition<'_>],
    ) -> Result<(Losses, Parameters), Error> {
        let _ = (parameters, batch);
        Err(Error::Input(
            "single transitions teach only models with an iterated processor: the paper's carries \
             latents from one operation to the next"
                .into(),
        ))
    }

    /// A fresh structure, one node per priority.
    fn start(self: Arc<Self>, priorities: &[f32]) -> Box<dyn ProcessorState>;
}

/// What a processor carries of a structure from one operation to the next, beside what is visible.
pub(crate) trait ProcessorState: Debug + Send + Sync {
    /// A copy, for undo.
    fn copy(&self) -> Box<dyn ProcessorState>;

    /// The mask logit of a node that no operation has touched.
    fn fresh_mask_logit(&self) -> f32 {
        0.0
    }

    /// Applies one operation: the answer's logit. Masks and pointers are written to `visible`.
    fn apply(&mut self, operation: Operation, visible: &mut VisibleState) -> f32;

    fn config(&self) -> &Config;

    /// Ends operations early, with a result of no use, once `stop` is set; where an operation is one
    /// step, there is nothing to be cut short.
    fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        let _ = stop;
    }

    /// Takes the graph that comes with a sequence.
    fn set_input_graph(&mut self, nodes: usize, edges: &[Edge]) {
        let _ = (nodes, edges);
    }

    /// Replaces the pointers of an extra type.
    fn set_extra_pointers(&mut self, number: usize, pointers: &[Node]) {
        let _ = (number, pointers);
    }

    /// Pointers of an extra type.
    fn extra_pointers(&self, number: usize) -> Option<&[Node]> {
        let _ = number;
        None
    }

    /// h, \[n, k\].
    fn latents(&self) -> &[f32];

    /// z, \[n, k\].
    fn encoded(&self) -> &[f32];

    /// The node each dimension of the readout came from: for max z, then for max h.
    fn readout_sources(&self) -> (Vec<Node>, Vec<Node>);

    /// α of a node that there is, in a model with attention.
    fn attention(&self, node: Node, visible: &VisibleState) -> Vec<f32>;

    /// Steps that the last operation took.
    fn steps(&self) -> usize;

    /// Who took part in the last operation, if not all did.
    fn participants(&self) -> Option<&[Node]> {
        None
    }

    /// Floating-point operations that the last operation needed; 0 where they are not counted.
    fn flop(&self, visible: &VisibleState) -> u64 {
        let _ = visible;
        0
    }
}

impl Clone for Box<dyn ProcessorState> {
    fn clone(&self) -> Self {
        self.copy()
    }
}
