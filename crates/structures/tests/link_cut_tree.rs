//! The link/cut tree against a brute-force forest and the crate `lctree`, by hand, and on long
//! chains.

use pgn_structures::{
    Count, Dataset, LinkCutTree, Max, Node, Operation, OperationError, Recorder, Rng, Sum, Task,
};
use proptest::prelude::*;

/// A forest of rooted trees in the plainest way: every node knows its parent.
struct Forest {
    parent: Vec<Option<Node>>,
}

impl Forest {
    fn new(nodes: usize) -> Self {
        Forest { parent: vec![None; nodes] }
    }

    /// From `u` to its root.
    fn ancestors(&self, u: Node) -> Vec<Node> {
        std::iter::successors(Some(u), |&node| self.parent[node as usize]).collect()
    }

    fn root(&self, u: Node) -> Node {
        *self.ancestors(u).last().unwrap()
    }

    fn evert(&mut self, u: Node) {
        for pair in self.ancestors(u).windows(2) {
            self.parent[pair[1] as usize] = Some(pair[0]);
        }
        self.parent[u as usize] = None;
    }

    fn path(&self, u: Node, v: Node) -> Option<Vec<Node>> {
        let (up, mut down) = (self.ancestors(u), self.ancestors(v));
        let meet = *up.iter().find(|node| down.contains(node))?;
        down.truncate(down.iter().position(|&node| node == meet)?);
        let up = up.into_iter().take_while(|&node| node != meet);
        Some(up.chain([meet]).chain(down.into_iter().rev()).collect())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Random calls of every method, whether they make sense or not.
    #[test]
    fn every_method_agrees(nodes in 2..=200u32, seed in any::<u64>(), calls in 1..=200) {
        let mut rng = Rng::new([seed, 0, 0, 0]);
        let n = nodes as usize;
        let mut values: Vec<u64> = (0..n).map(|_| rng.below(1000).into()).collect();
        let mut ours = LinkCutTree::with_values(&values.iter().map(|&v| Sum(v)).collect::<Vec<_>>());
        let mut theirs: lctree::LinkCutTree<lctree::FindSum> = lctree::LinkCutTree::new();
        let _ = theirs.extend_forest(&vec![1.0; n]);
        let mut brute = Forest::new(n);
        for _ in 0..calls {
            let Operation { u, v, .. } = Operation::sample(nodes, &mut rng);
            let (a, b) = (u as usize, v as usize);
            let connected = brute.root(u) == brute.root(v);
            match rng.below(8) {
                // Twice as likely as a cut, or few trees would ever grow.
                0 | 1 => {
                    let expected = if brute.parent[a].is_some() {
                        Err(OperationError::NotARoot { node: u })
                    } else if connected {
                        Err(OperationError::AlreadyConnected { u, v })
                    } else {
                        brute.parent[a] = Some(v);
                        prop_assert!(theirs.link(a, b));
                        Ok(())
                    };
                    prop_assert_eq!(ours.link(u, v), expected);
                }
                2 => {
                    let expected = match brute.parent[a].take() {
                        None => Err(OperationError::IsARoot { node: u }),
                        Some(parent) => {
                            prop_assert!(theirs.cut(a, parent as usize));
                            Ok(())
                        }
                    };
                    prop_assert_eq!(ours.cut(u), expected);
                }
                3 => {
                    ours.evert(u).unwrap();
                    brute.evert(u);
                }
                4 => prop_assert_eq!(ours.find_root(u).unwrap(), brute.root(u)),
                5 => {
                    prop_assert_eq!(ours.connected(u, v).unwrap(), connected);
                    prop_assert_eq!(theirs.connected(a, b), connected);
                }
                6 => {
                    let path = brute.path(u, v);
                    let sum = path.as_ref().map(|p| Sum(p.iter().map(|&i| values[i as usize]).sum()));
                    prop_assert_eq!(ours.path_aggregate(u, v).unwrap(), sum);
                    prop_assert_eq!(ours.path(u, v).unwrap(), path.clone());
                    if let Some(path) = path {
                        prop_assert_eq!(theirs.path(a, b).sum, path.len() as f64);
                    }
                    brute.evert(u);
                }
                _ => {
                    values[a] = rng.below(1000).into();
                    ours.set_value(u, Sum(values[a])).unwrap();
                    prop_assert_eq!(ours.value(u).unwrap(), Sum(values[a]));
                }
            }
        }
    }

    /// Sequences of query-toggles, the operation of the paper.
    #[test]
    fn query_toggle_agrees(nodes in 2..=200u32, seed in any::<u64>(), ops in 1..=300) {
        let mut rng = Rng::new([seed, 1, 0, 0]);
        let priorities: Vec<f32> = (0..nodes).map(|_| rng.unit_f32()).collect();
        let mut ours = LinkCutTree::new(&priorities);
        let mut theirs = lctree::LinkCutTree::default();
        let _ = theirs.extend_forest(&vec![0.0; nodes as usize]);
        let mut brute = Forest::new(nodes as usize);
        for _ in 0..ops {
            let Operation { u, v, .. } = Operation::sample(nodes, &mut rng);
            let answer = ours.query_toggle(u, v).unwrap();
            prop_assert_eq!(answer, theirs.connected(u as usize, v as usize));

            let higher = priorities[u as usize] >= priorities[v as usize];
            let (u, v) = if higher { (u, v) } else { (v, u) };
            brute.evert(u);
            prop_assert_eq!(answer, brute.root(v) == u);
            if answer {
                let parent = brute.parent[v as usize].take().unwrap();
                prop_assert!(theirs.cut(v as usize, parent as usize));
            } else {
                brute.parent[u as usize] = Some(v);
                prop_assert!(theirs.link(u as usize, v as usize));
            }
        }
        for node in 0..nodes {
            prop_assert_eq!(ours.find_root(node).unwrap(), brute.root(node));
        }
    }
}

/// Priorities  0: .9   1: .5   2: .1   3: .2   4: .3. Splay-tree edges are drawn `/` and `\`,
/// path-parents `:`; beside them the tree that is modelled, its root on top.
///
/// ```text
/// (0, 1)  evert(0) does nothing; 1 is in another tree, so link(0, 1): 1 is 0's left child.
///             0        1
///            /         |
///           1          0         visits 0 1        answer 0
///
/// (2, 1)  u = 1 and v = 2, for .5 > .1. evert(1) exposes 1, so that 0, which is deeper, gets
///         1 for a path-parent; flipping 1 alone does nothing. link(1, 2).
///             1        2
///            / :       |
///           2   0      1
///                      |
///                      0         visits 0 1 2      answer 0
///
/// (1, 3)  evert(1) turns its path round: 2 is below 1. link(1, 3) exposes 1, which cuts 2 off,
///         and makes 3 its left child. 0 hangs from 1 all the while and is not visited.
///             1          3
///            /::         |
///           3 2 0        1
///                       / \
///                      0   2     visits 1 2 3      answer 0
///
/// (0, 2)  evert(0): now 0 – 1 – 3 is the path. find_root(2) exposes 2, for which 3 is cut off
///         from 1, and finds 0. cut(2) from its parent 1 leaves
///             0     2      0     2
///              \           |
///               1          1
///               :          |
///               3          3     visits 0 1 2 3    answer 1
/// ```
#[test]
fn by_hand() {
    let pairs = [(0, 1), (2, 1), (1, 3), (0, 2)];
    let set = Dataset::from_operations(
        &Task::named("lct").unwrap(),
        5,
        &[0.9, 0.5, 0.1, 0.2, 0.3],
        &pairs.map(|(u, v)| Operation::new(u, v)),
    )
    .unwrap();
    assert_eq!(set.answers, [0, 0, 0, 1]);
    assert_eq!(set.masks, [0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
    let one = set.sequence(0);
    assert_eq!(one.pointers_after(0), [0, 0, 2, 3, 4]);
    assert_eq!(one.pointers_after(1), [1, 1, 1, 3, 4]);
    assert_eq!(one.pointers_after(2), [1, 1, 1, 1, 4]);
    assert_eq!(one.pointers_after(3), [0, 0, 2, 1, 4]);
}

#[test]
fn a_chain_of_a_million_nodes_is_no_trouble() {
    let n = 1_000_000;
    let mut forest = LinkCutTree::with_values(&vec![Sum(1u32) as Count; n as usize]);
    for node in 1..n {
        forest.link(node - 1, node).unwrap();
    }
    // Every node was exposed in turn, which left the one before it a path of its own.
    assert!((1..n - 1).all(|node| forest.pointer(node - 1) == node));
    assert_eq!(forest.find_root(0).unwrap(), n - 1);
    assert_eq!(forest.path_aggregate(0, n - 1).unwrap(), Some(Sum(n)));
    let path = forest.path(n - 1, 0).unwrap().unwrap();
    assert!(path.into_iter().eq((0..n).rev()));
    forest.cut(n / 2).unwrap();
    assert_eq!(forest.find_root(0).unwrap(), n / 2);
    assert_eq!(forest.find_root(n / 2 + 1).unwrap(), n - 1);
}

/// Counts visits, repeated ones too: the work done.
struct Work(u64);

impl Recorder for Work {
    fn visit(&mut self, _: Node) {
        self.0 += 1;
    }
}

#[test]
fn the_work_grows_with_the_logarithm() {
    for nodes in [100u32, 3_000, 100_000] {
        let mut rng = Rng::new([0, 0, nodes.into(), 0]);
        let priorities: Vec<f32> = (0..nodes).map(|_| rng.unit_f32()).collect();
        let mut forest = LinkCutTree::new(&priorities);
        // From the worst start, one long chain.
        for node in 1..nodes {
            forest.link(node - 1, node).unwrap();
        }
        let mut work = Work(0);
        let ops = 3 * nodes;
        for _ in 0..ops {
            let Operation { u, v, .. } = Operation::sample(nodes, &mut rng);
            forest.query_toggle_with(u, v, &mut work).unwrap();
        }
        let per_operation = work.0 as f64 / f64::from(ops);
        // Up to five exposes an operation, of up to a dozen visits a level.
        assert!(per_operation < 60.0 * f64::from(nodes).log2(), "{nodes}: {per_operation}");
        // And a list would need thousands.
        assert!(per_operation < 1000.0, "{nodes}: {per_operation}");
    }
}

#[test]
fn wrong_operands_are_errors() {
    let mut forest = <LinkCutTree>::with_nodes(3);
    let out_of_range = OperationError::NodeOutOfRange { node: 3, nodes: 3 };
    assert_eq!(forest.find_root(3), Err(out_of_range));
    assert_eq!(forest.link(0, 3), Err(out_of_range));
    assert_eq!(forest.cut(3), Err(out_of_range));
    assert_eq!(forest.evert(3), Err(out_of_range));
    assert_eq!(forest.expose(3), Err(out_of_range));
    assert_eq!(forest.path(0, 3), Err(out_of_range));
    assert_eq!(forest.path_aggregate(3, 0), Err(out_of_range));
    assert_eq!(forest.connected(0, 3), Err(out_of_range));
    assert_eq!(forest.query_toggle(3, 0), Err(out_of_range));
    assert_eq!(forest.query_toggle(1, 1), Err(OperationError::SameNode { node: 1 }));
    assert_eq!(forest.link(1, 1), Err(OperationError::SameNode { node: 1 }));
    assert_eq!(forest.cut(1), Err(OperationError::IsARoot { node: 1 }));
    assert_eq!(forest.path(1, 1), Ok(Some(vec![1])));
    assert_eq!(forest.path(1, 2), Ok(None));
}

#[test]
fn maxima_along_a_path() {
    let mut forest = LinkCutTree::with_values(&[5, 1, 9, 3].map(Max));
    for node in 1..4 {
        forest.link(node - 1, node).unwrap();
    }
    assert_eq!(forest.path_aggregate(0, 1).unwrap(), Some(Max(5)));
    assert_eq!(forest.path_aggregate(3, 1).unwrap(), Some(Max(9)));
    forest.set_value(2, Max(0)).unwrap();
    assert_eq!(forest.path_aggregate(3, 1).unwrap(), Some(Max(3)));
}
