//! A data structure as a program over a memory of nodes.

use pgn_structures::{Node, Rng};

use crate::{Memory, Signature, Store, View};

/// A data structure, written as a program of micro-steps.
///
/// A step reads a handful of fields around the registers, writes a few, moves registers and names
/// the next state. It must be a function of what it reads: no state of its own, no randomness, a
/// bounded number of reads.
///
/// The trait is object-safe and all names are in the [`Signature`], so that a program can come
/// from another language.
///
/// # Example
///
/// Finding the end of a linked list:
///
/// ```
/// use pgn_machines::{Halt, Memory, Program, Signature};
///
/// struct Last(Signature);
///
/// impl Last {
///     fn new() -> Self {
///         Last(
///             Signature::new("last")
///                 .pointers(["next"])
///                 .registers(["x"])
///                 .state("walk")
///                 .halt("end", Halt::Node(0))
///                 .operation("last", "walk", &["x"], &[]),
///         )
///     }
/// }
///
/// impl Program for Last {
///     fn signature(&self) -> &Signature {
///         &self.0
///     }
///
///     fn step(&self, _: u8, memory: &mut dyn Memory) -> Option<u8> {
///         let x = memory.register(0)?; // undefined without an argument
///         memory.visit(x);
///         match memory.pointer(x, 0) {
///             None => Some(1),
///             next => {
///                 memory.set_register(0, next);
///                 Some(0)
///             }
///         }
///     }
/// }
/// # let machine = pgn_machines::Machine::new(std::sync::Arc::new(Last::new())).unwrap();
/// # assert_eq!(machine.consistent().len(), 3); // next is nil, x itself, or another node
/// ```
pub trait Program: Send + Sync {
    /// Its names.
    fn signature(&self) -> &Signature;

    /// One micro-step from `state`: the next state, or `None` where the program is not defined,
    /// so that `memory.pointer(u, UP)?` says that there must be a node.
    fn step(&self, state: u8, memory: &mut dyn Memory) -> Option<u8>;

    /// What always holds before a step, each as a sentence. The enumeration of views leaves out
    /// those that violate one.
    fn invariants(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether an invariant can still hold, given what has been read so far.
    ///
    /// It must be monotone: if it is false of a view, it is false of every view in which more has
    /// been read.
    fn holds(&self, invariant: usize, view: &View) -> bool {
        let _ = (invariant, view);
        true
    }

    /// Draws the next operation, for traces and tests; by default any one, on different nodes.
    fn sample(&self, store: &Store, rng: &mut Rng) -> Call {
        let operations = &self.signature().operations;
        let operation = rng.below(operations.len() as u32) as usize;
        let count = operations[operation].arguments.len();
        Call { operation, arguments: distinct(count, store.len() as u32, rng) }
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

/// `count` different nodes of `nodes`, or fewer if there are fewer.
pub(crate) fn distinct(count: usize, nodes: Node, rng: &mut Rng) -> Vec<Node> {
    let mut chosen: Vec<Node> = Vec::with_capacity(count);
    while chosen.len() < count.min(nodes as usize) {
        let node = rng.below(nodes);
        if !chosen.contains(&node) {
            chosen.push(node);
        }
    }
    chosen
}
