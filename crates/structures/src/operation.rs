//! What is done to a data structure: an operation on one or two of its nodes.

use serde::Serialize;

use crate::{OperationError, Rng};

/// The index of a node, from 0 to n − 1.
pub type Node = u32;

/// One operation on the pair (u, v), in the order it was sampled.
///
/// What it *does* is the business of the structure it is applied to: `query-union` for a
/// disjoint-set union, `query-toggle` for a link/cut tree. Structures with operations of several
/// kinds tell them apart by number.
///
/// ```
/// use pgn_structures::Operation;
///
/// assert_eq!(Operation::new(3, 7), Operation::of_kind(0, 3, 7));
/// let pop_min = Operation::of_kind(1, 3, 3); // one operand, given twice
/// assert_eq!(pop_min.u, pop_min.v);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Operation {
    /// The first operand.
    pub u: Node,
    /// The second operand, different from the first; the first again if there is only one.
    pub v: Node,
    /// The number of its [`OperationKind`]; 0 for structures with a single kind.
    pub kind: u8,
}

impl Operation {
    /// An operation on u and v, of kind 0.
    pub const fn new(u: Node, v: Node) -> Self {
        Operation { u, v, kind: 0 }
    }

    /// An operation of this kind; v is u again where the kind has one operand.
    pub const fn of_kind(kind: u8, u: Node, v: Node) -> Self {
        Operation { u, v, kind }
    }

    /// A pair u ≠ v, uniform among the n (n − 1) ordered pairs: u first, then v among the rest.
    ///
    /// `nodes` must be at least 2.
    pub fn sample(nodes: Node, rng: &mut Rng) -> Self {
        let u = rng.below(nodes);
        let v = rng.below(nodes.saturating_sub(1));
        // v counts the nodes other than u, so those from u on move up by one.
        Operation::new(u, v + Node::from(v >= u))
    }

    /// Refuses u = v and operands that are not below `nodes`, as structures with a single kind of
    /// operation do.
    pub fn check(self, nodes: usize) -> Result<(), OperationError> {
        self.check_range(nodes)?;
        if self.u == self.v {
            return Err(OperationError::SameNode { node: self.u });
        }
        Ok(())
    }

    /// Refuses operands that are not below `nodes`.
    pub(crate) fn check_range(self, nodes: usize) -> Result<(), OperationError> {
        check_node(self.u, nodes)?;
        check_node(self.v, nodes)
    }
}

/// A kind of operation that a structure offers, such as `insert` with two operands or `pop_min`
/// with one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OperationKind {
    /// Its name.
    pub name: String,
    /// How many operands it has: 1 or 2.
    pub operands: usize,
}

impl OperationKind {
    /// A kind of operation with one or two operands.
    pub fn new(name: &str, operands: usize) -> Self {
        OperationKind { name: name.to_owned(), operands }
    }

    /// Refuses an operation that is none of these kinds, or has the wrong number of operands. A
    /// single kind with two operands takes different ones.
    pub(crate) fn check(
        kinds: &[OperationKind],
        operation: Operation,
        nodes: usize,
    ) -> Result<(), OperationError> {
        if OperationKind::is_plain(kinds) && operation.kind == 0 {
            return operation.check(nodes);
        }
        operation.check_range(nodes)?;
        match kinds.get(usize::from(operation.kind)) {
            None => Err(OperationError::NoSuchKind { kind: operation.kind, kinds: kinds.len() }),
            Some(kind) if kind.operands == 1 && operation.u != operation.v => {
                Err(OperationError::OneOperand { u: operation.u, v: operation.v })
            }
            Some(_) => Ok(()),
        }
    }

    /// Whether these are the paper's: one kind, with two operands.
    pub(crate) fn is_plain(kinds: &[OperationKind]) -> bool {
        matches!(kinds, [only] if only.operands == 2)
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
