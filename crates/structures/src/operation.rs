//! What is done to a data structure: an operation on two of its nodes.

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
