//! Disjoint-set union: incremental connectivity, section 3 of the paper.

use crate::operation::check_node;
use crate::{
    Feature, Node, Operation, OperationError, PointerStructure, Recorder, Split, TaskText, Visited,
};

/// A disjoint-set union with path compression and linking by random priority.
///
/// Each set is a rooted tree; a node points to its parent, a root to itself. [`Dsu::find`] makes
/// every node on its path point to the root; [`Dsu::union`] makes the root of lower priority
/// point to the other one, or, if it is asked to ([`Linking`]), that of the smaller set, that of
/// lower rank, or that of u.
///
/// # Complexity
///
/// With random priorities, O(α(n)) per operation in expectation (randomised linking by index,
/// Goel et al. 2014). With priorities in an adversary's order, or linking by operands, a chain can
/// grow: O(n) for one operation, O(log n) amortised. Linking by size or by rank is O(α(n))
/// amortised for any operations, and no path is longer than log₂ n pointers (Tarjan 1975). Four
/// bytes per node, eight where sizes or ranks are kept, and no recursion: a chain of a million
/// nodes is no trouble.
///
/// # Example
///
/// ```
/// use pgn_structures::{Dsu, Visited};
///
/// let mut sets = Dsu::new(&[0.1, 0.7, 0.4, 0.9]);
/// assert!(sets.query_union(0, 1)?); // they were apart
/// assert!(sets.query_union(2, 3)?);
/// assert_eq!(sets.find(0)?, 1); // 1 has the higher priority
///
/// // What did the operation visit? Both paths to a root, here 0 → 1 and 2 → 3.
/// let mut visited = Visited::new(4);
/// assert!(sets.query_union_with(0, 2, &mut visited)?);
/// assert_eq!(visited.nodes(), [0, 1, 2, 3]);
/// assert_eq!(sets.pointer(1), 3);
/// # Ok::<(), pgn_structures::OperationError>(())
/// ```
///
/// # Literature
///
/// Galler and Fisher 1964; Tarjan 1975, *Efficiency of a good but not linear set union algorithm*; Tarjan and van Leeuwen 1984; Goel, Khanna, Larkin and Tarjan 2014,
/// *Disjoint set union with randomized linking*.
#[derive(Clone, Debug, Default)]
pub struct Dsu {
    /// Per node: where it points, or, from [`ROOT`] on, that it is a root and how its priority
    /// compares. One word per node, and who has found two roots has also read what to compare.
    slots: Vec<u32>,
    linking: Linking,
    /// Of every root, the number of nodes in its set or its rank; empty where neither is kept.
    weights: Vec<u32>,
}

/// The first slot that is no pointer; the bits below it say how roots compare.
const ROOT: u32 = 1 << 31;

/// Which of two roots is put under the other. The answers are the same either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linking {
    /// The one of lower priority, as in the paper.
    #[default]
    Priority,
    /// The one of the smaller set; of equal ones, the one of lower priority.
    Size,
    /// The one of lower rank, a bound on the height of its tree; of equal ones, the one of lower
    /// priority.
    Rank,
    /// The first operand's: u's root goes under v's. The next pointers then follow from the
    /// pointers and the operation alone.
    Operands,
}

impl Dsu {
    /// One set per priority rᵢ, holding just node i (`Init` in figure 2); at most 2³¹ of them.
    pub fn new(priorities: &[f32]) -> Self {
        let mut dsu = Dsu::default();
        dsu.reset(priorities);
        dsu
    }

    /// A structure that links as told; empty until it is [`reset`](PointerStructure::reset).
    pub fn linking(linking: Linking) -> Self {
        Dsu { slots: Vec::new(), linking, weights: Vec::new() }
    }

    /// `nodes` sets of one node each, with priorities drawn from `seed`.
    pub fn with_seed(nodes: usize, seed: u64) -> Self {
        let mut rng = Split::Given.rng(seed, nodes, 0);
        Dsu::new(&(0..nodes).map(|_| rng.unit_f32()).collect::<Vec<_>>())
    }

    /// Number of nodes, n.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are no nodes at all.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The root of the set that holds `u`, compressing the path to it.
    pub fn find(&mut self, u: Node) -> Result<Node, OperationError> {
        self.find_with(u, &mut ())
    }

