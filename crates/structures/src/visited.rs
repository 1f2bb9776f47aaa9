//! Which nodes an operation visits: the ground truth of the masks μ̂.

use crate::Node;

/// Something that is told of every node an operation visits.
///
/// The structures are generic over it, so that not recording, with the recorder `()`, costs
/// nothing: the calls are compiled away.
pub trait Recorder {
    /// Notes that the operation visited `node`, possibly not for the first time.
    fn visit(&mut self, node: Node);
}

/// Records nothing.
impl Recorder for () {
    #[inline(always)]
    fn visit(&mut self, _: Node) {}
}

impl Recorder for Visited {
    #[inline(always)]
    fn visit(&mut self, node: Node) {
        self.insert(node);
    }
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
    ///
    /// # Panics
    ///
    /// If there is no such node.
    #[inline]
    pub fn insert(&mut self, node: Node) {
        let seen = &mut self.seen[node as usize];
        if !*seen {
            *seen = true;
            self.nodes.push(node);
        }
    }

    /// Whether the node is in the set.
    ///
    /// # Panics
    ///
    /// If there is no such node.
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
