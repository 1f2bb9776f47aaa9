//! What must hold inside a link/cut tree after every operation.

use proptest::prelude::*;

use super::{LinkCutTree, NIL};
use crate::{Node, Operation, Rng, forest};

/// A splay tree from left to right as it is meant, flips that are still to be done included.
fn in_order(tree: &LinkCutTree, node: Node, flipped: bool, path: &mut Vec<Node>) {
    if node == NIL {
        return;
    }
    let link = &tree.links[node as usize];
    let flipped = flipped ^ link.flip;
    let [left, right] = link.child;
    let (first, last) = if flipped { (right, left) } else { (left, right) };
    for child in [first, last] {
        assert!(child == NIL || tree.links[child as usize].up == node, "{child} and {node} differ");
    }
    in_order(tree, first, flipped, path);
    path.push(node);
    in_order(tree, last, flipped, path);
}

/// Checks everything against the parents in the tree that is modelled.
fn check(tree: &LinkCutTree, parent: &[Option<Node>]) {
    let n = tree.len();
    let mut times_seen = vec![0; n];
    for top in 0..n as Node {
        if tree.parent(top) != NIL {
            continue; // inside a splay tree
        }
        // The in-order of the splay tree is a path of the modelled tree, by depth …
        let mut path = Vec::new();
        in_order(tree, top, false, &mut path);
        for pair in path.windows(2) {
            assert_eq!(parent[pair[1] as usize], Some(pair[0]));
        }
        // … whose path-parent is the node above its shallowest one.
        let above = tree.links[top as usize].up;
        assert_eq!(parent[path[0] as usize], (above != NIL).then_some(above));
        path.iter().for_each(|&node| times_seen[node as usize] += 1);
    }
    // No rotation lost a node or has it twice.
    assert!(times_seen.iter().all(|&times| times == 1));

    // Pointers lead to one self-pointing node per component.
    let pointers: Vec<Node> = (0..n as Node).map(|node| tree.pointer(node)).collect();
    let end = |mut node: Node, next: &dyn Fn(Node) -> Node| {
        for _ in 0..=n {
            node = next(node);
        }
        node
    };
    let up = |node: Node| parent[node as usize].unwrap_or(node);
    let mut ends = vec![NIL; n];
    for node in 0..n as Node {
        let last = end(node, &|node| pointers[node as usize]);
        assert_eq!(pointers[last as usize], last, "a cycle of pointers");
        let of_component = &mut ends[end(node, &up) as usize];
        assert!(*of_component == NIL || *of_component == last);
        *of_component = last;
    }
    let roots = (0..).zip(&pointers).filter(|&(node, &pointer): &(Node, _)| node == pointer);
    let components = parent.iter().filter(|parent| parent.is_none());
    assert_eq!(roots.count(), components.count());
    assert_eq!(forest::depths(&pointers).len(), n);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn invariants_hold_after_every_operation(
        nodes in 2..=60u32, seed in any::<u64>(), ops in 1..=90usize,
    ) {
        invariants(nodes, seed, ops);
    }
}

#[test]
fn invariants_hold_in_large_forests() {
    for seed in 0..20 {
        invariants(200, seed, 300);
    }
}

fn invariants(nodes: u32, seed: u64, ops: usize) {
    let mut rng = Rng::new([seed, 2, 0, 0]);
    let priorities: Vec<f32> = (0..nodes).map(|_| rng.unit_f32()).collect();
    let mut tree = LinkCutTree::new(&priorities);
    let mut parent: Vec<Option<Node>> = vec![None; nodes as usize];
    for _ in 0..ops {
        let Operation { u, v, .. } = Operation::sample(nodes, &mut rng);
        let answer = tree.query_toggle(u, v).unwrap();

        let higher = priorities[u as usize] >= priorities[v as usize];
        let (u, v) = if higher { (u, v) } else { (v, u) };
        // evert(u): turn the path above u round.
        let (mut node, mut below) = (Some(u), None);
        while let Some(current) = node {
            node = std::mem::replace(&mut parent[current as usize], below);
            below = Some(current);
        }
        if answer {
            assert!(parent[v as usize].take().is_some());
        } else {
            parent[u as usize] = Some(v);
        }
        check(&tree, &parent);

        // Exposed, a node is on top and has nothing deeper in its splay tree.
        tree.expose(u).unwrap();
        assert_eq!(tree.pointer(u), u);
        assert_eq!(tree.links[u as usize].child[1], NIL);
        check(&tree, &parent);
    }
}