    /// [`Dsu::find`], recording the nodes on the path, u and the root included.
    pub fn find_with(
        &mut self,
        u: Node,
        recorder: &mut impl Recorder,
    ) -> Result<Node, OperationError> {
        check_node(u, self.len())?;
        Ok(self.find_root(u, self.slots[u as usize], recorder).0)
    }

    /// Whether `u` and `v` are in one set.
    pub fn connected(&mut self, u: Node, v: Node) -> Result<bool, OperationError> {
        Ok(self.find(u)? == self.find(v)?)
    }

    /// Merges the sets that hold `u` and `v`; whether they were apart.
    pub fn union(&mut self, u: Node, v: Node) -> Result<bool, OperationError> {
        check_node(u, self.len())?;
        check_node(v, self.len())?;
        Ok(self.merge(u, v, &mut ()))
    }

    /// `query-union(u, v)`: merges the two sets; true (ŷ = 1) if they were apart, false (ŷ = 0)
    /// if u and v were in one set already. As an operation it needs u ≠ v.
    pub fn query_union(&mut self, u: Node, v: Node) -> Result<bool, OperationError> {
        self.query_union_with(u, v, &mut ())
    }

    /// [`Dsu::query_union`], recording the nodes on both paths, the roots included.
    pub fn query_union_with(
        &mut self,
        u: Node,
        v: Node,
        recorder: &mut impl Recorder,
    ) -> Result<bool, OperationError> {
        Operation::new(u, v).check(self.len())?;
        Ok(self.merge(u, v, recorder))
    }

    /// Where `node` points: its parent, or itself if it is a root.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn pointer(&self, node: Node) -> Node {
        let slot = self.slots[node as usize];
        if slot >= ROOT { node } else { slot }
    }

    /// `Find(u)` of figure 2: the root above u, whose slot is `above`, and the root's slot.
    ///
    /// Roots and nodes right below one, which are most, come first and write nothing.
    #[inline]
    fn find_root(&mut self, u: Node, above: u32, recorder: &mut impl Recorder) -> (Node, u32) {
        recorder.visit(u);
        if above >= ROOT {
            return (u, above);
        }
        recorder.visit(above);
        let slot = self.slots[above as usize];
        if slot >= ROOT {
            return (above, slot);
        }
        self.find_far_root(u, slot, recorder)
    }

    /// The rest of it for longer paths, in two passes instead of a recursion: on to the root
    /// from `next`, the second node above u, then once more, pointing every node at the root.
    #[inline]
    fn find_far_root(&mut self, u: Node, next: Node, recorder: &mut impl Recorder) -> (Node, u32) {
        let mut root = next;
        let slot = loop {
            recorder.visit(root);
            let slot = self.slots[root as usize];
            if slot >= ROOT {
                break slot;
            }
            root = slot;
        };
        let mut node = u;
        loop {
            let pointer = &mut self.slots[node as usize];
            // The last one points there already.
            if *pointer == root {
                return (root, slot);
            }
            node = std::mem::replace(pointer, root);
        }
    }

    /// `Union(u, v)` of figure 2; whether the roots differed.
    #[inline]
    fn merge(&mut self, u: Node, v: Node, recorder: &mut impl Recorder) -> bool {
        // Both at once, so that the processor waits for memory once. If u's path leads through v,
        // v's slot is out of date when it is used, but still leads to the same root over nodes
        // that have been visited.
        let (above_u, above_v) = (self.slots[u as usize], self.slots[v as usize]);
        let (x, slot_x) = self.find_root(u, above_u, recorder);
        let (y, slot_y) = self.find_root(v, above_v, recorder);
        let x_goes_under = match self.linking {
            Linking::Priority => slot_x < slot_y,
            Linking::Operands => true,
            Linking::Size | Linking::Rank => {
                let weight = |root: Node| self.weights[root as usize];
                (weight(x), slot_x) < (weight(y), slot_y)
            }
        };
        if x == y {
            return false;
        }
        let (under, over) = if x_goes_under { (x, y) } else { (y, x) };
        self.slots[under as usize] = over;
        let weight = |root: Node| self.weights[root as usize];
        match self.linking {
            Linking::Priority | Linking::Operands => {}
            Linking::Size => self.weights[over as usize] += weight(under),
            Linking::Rank => {
                self.weights[over as usize] += u32::from(weight(under) == weight(over));
            }
        }
        true
    }
}

