//! A data structure as a program over a memory of nodes.

use pgn_structures::{Node, Rng, TaskText};

use crate::{Memory, Signature, Store};

/// A data structure, written as a program of micro-steps.
///
/// A step reads a handful of fields around the registers, writes a few, moves registers and names
/// the next state. It must be a function of what it reads: no state of its own, no randomness, a
/// bounded number of reads.
///
/// The trait is object-safe and all names are in the [`Signature`], so that a program can come
/// from another language.
///
/// [`Definition`](crate::Definition) makes one of plain functions, and has an example.
pub trait Program: Send + Sync {
    /// Its names.
    fn signature(&self) -> &Signature;

    /// What people call it; its name unless overridden.
    fn about(&self) -> TaskText {
        let signature = self.signature();
        let operations: Vec<&str> =
            signature.operations.iter().map(|operation| operation.name.as_str()).collect();
        let summary = format!("a program; operations: {}", operations.join(", "));
        TaskText::new(&signature.name, &operations.join(", "), &summary, ["no", "yes"])
    }

    /// One micro-step from `state`: the next state, or `None` where the program is not defined,
    /// so that `memory.pointer(u, UP)?` says that there must be a node.
    fn step(&self, state: u8, memory: &mut dyn Memory) -> Option<u8>;

    /// What always holds before a step, in the language of [`Clauses`](crate::Clauses). The
    /// enumeration of views leaves out those that violate one.
    fn clauses(&self) -> Vec<String> {
        Vec::new()
    }

    /// Draws the next operation, for traces and tests; by default any one, on different nodes.
    /// It should satisfy the preconditions of the operation.
    fn sample(&self, store: &Store, rng: &mut Rng) -> Call {
        any_call(self.signature(), store, rng)
    }

    /// Whether a register is read from this state on, before it is written again; what is known of
    /// others is of no use. Clauses are looked for about these.
    fn needs(&self, _state: u8, _register: usize) -> bool {
        true
    }

    /// How many of the first nodes [`sample`](Program::sample) uses as whole structures, such as the
    /// tree of all others; by default none.
    fn handles(&self) -> Node {
        0
    }

    /// Where a node points, as π̂ of the paper: by default its first field, or itself.
    fn node_pointer(&self, store: &Store, node: Node) -> Node {
        store.pointer(node, 0).unwrap_or(node)
    }
}

/// An operation with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// Its number in the signature.
    pub operation: usize,
    /// One node per argument register.
    pub arguments: Vec<Node>,
}

impl Call {
    /// An operation on these nodes.
    pub fn new(operation: usize, arguments: &[Node]) -> Self {
        Call { operation, arguments: arguments.to_vec() }
    }
}

/// Any operation, on different nodes.
pub fn any_call(signature: &Signature, store: &Store, rng: &mut Rng) -> Call {
    let operation = rng.below(signature.operations.len() as u32) as usize;
    let count = signature.operations[operation].arguments.len().min(store.len());
    let mut arguments: Vec<Node> = Vec::with_capacity(count);
    while arguments.len() < count {
        let node = rng.below(store.len() as Node);
        if !arguments.contains(&node) {
            arguments.push(node);
        }
    }
    Call { operation, arguments }
}
