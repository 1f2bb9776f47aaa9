//! Rooted forests: dynamic tree connectivity whose whole state is its pointers.

use crate::operation::check_node;
use crate::{
    Feature, Node, Operation, OperationError, PointerStructure, Recorder, TaskText, Visited,
};

/// A forest of rooted trees whose edges come and go; a node points to its parent, a root to itself.
///
/// It answers what a [`LinkCutTree`](crate::LinkCutTree) answers, without the splay trees: the
/// pointers *are* the trees. Nothing is hidden in it (a link/cut tree hides which child is left
/// and which subtrees are flipped), so its next pointers follow from its pointers and the
/// operation alone.
///
/// # Complexity
///
/// O(depth) per operation, so O(n) at worst. No recursion.
///
/// # Example
///
/// ```
/// use pgn_structures::{RootedForest, Visited};
///
/// let mut forest = RootedForest::with_nodes(4);
/// assert!(!forest.toggle(0, 1)?); // apart: 0 now points to 1
/// assert!(!forest.toggle(2, 1)?);
///
/// // 0 → 1 ← 2: everting 0 turns its path round, and then 3 is its parent.
/// let mut visited = Visited::new(4);
/// assert!(!forest.toggle_with(0, 3, &mut visited)?);
/// assert_eq!([0, 1, 2, 3].map(|node| forest.pointer(node)), [3, 0, 1, 3]);
/// assert_eq!(visited.nodes(), [0, 1, 3]);
///
/// assert!(forest.toggle(3, 2)?); // connected: with 3 as the root, 2 is cut from its parent 1
/// assert_eq!(forest.pointer(2), 2);
/// # Ok::<(), pgn_structures::OperationError>(())
/// ```
///
/// # Literature
///
/// The represented forest of Sleator and Tarjan 1983, *A data structure for dynamic trees*.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootedForest {
    pointers: Vec<Node>,
}

impl RootedForest {
    /// `nodes` trees of one node each.
    pub fn with_nodes(nodes: usize) -> Self {
        RootedForest { pointers: (0..nodes as Node).collect() }
    }

    /// Number of nodes, n.
    pub fn len(&self) -> usize {
        self.pointers.len()
    }

    /// Whether there are no nodes at all.
    pub fn is_empty(&self) -> bool {
        self.pointers.is_empty()
    }

    /// Where `node` points: its parent, or itself if it is a root.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn pointer(&self, node: Node) -> Node {
        self.pointers[node as usize]
    }

    /// The root of the tree that holds `u`.
    pub fn find_root(&self, u: Node) -> Result<Node, OperationError> {
        check_node(u, self.len())?;
        Ok(self.climb(u, &mut ()))
    }

    /// Makes `u` the root of its tree.
    pub fn evert(&mut self, u: Node) -> Result<(), OperationError> {
        check_node(u, self.len())?;
        self.turn(u, &mut ());
        Ok(())
    }

    /// Makes u the root of its tree; if v is in it (answer true), cuts v from its parent, else
    /// points u to v.
    ///
    /// Gives the answers of `query-toggle`, given the operands in the order it would swap them
    /// into.
    pub fn toggle(&mut self, u: Node, v: Node) -> Result<bool, OperationError> {
        self.toggle_with(u, v, &mut ())
    }

    /// [`RootedForest::toggle`], recording the nodes on both paths to a root, ends included: u's
    /// before it is everted and v's after, which together are the two paths before.
    pub fn toggle_with(
        &mut self,
        u: Node,
        v: Node,
        recorder: &mut impl Recorder,
    ) -> Result<bool, OperationError> {
        Operation::new(u, v).check(self.len())?;
        Ok(self.toggle_nodes(u, v, recorder))
    }

    fn toggle_nodes(&mut self, u: Node, v: Node, recorder: &mut impl Recorder) -> bool {
        self.turn(u, recorder);
        let connected = self.climb(v, recorder) == u;
        if connected {
            self.pointers[v as usize] = v;
        } else {
            self.pointers[u as usize] = v;
        }
        connected
    }

    /// Follows the pointers from `node` to its root.
    fn climb(&self, mut node: Node, recorder: &mut impl Recorder) -> Node {
        loop {
            recorder.visit(node);
            match self.pointers[node as usize] {
                next if next == node => return node,
                next => node = next,
            }
        }
    }

    /// Points `node` to `parent`, without a check.
    pub(crate) fn point(&mut self, node: Node, parent: Node) {
        self.pointers[node as usize] = parent;
    }

    /// Reverses the pointers on the path from `u` to its root.
    pub(crate) fn turn(&mut self, u: Node, recorder: &mut impl Recorder) {
        let (mut child, mut node) = (u, u);
        loop {
            recorder.visit(node);
            let parent = std::mem::replace(&mut self.pointers[node as usize], child);
            if parent == node {
                return;
            }
            (child, node) = (node, parent);
        }
    }
}

impl PointerStructure for RootedForest {
    fn name(&self) -> &str {
        "forest"
    }

    fn about(&self) -> TaskText {
        TaskText::new(
            "Rooted forest",
            "query-toggle",
            "dynamic trees without splay trees: a node points to its parent",
            ["were apart, now linked", "were connected, now cut"],
        )
    }

    fn features(&self) -> &[Feature] {
        Feature::ORDERED
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.pointers.clear();
        self.pointers.extend(0..priorities.len() as Node);
    }

    fn apply(
        &mut self,
        Operation { u, v, .. }: Operation,
        visited: &mut Visited,
    ) -> crate::Result<bool> {
        Ok(self.toggle_nodes(u, v, visited))
    }

    fn pointer(&self, node: Node) -> Node {
        RootedForest::pointer(self, node)
    }

    fn start_from(&mut self, pointers: &[Node]) -> bool {
        self.pointers.copy_from_slice(pointers);
        true
    }
}
