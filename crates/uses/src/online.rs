//! Minimum spanning forests of graphs whose edges arrive one by one.

use std::ops::Add;

use pgn_machines::{Arithmetic, At};
use pgn_structures::{Max, Node};

use crate::{DynamicForest, Edge, Result};

/// A weight of an edge.
pub trait Weight: Copy + PartialOrd + Add<Output = Self> {
    /// No edge is lighter.
    const LEAST: Self;
}

impl Weight for u32 {
    const LEAST: u32 = 0;
}

impl Weight for i64 {
    const LEAST: i64 = i64::MIN;
}

impl Weight for f64 {
    const LEAST: f64 = f64::NEG_INFINITY;
}

/// What became of an edge, and of the forest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// It joined two trees.
    Joined,
    /// It took the place of this edge, the heaviest on its cycle.
    Replaced(usize),
    /// It is the heaviest on its cycle, and not in the forest.
    Rejected,
}

/// A minimum spanning forest that is kept up to date, edge by edge.
///
/// The nodes of the dynamic forest are those of the graph, then one for each edge in the spanning
/// forest, whose value is the edge's weight: the heaviest edge of a path is an aggregate. Nodes of
/// edges that leave are used again, so 2n − 1 are enough.
///
/// O(log n) amortised per edge. Sleator and Tarjan 1983, *A data structure for dynamic trees*.
///
/// ```
/// use pgn_lab::machine::{MachineRun, Mode};
/// use pgn_uses::{Edge, Inserted, LearnedForest, OnlineForest};
///
/// let run = MachineRun::built_in("lct")?;
/// let forest = LearnedForest::new(&run, Mode::Compiled, OnlineForest::<(), u32>::values(3))?;
/// let mut online = OnlineForest::new(forest, 3);
/// assert_eq!(online.insert(Edge { u: 0, v: 1, weight: 5 })?, Inserted::Joined);
/// assert_eq!(online.insert(Edge { u: 1, v: 2, weight: 3 })?, Inserted::Joined);
/// assert_eq!(online.insert(Edge { u: 2, v: 0, weight: 4 })?, Inserted::Replaced(0));
/// assert_eq!(online.insert(Edge { u: 0, v: 1, weight: 9 })?, Inserted::Rejected);
/// # Ok::<(), pgn_uses::Error>(())
/// ```
pub struct OnlineForest<F, W> {
    forest: F,
    nodes: usize,
    /// The edge that each node for edges stands for, so far.
    edges: Vec<usize>,
    inserted: usize,
    weight: std::marker::PhantomData<W>,
}

/// The heaviest edge of a path, and the node that stands for it.
pub type Heaviest<W> = Max<At<W>>;

impl<W: Weight> OnlineForest<(), W> {
    /// The values that a dynamic forest must have at first, for a graph of `nodes` nodes.
    pub fn values(nodes: usize) -> Vec<Heaviest<W>> {
        let count = (2 * nodes).saturating_sub(1).max(1);
        (0..count as Node).map(|node| Max(At { value: W::LEAST, node })).collect()
    }
}

impl<F, W: Weight> OnlineForest<F, W> {
    /// No edges so far. `forest` has the nodes and values of [`OnlineForest::values`], and no
    /// edges.
    pub fn new(forest: F, nodes: usize) -> Self {
        let weight = std::marker::PhantomData;
        OnlineForest { forest, nodes, edges: Vec::new(), inserted: 0, weight }
    }

    /// The dynamic forest behind it.
    pub fn forest(&self) -> &F {
        &self.forest
    }

    /// The edges that are in the spanning forest, by number, in no particular order.
    pub fn edges(&self) -> &[usize] {
        &self.edges
    }
}

impl<F: DynamicForest<Heaviest<W>>, W: Weight> OnlineForest<F, W>
where
    Heaviest<W>: Arithmetic,
{
    /// Adds the next edge. Edges are numbered from 0, in the order in which they come.
    pub fn insert(&mut self, Edge { u, v, weight }: Edge<W>) -> Result<Inserted> {
        let number = self.inserted;
        self.inserted += 1;
        if u == v {
            return Ok(Inserted::Rejected);
        }
        let forest = &mut self.forest;
        // u becomes the root of its tree.
        let Some(Max(heaviest)) = forest.path_aggregate(u, v)? else {
            let node = (self.nodes + self.edges.len()) as Node;
            self.edges.push(number);
            forest.set_value(node, Max(At { value: weight, node }))?;
            forest.link(u, node)?;
            forest.link(node, v)?;
            return Ok(Inserted::Joined);
        };
        if heaviest.value <= weight {
            return Ok(Inserted::Rejected);
        }
        // First from what is towards u, then from what is towards v.
        let node = heaviest.node;
        forest.cut(node)?;
        forest.evert(v)?;
        forest.cut(node)?;
        forest.set_value(node, Max(At { value: weight, node }))?;
        forest.link(node, u)?;
        forest.link(v, node)?;
        let place = node as usize - self.nodes;
        Ok(Inserted::Replaced(std::mem::replace(&mut self.edges[place], number)))
    }
}
