//! A model at work: a data structure that answers one operation at a time, in O(n·k) memory.

use std::sync::{Arc, atomic::AtomicBool};

use pgn_structures::{Edge, Node, Operation};
use serde::Serialize;

use crate::{
    Error,
    kernels::math::sigmoid,
    processor::{Processor, ProcessorState},
};

/// What the model answers to one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
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

impl Answer<'_> {
    /// The answer itself: whether it is more likely 1 than 0.
    pub fn value(&self) -> bool {
        self.logit > 0.0
    }
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

/// What is visible of a structure, whatever its processor.
#[derive(Clone, Debug)]
pub(crate) struct VisibleState {
    pub pointers: Vec<Node>,   // [n]
    pub mask_logits: Vec<f32>, // [n]
    /// Nodes whose pointer moved last, in ascending order, and where each pointed before.
    pub changed: Vec<Node>,
    pub changed_from: Vec<Node>,
    /// Whether pointers have moved since the processor last looked.
    pub moved: bool,
}

impl VisibleState {
    /// Every node points to itself.
    pub fn new(n: usize, mask_logit: f32) -> VisibleState {
        VisibleState {
            pointers: (0..n as Node).collect(),
            mask_logits: vec![mask_logit; n],
            changed: Vec::new(),
            changed_from: Vec::new(),
            moved: true,
        }
    }

    /// Nothing has moved.
    fn settle(&mut self) {
        self.changed.clear();
        self.changed_from.clear();
    }

    /// Notes that the pointer of `node` moved away from `from`.
    #[inline(always)]
    pub fn note(&mut self, node: Node, from: Node) {
        self.changed.push(node);
        self.changed_from.push(from);
        self.moved = true;
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
/// state.apply(Operation::new(0, 5))?;
/// let alpha = state.attention(0).unwrap();
/// assert!((alpha.iter().sum::<f32>() - 1.0).abs() < 1e-5);
/// state = before;
/// assert_eq!(state.pointers(), [0, 1, 2, 3, 4, 5, 6, 7]);
/// # Ok::<(), pgn_engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct State {
    processor: Box<dyn ProcessorState>,
    visible: VisibleState,
    /// Whether operations may have a single operand, given twice.
    has_kinds: bool,
}

impl State {
    pub(crate) fn new(
        processor: Arc<dyn Processor>,
        has_kinds: bool,
        priorities: &[f32],
    ) -> Result<State, Error> {
        let n = priorities.len();
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
        let processor = processor.start(priorities);
        let visible = VisibleState::new(n, processor.fresh_mask_logit());
        Ok(State { processor, visible, has_kinds })
    }

    /// Lets an operation that is under way end early, with a result of no use, once `stop` is set.
    pub(crate) fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.processor.stop_when(stop);
    }

    /// Processor steps that the last operation took; for the paper's processor, its layers.
    pub fn processor_steps(&self) -> usize {
        self.processor.steps()
    }

    /// The nodes that took part in the last operation, in the order they were reached; `None`
    /// for the paper's processor, in which all do.
    pub fn participants(&self) -> Option<&[Node]> {
        self.processor.participants()
    }

