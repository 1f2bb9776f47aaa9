//! The one trait behind every learnable data structure.

use crate::{Feature, Node, Operation};

/// A pointer-based data structure that a network can learn to imitate.
///
/// The trait is object-safe; a task is a way to make fresh ones.
pub trait PointerStructure: Send {
    /// The short name users type after `--task` and data-set files carry.
    fn name(&self) -> &str;

    /// What a node is told about an operation; the paper's two features unless overridden.
    fn features(&self) -> &[Feature] {
        Feature::PAPER
    }

    /// Forgets everything: `priorities.len()` nodes, each pointing to itself.
    fn reset(&mut self, priorities: &[f32]);

    /// Carries out one operation, notes every visited node (ground-truth mask 0) and returns
    /// the answer ŷ.
    fn apply(&mut self, operation: Operation, visited: &mut Visited) -> bool;

    /// Where `node` points now: π̂ of the node.
    fn pointer(&self, node: Node) -> Node;
}

/// The set of nodes an operation visited, cleared in time proportional to its size.
#[derive(Clone, Debug, Default)]
pub struct Visited {
    seen: Vec<bool>,
    nodes: Vec<Node>,
}

impl Visited {
    /// An empty set over `nodes` nodes.
    pub fn new(nodes: usize) -> Self {
        Visited { seen: vec![false; nodes], nodes: Vec::new() }
    }

    /// Adds a node; adding it twice is the same as once.
    pub fn insert(&mut self, node: Node) {
        let seen = &mut self.seen[node as usize];
        if !*seen {
            *seen = true;
            self.nodes.push(node);
        }
    }

    /// Whether the node is in the set.
    pub fn contains(&self, node: Node) -> bool {
        self.seen[node as usize]
    }

    /// The visited nodes, in the order they were first visited.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Empties the set.
    pub fn clear(&mut self) {
        for &node in &self.nodes {
            self.seen[node as usize] = false;
        }
        self.nodes.clear();
    }
}
