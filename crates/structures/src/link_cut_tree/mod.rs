//! Link/cut trees: fully dynamic tree connectivity, section 3 and appendix C of the paper.
//!
//! This file holds what users call; `splay.rs` the machinery below `expose`, and
//! `aggregate.rs` what can be summed along a path.

mod aggregate;
mod splay;
#[cfg(test)]
mod tests;

pub use aggregate::{Aggregate, Count, Max, Min, Sum};
use splay::{Link, NIL};

use crate::operation::check_node;
use crate::{
    Node, Operation, OperationError, PointerStructure, Recorder, Schema, TaskText, Visited,
};

/// A forest of rooted trees whose edges come and go, with one pointer per node.
///
/// Each tree is cut into *preferred paths*; each path is a splay tree keyed by depth (left is
/// closer to the root), and the root of a path's splay tree points to the node above the path,
/// its *path-parent*. A node's pointer is its parent in the splay tree if it has one, else its
/// path-parent, else itself.
///
/// # Complexity
///
/// O(log n) amortised for every operation (Sleator and Tarjan 1985), plus the length of the path
/// for [`LinkCutTree::path`]. 16 bytes per node besides its priority and aggregate. No
/// recursion: a chain of a million nodes is no trouble.
///
/// # Example
///
/// ```
/// use pgn_structures::{LinkCutTree, Max};
///
/// //   1          the tree that is modelled, rooted at 1
/// //  / \
/// // 0   2
/// let mut forest = <LinkCutTree>::with_nodes(4);
/// forest.link(0, 1)?; // 0 is a root: it becomes a child of 1
/// forest.link(2, 1)?;
/// assert_eq!(forest.find_root(0)?, 1);
/// assert_eq!(forest.path(0, 2)?, Some(vec![0, 1, 2]));
/// assert!(!forest.connected(0, 3)?);
///
/// forest.evert(2)?; // 2 is the root now, 0 still hangs from 1
/// forest.cut(1)?; // from its parent 2
/// assert_eq!(forest.find_root(0)?, 1);
///
/// // With a value per node, the largest along a path:
/// let mut forest = LinkCutTree::with_values(&[3, 1, 2].map(Max));
/// forest.link(0, 1)?;
/// forest.link(1, 2)?;
/// assert_eq!(forest.path_aggregate(1, 2)?, Some(Max(2)));
/// # Ok::<(), pgn_structures::OperationError>(())
/// ```
///
/// # Literature
///
/// Sleator and Tarjan 1983, *A data structure for dynamic trees*; 1985, *Self-adjusting binary
/// search trees*.
#[derive(Clone, Debug)]
pub struct LinkCutTree<A: Aggregate = ()> {
    links: Vec<Link<A>>,
    /// rᵢ, which say whether u or v is everted by a query-toggle; empty if all are equal.
    priorities: Vec<f32>,
}

impl<A: Aggregate> Default for LinkCutTree<A> {
    fn default() -> Self {
        LinkCutTree { links: Vec::new(), priorities: Vec::new() }
    }
}

impl LinkCutTree {
    /// One tree per priority rᵢ, holding just node i.
    pub fn new(priorities: &[f32]) -> Self {
        let mut forest = LinkCutTree::default();
        forest.reset(priorities);
        forest
    }

    /// `nodes` trees of one node each. Without priorities, [`LinkCutTree::query_toggle`] everts
    /// its first operand.
    pub fn with_nodes(nodes: usize) -> Self {
        LinkCutTree { links: vec![Link::alone(()); nodes], priorities: Vec::new() }
    }
}

impl<A: Aggregate> LinkCutTree<A> {
    /// One tree per value, holding just the node of that value.
    pub fn with_values(values: &[A]) -> Self {
        let links = values.iter().map(|&value| Link::alone(value)).collect();
        LinkCutTree { links, priorities: Vec::new() }
    }

