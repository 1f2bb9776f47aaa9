//! A model at work: a data structure that answers one operation at a time, in O(n·k) memory.

mod aim;
mod iterate;
mod process;
mod top;

use std::sync::Arc;

use pgn_structures::{Node, Operation};
use serde::Serialize;

use self::{process::Scratch, top::Top};
use crate::{
    Error, Graph,
    awake::awake,
    features::fixed_part,
    graph::Neighbours,
    iterated::Runner,
    kernels::{math::sigmoid, rows::dot},
    model::Network,
    readout::readout_forward,
    simd::with_simd,
};

/// Structures of up to this many nodes run on one thread.
const ALONE: usize = 384;

/// Nodes a thread takes at a time in a larger structure of `n`: few enough that the threads finish
/// together, many enough that a block is worth handing out. Results do not depend on it.
fn block(n: usize) -> usize {
    n.div_ceil(4 * rayon::current_num_threads()).clamp(96, 512)
}

/// What the model answers to one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer<'s> {
    /// The decoder's output; above 0 means yes (1).
    pub logit: f32,
    /// P(answer = 1).
    pub probability: f32,
    /// The nodes whose pointer moved, in ascending order.
    pub changed: &'s [Node],
    /// Where every node points now. Every node points to itself in models without pointers.
    pub pointers: &'s [Node],
}

/// A pointer that moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Move {
    /// Whose pointer.
    pub node: Node,
    /// Where it pointed before.
    pub from: Node,
    /// Where it points now.
    pub to: Node,
}

impl Answer<'_> {
    /// The answer itself: whether it is more likely 1 than 0.
    pub fn value(&self) -> bool {
        self.logit > 0.0
    }
}

/// A learned data structure in use.
///
/// ```
/// use pgn_engine::{Config, Model};
/// use pgn_structures::Operation;
///
/// let model = Model::new(Config::preset("pgn")?, 1)?;
/// let mut state = model.start(8)?;
/// let before = state.clone(); // for undo
/// state.apply(Operation { u: 0, v: 5 })?;
/// let alpha = state.attention(0).unwrap();
/// assert!((alpha.iter().sum::<f32>() - 1.0).abs() < 1e-5);
/// state = before;
/// assert_eq!(state.pointers(), [0, 1, 2, 3, 4, 5, 6, 7]);
/// # Ok::<(), pgn_engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct State {
    model: Arc<Network>,
    n: usize,
    fixed: Vec<f32>,       // [n, k]: the encoder's bias and priorities
    h: Vec<f32>,           // [n, k]
    z: Vec<f32>,           // [n, k]
    sent: Vec<f32>,        // [n, k]: bⱼ
    sent_top: Vec<f32>,    // [k]: max bⱼ, for the complete graph
    mask_logits: Vec<f32>, // [n]
    pointers: Vec<Node>,   // [n]
    neighbours: Neighbours,
    /// Whether pointers have moved since the neighbours were listed.
    moved: bool,
    top: Top,
    changed: Vec<Node>,
    /// Where those of `changed` pointed before.
    changed_from: Vec<Node>,
    scratch: Scratch,
    /// Takes the place of the above, pointers and mask logits excepted, in models with an iterated
    /// processor.
    runner: Option<Box<Runner>>,
}

impl State {
    pub(crate) fn new(model: Arc<Network>, priorities: &[f32]) -> Result<State, Error> {
        let (n, k) = (priorities.len(), model.config().k);
        if n == 0 || n > u32::MAX as usize {
            return Err(Error::Input(format!(
                "a structure of {n} nodes was asked for; expected 1 to 4294967295"
            )));
        }
        if let Some(priority) = priorities.iter().find(|priority| !priority.is_finite()) {
            return Err(Error::Input(format!(
                "a priority is {priority}; expected a finite number"
            )));
        }
        if model.iterated().is_some() {
            return Ok(State::iterated(model, priorities));
        }
        let mut fixed = vec![0.0; n * k];
        let (inputs, weights) = (&model.config().inputs, model.weights());
        let bias = &weights.encoder_bias;
        with_simd!(model.simd_level(), simd => {
            fixed_part(simd, inputs, &weights.encoder_e, bias, priorities, &mut fixed)
        });
        let sends = model.config().graph != Graph::SelfOnly;
        Ok(State {
            model,
            n,
            fixed,
            h: vec![0.0; n * k],
            z: vec![0.0; n * k],
            sent: vec![0.0; if sends { n * k } else { 0 }],
            sent_top: vec![f32::NEG_INFINITY; k],
            mask_logits: vec![0.0; n],
            pointers: (0..n as Node).collect(),
            neighbours: Neighbours::default(),
            moved: true,
            top: Top::new(k),
            changed: Vec::new(),
            changed_from: Vec::new(),
            scratch: Scratch::new(k),
            runner: None,
        })
    }

