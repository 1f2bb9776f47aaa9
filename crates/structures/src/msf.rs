//! Online minimum spanning forests of points on a line.

use crate::{
    Feature, Node, Operation, PointerStructure, Recorder, Result, RootedForest, TaskText, Visited,
};

/// A minimum spanning forest of the edges so far; every node points to its parent in it.
///
/// Nodes are points on a line, their priorities, and an edge is as heavy as it is long. `insert(u, v)`
/// makes u the root of its tree. If v is in another tree, u is linked to v, answer **1**. Else
/// the heaviest edge between v and u, the first such from v, makes way if it is heavier than the new
/// one, answer **1**; if not, no tree changes, answer **0**. Visited are both paths to a root.
///
/// # Complexity
///
/// O(depth) per operation, so O(n) at worst.
///
/// # Example
///
/// ```
/// use pgn_structures::{OnlineMsf, Operation, PointerStructure, Visited};
///
/// let (mut forest, mut visited) = (OnlineMsf::default(), Visited::new(3));
/// forest.reset(&[0.0, 0.5, 0.75]);
/// assert!(forest.apply(Operation::new(0, 2), &mut visited)?);
/// assert!(forest.apply(Operation::new(0, 1), &mut visited)?);
/// assert!(forest.apply(Operation::new(1, 2), &mut visited)?); // ¼, in place of ¾
/// assert!(!forest.apply(Operation::new(0, 2), &mut visited)?);
/// # Ok::<(), pgn_structures::Error>(())
/// ```
///
/// # Literature
///
/// Frederickson 1985, *Data structures for on-line updating of minimum spanning trees*.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OnlineMsf {
    forest: RootedForest,
    points: Vec<f32>,
}

impl OnlineMsf {
    /// |r_u − r_v|, exact for priorities, which are multiples of 2⁻²⁴.
    fn weight(&self, u: Node, v: Node) -> f32 {
        (self.points[u as usize] - self.points[v as usize]).abs()
    }
}

impl PointerStructure for OnlineMsf {
    fn name(&self) -> &str {
        "msf"
    }

    fn about(&self) -> TaskText {
        TaskText::new(
            "Online minimum spanning forest",
            "insert",
            "online minimum spanning forest: edges between points on a line, as heavy as long",
            ["not in the forest", "joins two trees, or replaces a heavier edge"],
        )
    }

    fn features(&self) -> &[Feature] {
        Feature::KEYED
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.forest.reset(priorities);
        self.points = priorities.to_vec();
    }

    /// A path of the longest edges, between alternating ends; then the short edges that replace them.
    fn adversary(&self, step: usize, order: &[Node]) -> Option<Operation> {
        let n = order.len();
        let (a, b) = match step + 1 < n {
            true => (crate::family::alternating(step, n), crate::family::alternating(step + 1, n)),
            false => ((step + 1 - n) % (n - 1), (step + 1 - n) % (n - 1) + 1),
        };
        Some(Operation::new(order[a], order[b]))
    }

    fn apply(&mut self, Operation { u, v, .. }: Operation, visited: &mut Visited) -> Result<bool> {
        self.forest.turn(u, visited);
        let (mut node, mut heaviest) = (v, (0.0, v));
        loop {
            visited.visit(node);
            let parent = self.forest.pointer(node);
            if parent == node {
                break;
            }
            let weight = self.weight(node, parent);
            if weight > heaviest.0 {
                heaviest = (weight, node);
            }
            node = parent;
        }
        if node == u {
            if heaviest.0 <= self.weight(u, v) {
                return Ok(false);
            }
            self.forest.point(heaviest.1, heaviest.1);
        }
        self.forest.point(u, v);
        Ok(true)
    }

    fn pointer(&self, node: Node) -> Node {
        self.forest.pointer(node)
    }

    fn start_from(&mut self, pointers: &[Node]) -> bool {
        self.forest.start_from(pointers)
    }
}