    /// Applies one operation: the answer, and pointers re-aimed as the model sees fit.
    pub fn apply(&mut self, operation: Operation) -> Result<Answer<'_>, Error> {
        let (Operation { u, v, .. }, n) = (operation, self.nodes());
        if let Some(node) = [u, v].into_iter().find(|&node| node as usize >= n) {
            return Err(Error::Input(format!(
                "the operation ({u}, {v}) names node {node}; expected nodes below {n}"
            )));
        }
        if u == v && n > 1 && !self.has_kinds {
            return Err(Error::Input(format!(
                "the operation ({u}, {v}) names one node twice; expected two different nodes"
            )));
        }
        self.visible.settle();
        let logit = self.processor.apply(operation, &mut self.visible);
        Ok(self.answer(logit))
    }

    /// The answer with this logit, and what the last operation did to pointers.
    pub(crate) fn answer(&self, logit: f32) -> Answer<'_> {
        let VisibleState { changed, pointers, .. } = &self.visible;
        Answer { logit, probability: sigmoid(logit), changed, pointers }
    }

    /// The pointers that the last operation moved, in ascending order of their nodes; for models
    /// to which pointers are given, those that [`State::set_pointers`] moved since.
    pub fn moved(&self) -> impl Iterator<Item = Move> + '_ {
        let VisibleState { changed, changed_from, pointers, .. } = &self.visible;
        let moved = changed.iter().zip(changed_from);
        moved.map(|(&node, &from)| Move { node, from, to: pointers[node as usize] })
    }

    fn check_pointers(&self, pointers: &[Node]) -> Result<(), Error> {
        let n = self.nodes();
        if pointers.len() != n || pointers.iter().any(|&node| node as usize >= n) {
            return Err(Error::Input(format!(
                "the given pointers do not fit; expected {n} nodes, each below {n}"
            )));
        }
        Ok(())
    }

    /// Replaces the pointers, for models to which they are given.
    pub fn set_pointers(&mut self, pointers: &[Node]) -> Result<(), Error> {
        self.check_pointers(pointers)?;
        self.visible.settle();
        for (node, &to) in (0..).zip(pointers) {
            let from = std::mem::replace(&mut self.visible.pointers[node as usize], to);
            if from != to {
                self.visible.note(node, from);
            }
        }
        Ok(())
    }

    /// The graph that comes with the structure, for models that read one
    /// ([`Config::input_graph`](crate::Config::input_graph)); no edges until it is set.
    pub fn set_input_graph(&mut self, edges: &[Edge]) -> Result<(), Error> {
        let n = self.nodes();
        if let Some(Edge { u, v, .. }) = edges.iter().find(|edge| edge.u.max(edge.v) as usize >= n)
        {
            return Err(Error::Input(format!(
                "the input graph has the edge ({u}, {v}); expected nodes below {n}"
            )));
        }
        self.processor.set_input_graph(n, edges);
        Ok(())
    }

    /// Replaces the pointers of extra type `number`, for models to which they are given.
    pub fn set_extra_pointers(&mut self, number: usize, pointers: &[Node]) -> Result<(), Error> {
        self.check_pointers(pointers)?;
        self.processor.set_extra_pointers(number, pointers);
        Ok(())
    }

    /// Where every node points by extra type `number`
    /// ([`Config::pointer_types`](crate::Config::pointer_types)).
    pub fn extra_pointers(&self, number: usize) -> Option<&[Node]> {
        self.processor.extra_pointers(number)
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.visible.pointers.len()
    }

    /// Where every node points.
    pub fn pointers(&self) -> &[Node] {
        &self.visible.pointers
    }

    /// h after the last operation, \[n, k\]; the last x of an iterated processor, empty beyond 4096
    /// nodes.
    pub fn latents(&self) -> &[f32] {
        self.processor.latents()
    }

    /// z of the last operation, \[n, k\]; empty for an iterated processor beyond 4096 nodes.
    pub fn encoded(&self) -> &[f32] {
        self.processor.encoded()
    }

    /// ψ's logits for the last operation, \[n\]; [`left_alone`](crate::left_alone) says what they
    /// mean. Zeros in models without masks.
    pub fn mask_logits(&self) -> &[f32] {
        &self.visible.mask_logits
    }

    /// The node each dimension of the readout came from after the last operation: for max z, then
    /// for max h, k each. The lowest index among equals.
    pub fn readout_sources(&self) -> (Vec<Node>, Vec<Node>) {
        self.processor.readout_sources()
    }

    /// α of one node after the last operation (equation 6): how relevant every node is to it.
    /// `None` in models without attention, or if there is no such node.
    pub fn attention(&self, node: Node) -> Option<Vec<f32>> {
        let wanted = self.processor.config().has_attention() && (node as usize) < self.nodes();
        wanted.then(|| self.processor.attention(node, &self.visible))
    }

    /// Floating-point operations that the last operation needed; see [`cost`](crate::cost).
    pub fn flop(&self) -> u64 {
        self.processor.flop(&self.visible)
    }
}