/// For each priority a number below 2³¹ that compares as it does.
fn ranks(priorities: &[f32]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..priorities.len()).collect();
    order.sort_unstable_by(|&a, &b| priorities[a].total_cmp(&priorities[b]));
    let mut ranks = vec![0; priorities.len()];
    for pair in order.windows(2) {
        let higher = priorities[pair[0]] < priorities[pair[1]];
        ranks[pair[1]] = ranks[pair[0]] + u32::from(higher);
    }
    ranks
}

impl PointerStructure for Dsu {
    fn name(&self) -> &str {
        match self.linking {
            Linking::Priority => "dsu",
            Linking::Size => "dsu-by-size",
            Linking::Rank => "dsu-by-rank",
            Linking::Operands => "dsu-ordered",
        }
    }

    fn about(&self) -> TaskText {
        let (title, summary) = match self.linking {
            Linking::Priority => ("Disjoint-set union", "disjoint-set union, linking by priority"),
            Linking::Size => (
                "Disjoint-set union, by size",
                "disjoint-set union, linking the smaller set under the larger",
            ),
            Linking::Rank => (
                "Disjoint-set union, by rank",
                "disjoint-set union, linking the root of lower rank under the other",
            ),
            Linking::Operands => (
                "Disjoint-set union, ordered",
                "disjoint-set union without priorities: u's root goes under v's",
            ),
        };
        TaskText::new(title, "query-union", summary, ["already together", "were apart, now joined"])
    }

    fn features(&self) -> &[Feature] {
        match self.linking {
            Linking::Priority | Linking::Size | Linking::Rank => Feature::PAPER,
            Linking::Operands => Feature::ORDERED,
        }
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.slots.clear();
        self.weights.clear();
        match self.linking {
            Linking::Priority | Linking::Operands => {}
            Linking::Size => self.weights.resize(priorities.len(), 1),
            Linking::Rank => self.weights.resize(priorities.len(), 0),
        }
        // The bits of floats that are not negative compare as the floats do.
        if priorities.iter().all(|&priority| priority >= 0.0) {
            self.slots.extend(priorities.iter().map(|priority| ROOT | priority.to_bits()));
        } else {
            self.slots.extend(ranks(priorities).into_iter().map(|rank| ROOT | rank));
        }
    }

    /// Trees of equal size or rank one after the other, which are deepest: n/2 pairs, then n/4 pairs
    /// of pairs, …; then questions about the first and all others.
    fn adversary(&self, step: usize, order: &[Node]) -> Option<Operation> {
        if !matches!(self.linking, Linking::Size | Linking::Rank) {
            return None;
        }
        let (mut rest, mut size) = (step, 1);
        while 2 * size <= order.len() && rest >= order.len() / (2 * size) {
            rest -= order.len() / (2 * size);
            size *= 2;
        }
        let (a, b) = match 2 * size <= order.len() {
            true => (2 * size * rest, 2 * size * rest + size),
            false => (0, 1 + rest % (order.len() - 1).max(1)),
        };
        Some(Operation::new(order[a], order[b]))
    }

    fn apply(
        &mut self,
        Operation { u, v, .. }: Operation,
        visited: &mut Visited,
    ) -> crate::Result<bool> {
        Ok(self.merge(u, v, visited))
    }

    fn pointer(&self, node: Node) -> Node {
        Dsu::pointer(self, node)
    }

    fn start_from(&mut self, pointers: &[Node]) -> bool {
        for ((slot, &pointer), node) in self.slots.iter_mut().zip(pointers).zip(0..) {
            if pointer != node {
                *slot = pointer;
            }
        }
        match self.linking {
            Linking::Priority | Linking::Operands => true,
            Linking::Size => {
                self.weights.fill(0);
                for node in 0..pointers.len() as Node {
                    let mut root = node;
                    while pointers[root as usize] != root {
                        root = pointers[root as usize];
                    }
                    self.weights[root as usize] += 1;
                }
                true
            }
            // Ranks are not told by pointers: compression leaves them as they are.
            Linking::Rank => false,
        }
    }
}
