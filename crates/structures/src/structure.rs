//! The one trait behind every learnable data structure.

use crate::{About, Feature, Node, Operation, Rng, Visited};

/// A pointer-based data structure that a network can learn to imitate.
///
/// It holds n nodes, each with exactly one pointer. Everything else, from sampling to the
/// viewer, works with any implementation; `docs/adding-a-structure.md` walks through one.
///
/// The trait is object-safe; a [`Task`](crate::Task) is a way to make fresh ones.
pub trait PointerStructure: Send {
    /// The short name users type after `--task` and data-set files carry.
    fn name(&self) -> &str;

    /// What people call it and its operation; the name unless overridden.
    fn about(&self) -> About {
        About::named(self.name())
    }

    /// What a node is told about an operation; the paper's two features unless overridden.
    fn features(&self) -> &[Feature] {
        Feature::PAPER
    }

    /// Forgets everything: `priorities.len()` nodes, each pointing to itself.
    fn reset(&mut self, priorities: &[f32]);

    /// Draws the next operation on `nodes` nodes; a uniform pair u ≠ v unless overridden.
    ///
    /// It is called when all earlier operations have been applied, so that it may depend on
    /// the state. It must read nothing random but `rng`.
    fn sample(&self, nodes: Node, rng: &mut Rng) -> Operation {
        Operation::sample(nodes, rng)
    }

    /// Carries out one operation, notes every visited node (ground-truth mask 0) and returns
    /// the answer ŷ.
    ///
    /// The caller has checked that u ≠ v and that both are below n.
    fn apply(&mut self, operation: Operation, visited: &mut Visited) -> bool;

    /// Where `node` points now: π̂ of the node.
    fn pointer(&self, node: Node) -> Node;

    /// Goes on from these pointers, one per node, if they say all there is to know; false if the
    /// structure keeps more than it shows, as a link/cut tree does.
    ///
    /// The caller has reset the structure, and the pointers are those of a forest.
    fn start_from(&mut self, pointers: &[Node]) -> bool {
        let _ = pointers;
        false
    }

    /// Writes the pointers of nodes 0, 1, … into `row`. Override it only to be faster.
    fn pointers(&self, row: &mut [Node]) {
        for (node, pointer) in (0..).zip(row) {
            *pointer = self.pointer(node);
        }
    }
}
