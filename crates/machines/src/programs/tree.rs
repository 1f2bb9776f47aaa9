//! What programs over binary trees with parent pointers share.

use pgn_structures::Node;

use crate::{Definition, Memory, Signature, invariants};

pub(super) const UP: usize = 0;
pub(super) const LEFT: usize = 1;
pub(super) const RIGHT: usize = 2;
pub(super) const FIELDS: &[&str] = &["up", "left", "right"];

/// A program over nodes with the fields `up`, `left` and `right`.
pub(super) fn over_trees(
    signature: Signature,
    step: fn(u8, &mut dyn Memory) -> Option<u8>,
) -> Definition {
    Definition::new(signature, step)
        .invariant(
            "a node is the left or right child of one node at most, and `up` of a child is its \
             parent",
            |view| invariants::inverse(view, UP, &[LEFT, RIGHT]),
        )
        .invariant(
            "following `left` and `right`, or `up` backwards, never leads back to a node",
            |view| invariants::acyclic(view, &[UP], &[LEFT, RIGHT]),
        )
}

/// The parent in the splay tree, which knows the node as a child.
pub(super) fn parent(m: &mut dyn Memory, node: Node) -> Option<Node> {
    let up = m.pointer(node, UP)?;
    let child = m.pointer(up, LEFT) == Some(node) || m.pointer(up, RIGHT) == Some(node);
    child.then_some(up)
}

/// `Rotate(u)`: brings u one level up, over its parent v, which it gives. Undefined without a
/// parent.
pub(super) fn rotate(m: &mut dyn Memory, u: Node) -> Option<Node> {
    let v = parent(m, u)?;
    let w = m.pointer(v, UP);
    let (side, other) = if m.pointer(v, LEFT) == Some(u) { (LEFT, RIGHT) } else { (RIGHT, LEFT) };
    let inner = m.pointer(u, other);
    if let Some(w) = w {
        // A parent w takes u for v; a path-parent knows no child.
        if m.pointer(w, LEFT) == Some(v) {
            m.set_pointer(w, LEFT, Some(u));
        } else if m.pointer(w, RIGHT) == Some(v) {
            m.set_pointer(w, RIGHT, Some(u));
        }
    }
    m.set_pointer(v, side, inner);
    if let Some(inner) = inner {
        m.set_pointer(inner, UP, Some(v));
        m.visit(inner);
    }
    m.set_pointer(u, other, Some(v));
    m.set_pointer(u, UP, w);
    m.visit(u);
    m.set_pointer(v, UP, Some(u));
    m.visit(v);
    Some(v)
}
