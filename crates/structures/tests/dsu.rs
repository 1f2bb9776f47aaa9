//! The disjoint-set union against petgraph's, by hand, and on long chains.

use petgraph::unionfind::UnionFind;
use pgn_structures::{
    Dataset, Dsu, Linking, Node, Operation, OperationError, PointerStructure, Recorder, Rng, Task,
    Visited, forest,
};
use proptest::prelude::*;

/// n from 2 to 200 with distinct priorities, and pairs u ≠ v.
fn operations() -> impl Strategy<Value = (Vec<f32>, Vec<Operation>)> {
    (2..=200u32, any::<u64>(), 1..=300usize).prop_map(|(nodes, seed, ops)| {
        let mut rng = Rng::new([seed, 0, 0, 0]);
        let priorities = (0..nodes).map(|_| rng.unit_f32()).collect();
        let operations = (0..ops).map(|_| Operation::sample(nodes, &mut rng)).collect();
        (priorities, operations)
    })
}

/// The path from `node` to its root, by following pointers.
fn path_to_root(pointers: &[Node], mut node: Node) -> Vec<Node> {
    let mut path = vec![node];
    while pointers[node as usize] != node {
        node = pointers[node as usize];
        path.push(node);
    }
    path
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn answers_masks_and_pointers((priorities, operations) in operations()) {
        let n = priorities.len();
        let mut ours = Dsu::new(&priorities);
        let mut plain = ours.clone();
        let mut theirs = UnionFind::<Node>::new(n);
        let mut pointers: Vec<Node> = (0..n as Node).collect();
        for Operation { u, v, .. } in operations {
            let mut visited = Visited::new(n);
            let answer = ours.query_union_with(u, v, &mut visited).unwrap();
            prop_assert_eq!(answer, theirs.union(u, v));
            // Not recording changes nothing.
            prop_assert_eq!(answer, plain.query_union(u, v).unwrap());

            // Figure 2, from the pointers before the operation.
            let (to_x, to_y) = (path_to_root(&pointers, u), path_to_root(&pointers, v));
            let (x, y) = (to_x[to_x.len() - 1], to_y[to_y.len() - 1]);
            to_x.iter().for_each(|&node| pointers[node as usize] = x);
            to_y.iter().for_each(|&node| pointers[node as usize] = y);
            if x != y && priorities[x as usize] < priorities[y as usize] {
                pointers[x as usize] = y;
            } else if x != y {
                pointers[y as usize] = x;
            }
            for node in 0..n as Node {
                prop_assert_eq!(ours.pointer(node), pointers[node as usize]);
                prop_assert_eq!(plain.pointer(node), pointers[node as usize]);
                let on_path = to_x.contains(&node) || to_y.contains(&node);
                prop_assert_eq!(visited.contains(node), on_path);
            }
        }
        for u in 0..n as Node {
            prop_assert_eq!(ours.connected(0, u).unwrap(), theirs.equiv(0, u));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Linking by size and by rank against figure 2 with sets and ranks written out, petgraph's
    /// answers, and Tarjan's bound: no path is longer than log₂ of the nodes in its set.
    #[test]
    fn linking_by_size_and_by_rank((priorities, operations) in operations()) {
        let n = priorities.len();
        for by_size in [true, false] {
            let mut ours = Dsu::linking(if by_size { Linking::Size } else { Linking::Rank });
            ours.reset(&priorities);
            let mut theirs = UnionFind::<Node>::new(n);
            let mut pointers: Vec<Node> = (0..n as Node).collect();
            let mut ranks = vec![0u32; n];
            for &Operation { u, v, .. } in &operations {
                let root = |pointers: &[Node], node| *path_to_root(pointers, node).last().unwrap();
                let members = |pointers: &[Node], of: Node| {
                    (0..n as Node).filter(|&node| root(pointers, node) == of).count() as u32
                };
                let (x, y) = (root(&pointers, u), root(&pointers, v));
                let weigh = |node: Node| match by_size {
                    true => members(&pointers, node),
                    false => ranks[node as usize],
                };
                let (of_x, of_y) = (weigh(x), weigh(y));
                path_to_root(&pointers, u).iter().for_each(|&node| pointers[node as usize] = x);
                path_to_root(&pointers, v).iter().for_each(|&node| pointers[node as usize] = y);
                let lower = priorities[x as usize] < priorities[y as usize];
                if x != y {
                    let x_goes_under = of_x < of_y || of_x == of_y && lower;
                    let (under, over) = if x_goes_under { (x, y) } else { (y, x) };
                    pointers[under as usize] = over;
                    ranks[over as usize] += u32::from(of_x == of_y);
                }
                prop_assert_eq!(ours.query_union(u, v).unwrap(), theirs.union(u, v));
                for node in 0..n as Node {
                    prop_assert_eq!(ours.pointer(node), pointers[node as usize]);
                }
            }
            for node in 0..n as Node {
                let length = path_to_root(&pointers, node).len() as u32 - 1;
                let of = *path_to_root(&pointers, node).last().unwrap();
                let set = (0..n as Node).filter(|&one| path_to_root(&pointers, one).contains(&of));
                prop_assert!(length <= set.count().ilog2());
            }
        }
    }
}

/// What is said of a chain under random priorities holds under any: paths stay short.
#[test]
fn a_chain_stays_shallow_when_linked_by_size_or_rank() {
    let priorities: Vec<f32> = (0..200).map(|node| node as f32 / 256.0).collect();
    for linking in [Linking::Size, Linking::Rank] {
        let mut sets = Dsu::linking(linking);
        sets.reset(&priorities);
        for node in 1..200 {
            assert!(sets.query_union(node - 1, node).unwrap());
        }
        let pointers: Vec<Node> = (0..200).map(|node| sets.pointer(node)).collect();
        assert_eq!(forest::depths(&pointers).into_iter().max(), Some(1), "{linking:?}");
    }
}

/// Sizes follow from pointers, ranks do not.
#[test]
fn going_on_from_pointers_when_linked_by_size() {
    let priorities = [0.9, 0.8, 0.1, 0.2];
    let mut by_size = Dsu::linking(Linking::Size);
    by_size.reset(&priorities);
    assert!(by_size.start_from(&[0, 1, 3, 3]));
    by_size.query_union(0, 2).unwrap();
    assert_eq!((by_size.pointer(0), by_size.pointer(3)), (3, 3));
    let mut by_rank = Dsu::linking(Linking::Rank);
    by_rank.reset(&priorities);
    assert!(!by_rank.start_from(&[0, 1, 3, 3]));
}

/// ```text
/// priorities   0: .1   1: .2   2: .3   3: .4   4: .5
///
/// (0, 1)  0 → 1                  visits 0 1        answer 1
/// (1, 2)  0 → 1 → 2              visits 1 2        answer 1
/// (4, 3)  3 → 4                  visits 4 3        answer 1
/// (0, 3)  0 → 1 → 2 is compressed to 0 → 2 ← 1, then root 2 (.3) points to root 4 (.5):
///            4
///           / \
///          2   3
///         / \
///        0   1                   visits 0 1 2 3 4  answer 1
/// (3, 1)  1 → 2 → 4 is compressed, the roots are the same:
///            4
///          / | \
///         1  2  3
///            |
///            0                   visits 3 4 1 2    answer 0
/// ```
#[test]
fn by_hand() {
    let pairs = [(0, 1), (1, 2), (4, 3), (0, 3), (3, 1)];
    let set = Dataset::from_operations(
        &Task::named("dsu").unwrap(),
        5,
        &[0.1, 0.2, 0.3, 0.4, 0.5],
        &pairs.map(|(u, v)| Operation::new(u, v)),
    )
    .unwrap();
    assert_eq!(set.answers, [1, 1, 1, 1, 0]);
    let masks = [0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    assert_eq!(set.masks, masks);
    let one = set.sequence(0);
    assert_eq!(one.pointers_after(0), [1, 1, 2, 3, 4]);
    assert_eq!(one.pointers_after(1), [1, 2, 2, 3, 4]);
    assert_eq!(one.pointers_after(2), [1, 2, 2, 4, 4]);
    assert_eq!(one.pointers_after(3), [2, 2, 4, 4, 4]);
    assert_eq!(one.pointers_after(4), [2, 4, 4, 4, 4]);
}

fn chain(nodes: u32) -> Dsu {
    let priorities: Vec<f32> = (0..nodes).map(|node| node as f32 / (1 << 24) as f32).collect();
    let mut sets = Dsu::new(&priorities);
    for node in 1..nodes {
        assert!(sets.query_union(node - 1, node).unwrap());
    }
    sets
}

/// With priorities in order, uniting neighbours in order makes a list: 0 → 1 → 2 → …
#[test]
fn the_pathological_chain_is_linear() {
    let sets = chain(200);
    let pointers: Vec<Node> = (0..200).map(|node| sets.pointer(node)).collect();
    let depths: Vec<u32> = (0..200).rev().collect();
    assert_eq!(forest::depths(&pointers), depths);
}

#[test]
fn a_chain_of_a_million_nodes_is_followed_and_compressed() {
    let mut sets = chain(1_000_000);
    assert_eq!(sets.find(0).unwrap(), 999_999);
    assert!((0..1_000_000).all(|node| sets.pointer(node) == 999_999));
}

/// Counts visits, repeated ones too: the work done.
struct Work(u64);

impl Recorder for Work {
    fn visit(&mut self, _: Node) {
        self.0 += 1;
    }
}

#[test]
fn random_priorities_keep_the_work_constant() {
    let per_operation = |nodes: u32| {
        let mut rng = Rng::new([0, 0, nodes.into(), 0]);
        let mut sets = Dsu::with_seed(nodes as usize, 1);
        let mut work = Work(0);
        for _ in 0..3 * nodes {
            let Operation { u, v, .. } = Operation::sample(nodes, &mut rng);
            sets.query_union_with(u, v, &mut work).unwrap();
        }
        work.0 as f64 / f64::from(3 * nodes)
    };
    // Two paths of two to three nodes each, whatever the size.
    for nodes in [100, 10_000, 1_000_000] {
        assert!(per_operation(nodes) < 6.0, "{nodes}: {}", per_operation(nodes));
    }
}

/// Any float will do for a priority, equal ones too: then the first operand's root stays one.
#[test]
fn priorities_of_any_size() {
    let mut sets = Dsu::new(&[-1.0, -3.0, 2.0, 2.0, f32::INFINITY]);
    assert!(sets.query_union(0, 1).unwrap());
    assert_eq!((sets.pointer(0), sets.pointer(1)), (0, 0));
    assert!(sets.query_union(3, 2).unwrap());
    assert_eq!((sets.pointer(2), sets.pointer(3)), (3, 3));
    assert!(sets.query_union(1, 2).unwrap());
    assert_eq!((sets.pointer(0), sets.pointer(1), sets.pointer(3)), (3, 0, 3));
    assert!(sets.query_union(4, 2).unwrap());
    assert_eq!((sets.pointer(2), sets.pointer(3), sets.pointer(4)), (3, 4, 4));
}

#[test]
fn wrong_operands_are_errors() {
    let mut sets = Dsu::new(&[0.1, 0.2, 0.3]);
    let out_of_range = OperationError::NodeOutOfRange { node: 3, nodes: 3 };
    assert_eq!(sets.find(3), Err(out_of_range));
    assert_eq!(sets.union(0, 3), Err(out_of_range));
    assert_eq!(sets.connected(3, 0), Err(out_of_range));
    assert_eq!(sets.query_union(3, 0), Err(out_of_range));
    assert_eq!(sets.query_union(2, 2), Err(OperationError::SameNode { node: 2 }));
    assert_eq!(Dsu::default().find(0), Err(OperationError::NodeOutOfRange { node: 0, nodes: 0 }));
}
