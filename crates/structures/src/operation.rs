//! What is done to a data structure: an operation on two of its nodes.

use crate::{OperationError, Rng};

/// The index of a node, from 0 to n − 1.
pub type Node = u32;

/// One operation on the pair (u, v), in the order it was sampled.
///
/// What it *does* is the business of the structure it is applied to: `query-union` for a
/// disjoint-set union, `query-toggle` for a link/cut tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Operation {
    /// The first operand.
    pub u: Node,
    /// The second operand, different from the first.
    pub v: Node,
}

impl Operation {
    /// A pair u ≠ v, uniform among the n (n − 1) ordered pairs: u first, then v among the rest.
    ///
    /// `nodes` must be at least 2.
    pub fn sample(nodes: Node, rng: &mut Rng) -> Self {
        let u = rng.below(nodes);
        let v = rng.below(nodes.saturating_sub(1));
        // v counts the nodes other than u, so those from u on move up by one.
        Operation { u, v: v + Node::from(v >= u) }
    }

    /// Refuses u = v and operands that are not below `nodes`.
    pub fn check(self, nodes: usize) -> Result<(), OperationError> {
        let Operation { u, v } = self;
        check_node(u, nodes)?;
        check_node(v, nodes)?;
        if u == v {
            return Err(OperationError::SameNode { node: u });
        }
        Ok(())
    }
}

/// Refuses a node that is not below `nodes`.
#[inline]
pub(crate) fn check_node(node: Node, nodes: usize) -> Result<(), OperationError> {
    if (node as usize) < nodes {
        Ok(())
    } else {
        Err(OperationError::NodeOutOfRange { node, nodes })
    }
}
