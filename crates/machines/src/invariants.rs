//! Invariants that several structures share, as predicates on what was read so far.

use crate::{Seen, View};

/// Trees with parent pointers: a node is the child of one node at most, on one side, and `up` of
/// a child is its parent. `up` of a node may lead to one that does not know it as a child.
pub fn inverse(view: &View, up: usize, children: &[usize]) -> bool {
    let mut parents = vec![None; usize::from(view.nodes)];
    for parent in 0..view.nodes {
        for &field in children {
            if let Seen::Node(child) = view.pointer(parent, field) {
                let above = view.pointer(child, up);
                let claimed = parents[usize::from(child)].replace(parent);
                if claimed.is_some()
                    || !matches!(above, Seen::Unread) && above != Seen::Node(parent)
                {
                    return false;
                }
            }
        }
    }
    true
}

/// Following any of `down`, or any of `up` backwards, from a node never leads back to it.
pub fn acyclic(view: &View, up: &[usize], down: &[usize]) -> bool {
    let nodes = usize::from(view.nodes);
    let mut below = vec![Vec::new(); nodes];
    let mut above = vec![0usize; nodes];
    for node in 0..view.nodes {
        for &field in down {
            if let Seen::Node(to) = view.pointer(node, field) {
                below[usize::from(node)].push(usize::from(to));
                above[usize::from(to)] += 1;
            }
        }
        for &field in up {
            if let Seen::Node(from) = view.pointer(node, field) {
                below[usize::from(from)].push(usize::from(node));
                above[usize::from(node)] += 1;
            }
        }
    }
    // Nodes with nothing above them are taken away until none is left, if there is no cycle.
    let mut free: Vec<usize> = (0..nodes).filter(|&node| above[node] == 0).collect();
    let mut taken = 0;
    while let Some(node) = free.pop() {
        taken += 1;
        for &next in &below[node] {
            above[next] -= 1;
            if above[next] == 0 {
                free.push(next);
            }
        }
    }
    taken == nodes
}

/// No two of these fields, of one node or of two, point to the same node.
pub fn unshared(view: &View, fields: &[usize]) -> bool {
    let mut pointed = vec![false; usize::from(view.nodes)];
    (0..view.nodes).all(|node| {
        fields.iter().all(|&field| match view.pointer(node, field) {
            Seen::Node(to) => !std::mem::replace(&mut pointed[usize::from(to)], true),
            _ => true,
        })
    })
}