    /// Processor steps the last operation took; 1 for the paper's processor.
    pub fn steps(&self) -> usize {
        self.runner.as_ref().map_or(1, |runner| runner.steps())
    }

    /// The nodes that took part in the last operation, in the order they were reached; `None`
    /// for the paper's processor, in which all do.
    pub fn participants(&self) -> Option<&[Node]> {
        self.runner.as_ref().map(|runner| runner.participants())
    }

    /// Applies one operation: the answer, and pointers re-aimed as the model sees fit.
    pub fn apply(&mut self, operation: Operation) -> Result<Answer<'_>, Error> {
        let Operation { u, v } = operation;
        if let Some(node) = [u, v].into_iter().find(|&node| node as usize >= self.n) {
            return Err(Error::Input(format!(
                "the operation ({u}, {v}) names node {node}; expected nodes below {}",
                self.n
            )));
        }
        if u == v && self.n > 1 {
            return Err(Error::Input(format!(
                "the operation ({u}, {v}) names one node twice; expected two different nodes"
            )));
        }
        self.changed.clear();
        self.changed_from.clear();
        let model = self.model.clone();
        if let Some(logit) = self.iterate(operation) {
            return Ok(self.answer(logit));
        }
        if self.n <= ALONE {
            self.compute(operation);
        } else {
            awake(self.n.div_ceil(ALONE), || self.compute(operation));
        }
        let decoder = &model.weights().decoder;
        let logit = with_simd!(model.simd_level(), simd => dot(simd, &self.top.values, decoder))
            + model.weights().decoder_bias;
        Ok(self.answer(logit))
    }

    /// The answer with this logit, and what the last operation did to pointers.
    pub(crate) fn answer(&self, logit: f32) -> Answer<'_> {
        let (changed, pointers) = (&self.changed, &self.pointers);
        Answer { logit, probability: sigmoid(logit), changed, pointers }
    }

    /// The pointers that the last operation moved, in ascending order of their nodes; for models
    /// to which pointers are given, those that [`State::set_pointers`] moved since.
    pub fn moved(&self) -> impl Iterator<Item = Move> + '_ {
        let moved = self.changed.iter().zip(&self.changed_from);
        moved.map(|(&node, &from)| Move { node, from, to: self.pointers[node as usize] })
    }

    /// The latents, masks, readout and pointers after an operation.
    fn compute(&mut self, operation: Operation) {
        let model = self.model.clone();
        with_simd!(model.simd_level(), simd => {
            self.encode(simd, operation);
            self.process(simd);
        });
        if model.config().owns_pointers() {
            with_simd!(model.simd_level(), simd => self.aim(simd));
        }
    }

    /// Replaces the pointers, for models to which they are given.
    pub fn set_pointers(&mut self, pointers: &[Node]) -> Result<(), Error> {
        if pointers.len() != self.n || pointers.iter().any(|&node| node as usize >= self.n) {
            return Err(Error::Input(format!(
                "the given pointers do not fit; expected {} nodes, each below {}",
                self.n, self.n
            )));
        }
        self.changed.clear();
        self.changed_from.clear();
        for (node, (pointer, &to)) in (0..).zip(self.pointers.iter_mut().zip(pointers)) {
            if *pointer != to {
                self.changed.push(node);
                self.changed_from.push(std::mem::replace(pointer, to));
            }
        }
        self.moved |= !self.changed.is_empty();
        Ok(())
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.n
    }

    /// Where every node points.
    pub fn pointers(&self) -> &[Node] {
        &self.pointers
    }

    /// h after the last operation, \[n, k\]; the last x of an iterated processor, empty beyond 4096
    /// nodes.
    pub fn latents(&self) -> &[f32] {
        &self.h
    }

    /// z of the last operation, \[n, k\]; empty for an iterated processor beyond 4096 nodes.
    pub fn encoded(&self) -> &[f32] {
        &self.z
    }

    /// ψ's logits for the last operation, \[n\]; above 0 means left alone. Zeros in models without
    /// masks.
    pub fn mask_logits(&self) -> &[f32] {
        &self.mask_logits
    }

    /// The node each dimension of the readout came from after the last operation: for max z, then
    /// for max h, k each. The lowest index among equals.
    pub fn readout_sources(&self) -> (Vec<Node>, Vec<Node>) {
        let k = self.model.config().k;
        if let Some(runner) = &self.runner {
            return runner.readout_sources();
        }
        let sources = |rows: &[f32]| {
            let (mut top, mut source) = (vec![0.0; k], vec![0; k]);
            with_simd!(self.model.simd_level(), simd => {
                readout_forward(simd, k, rows, 0, &mut top, &mut source)
            });
            source
        };
        (sources(&self.z), sources(&self.h))
    }
}
