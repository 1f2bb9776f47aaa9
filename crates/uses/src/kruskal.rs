//! Minimum spanning forests by Kruskal's algorithm.

use crate::{Edge, Result, UnionFind};

/// The edges of a minimum spanning forest, by number, from light to heavy.
///
/// The host sorts the edges (those of equal weight by number); which of them join two trees is up
/// to `sets`, in which every node is on its own at first. Weights must be comparable.
///
/// O(m log m) for the sort and m operations on the sets. Kruskal 1956, *On the shortest spanning
/// subtree of a graph and the traveling salesman problem*.
///
/// ```
/// use pgn_lab::machine::{MachineRun, Mode};
/// use pgn_uses::{Edge, LearnedDsu, kruskal};
///
/// let edges = [(0, 1, 5), (1, 2, 3), (2, 0, 4)].map(|(u, v, weight)| Edge { u, v, weight });
/// let run = MachineRun::built_in("dsu")?;
/// let mut sets = LearnedDsu::new(&run, Mode::Compiled, 3)?;
/// assert_eq!(kruskal(&mut sets, &edges)?, [1, 2]);
/// # Ok::<(), pgn_uses::Error>(())
/// ```
pub fn kruskal<W: PartialOrd>(sets: &mut impl UnionFind, edges: &[Edge<W>]) -> Result<Vec<usize>> {
    let mut order: Vec<u32> = (0..edges.len() as u32).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&edges[a as usize].weight, &edges[b as usize].weight);
        a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut forest = Vec::new();
    for index in order {
        let Edge { u, v, .. } = edges[index as usize];
        if sets.unite(u, v)? {
            forest.push(index as usize);
        }
    }
    Ok(forest)
}
