//! Disjoint-set union: incremental connectivity, section 3 of the paper.

use crate::operation::check_node;
use crate::{Feature, Node, Operation, OperationError, PointerStructure, Recorder, Rng, Visited};

/// A disjoint-set union with path compression and linking by random priority.
///
/// Each set is a rooted tree; a node points to its parent, a root to itself. [`Dsu::find`] makes
/// every node on its path point to the root; [`Dsu::union`] makes the root of lower priority
/// point to the other one, or, if it is asked to link by [`Linking::Operands`], the root of u
/// point to that of v.
///
/// # Complexity
///
/// With random priorities, O(α(n)) per operation in expectation (randomised linking by index,
/// Goel et al. 2014). With priorities in an adversary's order, or linking by operands, a chain can
/// grow: O(n) for one operation, O(log n) amortised. No recursion: a chain of a million nodes is no trouble.
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
/// Galler and Fisher 1964; Tarjan and van Leeuwen 1984; Goel, Khanna, Larkin and Tarjan 2014,
/// *Disjoint set union with randomized linking*.
#[derive(Clone, Debug, Default)]
pub struct Dsu {
    nodes: Vec<Entry>,
    linking: Linking,
}

/// Which of two roots is put under the other. The answers are the same either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linking {
    /// The one of lower priority, as in the paper.
    #[default]
    Priority,
    /// The first operand's: u's root goes under v's. The next pointers then follow from the
    /// pointers and the operation alone.
    Operands,
}

/// Pointer and priority side by side: a link reads both of a root's, in one cache line.
#[derive(Clone, Copy, Debug)]
struct Entry {
    pointer: Node,
    priority: f32,
}

impl Dsu {
    /// One set per priority rᵢ, holding just node i (`Init` in figure 2).
    pub fn new(priorities: &[f32]) -> Self {
        let mut dsu = Dsu::default();
        dsu.reset(priorities);
        dsu
    }

    /// The same, linking as told; empty until it is [`reset`](PointerStructure::reset).
    pub fn linking(linking: Linking) -> Self {
        Dsu { nodes: Vec::new(), linking }
    }

    /// `nodes` sets of one node each, with priorities drawn from `seed`.
    pub fn with_seed(nodes: usize, seed: u64) -> Self {
        let mut rng = Rng::new([seed, crate::Split::Given.stream(), nodes as u64, 0]);
        Dsu::new(&(0..nodes).map(|_| rng.unit_f32()).collect::<Vec<_>>())
    }

    /// Number of nodes, n.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes at all.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
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
        Ok(self.find_root(u, recorder))
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
        Operation { u, v }.check(self.len())?;
        Ok(self.merge(u, v, recorder))
    }

    /// Where `node` points: its parent, or itself if it is a root.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn pointer(&self, node: Node) -> Node {
        self.nodes[node as usize].pointer
    }

    /// `Find(u)` of figure 2 in two passes instead of a recursion: up to the root, then again,
    /// pointing every node at it.
    #[inline]
    fn find_root(&mut self, u: Node, recorder: &mut impl Recorder) -> Node {
        let mut root = u;
        recorder.visit(root);
        loop {
            let next = self.nodes[root as usize].pointer;
            if next == root {
                break;
            }
            root = next;
            recorder.visit(root);
        }
        let mut node = u;
        while node != root {
            node = std::mem::replace(&mut self.nodes[node as usize].pointer, root);
        }
        root
    }

    /// `Union(u, v)` of figure 2; whether the roots differed.
    #[inline]
    fn merge(&mut self, u: Node, v: Node, recorder: &mut impl Recorder) -> bool {
        let x = self.find_root(u, recorder);
        let y = self.find_root(v, recorder);
        if x == y {
            return false;
        }
        let x_goes_under = match self.linking {
            Linking::Priority => self.nodes[x as usize].priority < self.nodes[y as usize].priority,
            Linking::Operands => true,
        };
        if x_goes_under {
            self.nodes[x as usize].pointer = y;
        } else {
            self.nodes[y as usize].pointer = x;
        }
        true
    }
}

impl PointerStructure for Dsu {
    fn name(&self) -> &str {
        match self.linking {
            Linking::Priority => "dsu",
            Linking::Operands => "dsu-ordered",
        }
    }

    fn features(&self) -> &[Feature] {
        match self.linking {
            Linking::Priority => Feature::PAPER,
            Linking::Operands => Feature::ORDERED,
        }
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.nodes.clear();
        let entries = (0..).zip(priorities);
        self.nodes.extend(entries.map(|(pointer, &priority)| Entry { pointer, priority }));
    }

    fn apply(&mut self, Operation { u, v }: Operation, visited: &mut Visited) -> bool {
        self.merge(u, v, visited)
    }

    fn pointer(&self, node: Node) -> Node {
        Dsu::pointer(self, node)
    }

    fn start_from(&mut self, pointers: &[Node]) -> bool {
        for (entry, &pointer) in self.nodes.iter_mut().zip(pointers) {
            entry.pointer = pointer;
        }
        true
    }
}
