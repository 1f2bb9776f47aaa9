//! What programs over binary trees with parent pointers share.

use pgn_structures::Node;

use crate::Memory;

pub(super) const UP: usize = 0;
pub(super) const LEFT: usize = 1;
pub(super) const RIGHT: usize = 2;
pub(super) const FIELDS: &[&str] = &["up", "left", "right"];

/// What holds of trees whose children know their parents.
pub(super) const CLAUSES: &[&str] = &[
    "acyclic up",
    "p.left = c -> c.up = p",
    "p.right = c -> c.up = p",
    "p.left = c -> p.right != c",
];

/// Where a double rotation is: `first` is the parent of s in a zig-zig and s itself in a zig-zag.
/// What only follows from the other clauses helps the enumeration, which does not see s.
///
/// `above`, if anything, tells the node g above a double rotation from the one above a single one.
pub(super) fn double_rotation(first: &str, above: &str) -> Vec<String> {
    let mut clauses = Vec::new();
    for (side, other) in [("left", "right"), ("right", "left")] {
        for clause in [
            "first rotation: F.up = p and p.SIDE = F -> F.SIDE = s or F = s",
            "first rotation: F = s and F.up = p and p.SIDE = F and p.up = g -> g.OTHER = p",
            "first rotation: F.up = p and p.SIDE = F and F.SIDE = nil -> p.up != nil",
            "first rotation: F.up = p and p.SIDE = F and F.SIDE = nil and p.up = g -> g.OTHER = p",
            "rotation: s.up = p and p.SIDE = s and p.up = g and g.right = p -> p.OTHER != nil or s.SIDE != nil",
            "rotation: s.up = p and p.SIDE = s and p.up = g and g.left = pABOVE -> p.OTHER != nil or s.SIDE != nil",
        ] {
            let clause = clause.replace("SIDE", side).replace("OTHER", other);
            let clause = clause.replace("ABOVE", above);
            clauses.push(clause.replace('F', first));
        }
    }
    clauses
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
