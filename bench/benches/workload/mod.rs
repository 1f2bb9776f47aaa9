//! What both benchmarks of the structures run, on ours and on others'.

use pgn_structures::{Aggregate, LinkCutTree, Operation, Rng};

pub const SIZES: [u32; 3] = [100, 10_000, 1_000_000];

/// 1.5 n uniform operations on n nodes, as in the paper, with random priorities.
pub fn workload(nodes: u32, seed: u64) -> (Vec<f32>, Vec<Operation>) {
    let mut rng = Rng::new([seed, 0, nodes.into(), 0]);
    let priorities = (0..nodes).map(|_| rng.unit_f32()).collect();
    let operations = (0..nodes + nodes / 2).map(|_| Operation::sample(nodes, &mut rng)).collect();
    (priorities, operations)
}

/// Applies all operations to a fresh structure; how many answers were yes, so that nothing is
/// optimised away.
pub fn run<S, O: Copy>(
    (mut structure, operations): (S, &[O]),
    mut apply: impl FnMut(&mut S, O) -> bool,
) -> usize {
    operations.iter().filter(|&&operation| apply(&mut structure, operation)).count()
}

/// An operation that any link/cut tree has, on unrooted trees.
#[derive(Clone, Copy)]
pub enum Edit {
    Connected(u32, u32),
    Link(u32, u32),
    Cut(u32, u32),
}

/// For each pair: are they connected? If not, link them; if so, cut some edge of the forest.
pub fn edits(nodes: u32, operations: &[Operation]) -> Vec<Edit> {
    let mut rng = Rng::new([1, 0, nodes.into(), 0]);
    let mut forest = <LinkCutTree>::with_nodes(nodes as usize);
    let (mut edges, mut edits) = (Vec::new(), Vec::new());
    for &Operation { u, v, .. } in operations {
        edits.push(Edit::Connected(u, v));
        if forest.connected(u, v).unwrap() {
            let (a, b) = edges.swap_remove(rng.below(edges.len() as u32) as usize);
            edits.push(Edit::Cut(a, b));
            apply(&mut forest, Edit::Cut(a, b));
        } else {
            edges.push((u, v));
            edits.push(Edit::Link(u, v));
            apply(&mut forest, Edit::Link(u, v));
        }
    }
    edits
}

pub fn apply<A: Aggregate>(forest: &mut LinkCutTree<A>, edit: Edit) -> bool {
    match edit {
        Edit::Connected(u, v) => forest.connected(u, v).unwrap(),
        Edit::Link(u, v) => forest.evert(u).and_then(|()| forest.link(u, v)).is_ok(),
        Edit::Cut(u, v) => forest.evert(u).and_then(|()| forest.cut(v)).is_ok(),
    }
}

pub fn apply_lctree(forest: &mut lctree::LinkCutTree<lctree::FindMax>, edit: Edit) -> bool {
    match edit {
        Edit::Connected(u, v) => forest.connected(u as usize, v as usize),
        Edit::Link(u, v) => forest.link(u as usize, v as usize),
        Edit::Cut(u, v) => forest.cut(u as usize, v as usize),
    }
}