    /// Number of nodes, n.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether there are no nodes at all.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Where `node` points: its splay-tree parent, else its path-parent, else itself.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn pointer(&self, node: Node) -> Node {
        match self.links[node as usize].up {
            NIL => node,
            up => up,
        }
    }

    /// Makes the path from the root of the tree to `u` preferred and `u` the topmost node, to
    /// which all others in its tree point, directly or not.
    pub fn expose(&mut self, u: Node) -> Result<(), OperationError> {
        check_node(u, self.len())?;
        self.expose_node(u, &mut ());
        Ok(())
    }

    /// The root of the tree that holds `u`.
    pub fn find_root(&mut self, u: Node) -> Result<Node, OperationError> {
        check_node(u, self.len())?;
        Ok(self.find_root_of(u, &mut ()))
    }

    /// Whether `u` and `v` are in one tree.
    pub fn connected(&mut self, u: Node, v: Node) -> Result<bool, OperationError> {
        check_node(u, self.len())?;
        check_node(v, self.len())?;
        self.expose_node(u, &mut ());
        self.expose_node(v, &mut ());
        // Exposing u left it without a pointer; only exposing v in the same tree gives it one.
        Ok(u == v || self.links[u as usize].up != NIL)
    }

    /// Makes the root `u` a child of `v`, which is in another tree.
    pub fn link(&mut self, u: Node, v: Node) -> Result<(), OperationError> {
        Operation::new(u, v).check(self.len())?;
        self.expose_node(u, &mut ());
        if self.links[u as usize].child[0] != NIL {
            return Err(OperationError::NotARoot { node: u });
        }
        self.expose_node(v, &mut ());
        if self.links[u as usize].up != NIL {
            return Err(OperationError::AlreadyConnected { u, v });
        }
        self.attach(u, v, &mut ());
        Ok(())
    }

    /// Removes the edge from `u` to its parent.
    pub fn cut(&mut self, u: Node) -> Result<(), OperationError> {
        check_node(u, self.len())?;
        match self.cut_node(u, &mut ()) {
            true => Ok(()),
            false => Err(OperationError::IsARoot { node: u }),
        }
    }

    /// Makes `u` the root of its tree.
    pub fn evert(&mut self, u: Node) -> Result<(), OperationError> {
        check_node(u, self.len())?;
        self.evert_node(u, &mut ());
        Ok(())
    }

    /// The nodes from `u` to `v` along the edges of their tree, which is re-rooted at u; `None`
    /// if they are not connected.
    pub fn path(&mut self, u: Node, v: Node) -> Result<Option<Vec<Node>>, OperationError> {
        Ok(self.isolate(u, v)?.then(|| self.in_order(v)))
    }

    /// The values from `u` to `v`, both included, combined in O(log n); `None` if they are not
    /// connected. The tree is re-rooted at u.
    pub fn path_aggregate(&mut self, u: Node, v: Node) -> Result<Option<A>, OperationError> {
        Ok(self.isolate(u, v)?.then(|| self.links[v as usize].sum))
    }

    /// The value of `u`.
    pub fn value(&self, u: Node) -> Result<A, OperationError> {
        check_node(u, self.len())?;
        Ok(self.links[u as usize].value)
    }

    /// Changes the value of `u`.
    pub fn set_value(&mut self, u: Node, value: A) -> Result<(), OperationError> {
        check_node(u, self.len())?;
        // Topmost, it is in no other node's sum.
        self.expose_node(u, &mut ());
        self.links[u as usize].value = value;
        self.sum_up(u);
        Ok(())
    }

    /// `query-toggle(u, v)`: whether u and v are connected; if they are (ŷ = 1), cuts the edge
    /// above one of them, else (ŷ = 0) adds the edge between them.
    ///
    /// Of the two, the node of higher priority is everted; the other one is linked to or cut.
    pub fn query_toggle(&mut self, u: Node, v: Node) -> Result<bool, OperationError> {
        self.query_toggle_with(u, v, &mut ())
    }

    /// [`LinkCutTree::query_toggle`], recording u, v, every node released and every node whose
    /// parent or path-parent is assigned.
    pub fn query_toggle_with(
        &mut self,
        u: Node,
        v: Node,
        recorder: &mut impl Recorder,
    ) -> Result<bool, OperationError> {
        Operation::new(u, v).check(self.len())?;
        Ok(self.toggle(u, v, recorder))
    }

    /// `Query-Toggle(u, v)` of figure 3.
    fn toggle(&mut self, u: Node, v: Node, recorder: &mut impl Recorder) -> bool {
        let (u, v) = if self.priority(u) < self.priority(v) { (v, u) } else { (u, v) };
        recorder.visit(u);
        recorder.visit(v);
        self.evert_node(u, recorder);
        let connected = self.find_root_of(v, recorder) == u;
        if connected {
            self.cut_node(v, recorder);
        } else {
            self.expose_node(u, recorder);
            self.expose_node(v, recorder);
            self.attach(u, v, recorder);
        }
        connected
    }

    fn priority(&self, node: Node) -> f32 {
        self.priorities.get(node as usize).copied().unwrap_or_default()
    }

    /// `path(u, v)` at the end of appendix C: brings exactly the path into the splay tree of v;
    /// whether there is one.
    fn isolate(&mut self, u: Node, v: Node) -> Result<bool, OperationError> {
        self.evert(u)?;
        self.expose(v)?;
        Ok(u == v || self.links[u as usize].up != NIL)
    }
}

impl PointerStructure for LinkCutTree {
    fn name(&self) -> &str {
        "lct"
    }

    fn about(&self) -> TaskText {
        TaskText::new(
            "Link/cut tree",
            "query-toggle",
            "link/cut tree: dynamic trees as splay trees of preferred paths",
            ["were apart, now linked", "were connected, now cut"],
        )
    }

    /// `up`, which is learned, `left` and `right`, and the bit `flip`, all exactly as stored:
    /// flips that are still to be passed on are shown as set bits, with the children not swapped.
    fn schema(&self) -> Schema {
        Schema::new(&["up", "left", "right"], &["flip"])
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.links.clear();
        self.links.resize(priorities.len(), Link::alone(()));
        self.priorities.clear();
        self.priorities.extend_from_slice(priorities);
    }

    fn apply(
        &mut self,
        Operation { u, v, .. }: Operation,
        visited: &mut Visited,
    ) -> crate::Result<bool> {
        Ok(self.toggle(u, v, visited))
    }

    fn pointer(&self, node: Node) -> Node {
        LinkCutTree::pointer(self, node)
    }

    fn pointer_field(&self, field: usize, row: &mut [Node]) -> crate::Result<()> {
        let of: fn(&Link<()>) -> Node = match field {
            0 => |link| link.up,
            1 => |link| link.child[0],
            2 => |link| link.child[1],
            _ => {
                let trouble = format!("has no pointer field number {field}; expected 0 to 2");
                return Err(crate::Error::structure(self.name(), trouble));
            }
        };
        for ((node, link), value) in (0..).zip(&self.links).zip(row) {
            *value = match of(link) {
                NIL => node,
                other => other,
            };
        }
        Ok(())
    }

    fn bit_field(&self, bit: usize, row: &mut [u8]) -> crate::Result<()> {
        if bit != 0 {
            let trouble = format!("has no bit number {bit}; expected 0");
            return Err(crate::Error::structure(self.name(), trouble));
        }
        for (link, value) in self.links.iter().zip(row) {
            *value = u8::from(link.flip);
        }
        Ok(())
    }
}
