//! A list that moves what was asked for to the front.

use crate::{Error, Feature, Node, Operation, PointerStructure, Result, Schema, TaskText, Visited};

/// A self-organising list: every node points to the one before it, the first to itself.
///
/// `access(u, v)` answers **1** if u stands before v, found by walking from v towards the front,
/// and moves u to the front. The list starts empty, every node by itself; accessing a node adds it.
/// Visited are the nodes of the walk, u, and those beside a pointer that moves.
///
/// # Complexity
///
/// O(position of v) per operation.
///
/// # Example
///
/// ```
/// use pgn_structures::{MoveToFront, Operation, PointerStructure, Visited};
///
/// let (mut list, mut visited) = (MoveToFront::default(), Visited::new(3));
/// list.reset(&[0.0; 3]);
/// assert!(!list.apply(Operation::new(0, 1), &mut visited)?); // the list is 0
/// assert!(!list.apply(Operation::new(1, 0), &mut visited)?); // 1, 0
/// assert!(list.apply(Operation::new(1, 0), &mut visited)?);
/// assert_eq!([0, 1, 2].map(|node| list.pointer(node)), [1, 1, 2]);
/// # Ok::<(), pgn_structures::Error>(())
/// ```
///
/// # Literature
///
/// Sleator and Tarjan 1985, *Amortized efficiency of list update and paging rules*.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoveToFront {
    /// Towards the front and away from it; the node itself at the ends and outside the list.
    before: Vec<Node>,
    behind: Vec<Node>,
    first: Option<Node>,
}

impl PointerStructure for MoveToFront {
    fn name(&self) -> &str {
        "mtf"
    }

    fn about(&self) -> TaskText {
        TaskText::new(
            "Move-to-front list",
            "access",
            "self-organising list: what is accessed moves to the front",
            ["u was not before v", "u was before v"],
        )
    }

    fn schema(&self) -> Schema {
        Schema::new(&["before", "behind"], &[])
    }

    fn features(&self) -> &[Feature] {
        Feature::KEYED
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.before = (0..priorities.len() as Node).collect();
        self.behind.clone_from(&self.before);
        self.first = None;
    }

    /// Half of the nodes are accessed; then the last of the list, again and again, next to the one
    /// before it: once while it is last, once when it is first. Every walk meets all of the list.
    fn adversary(&self, step: usize, order: &[Node]) -> Option<Operation> {
        let half = (order.len() / 2).max(2);
        let turn = step.checked_sub(half).map_or(step, |later| later / 2);
        Some(Operation::new(order[turn % half], order[(turn + 1) % half]))
    }

    fn apply(&mut self, Operation { u, v, .. }: Operation, visited: &mut Visited) -> Result<bool> {
        visited.insert(u);
        visited.insert(v);
        let mut node = v;
        while node != u && self.before[node as usize] != node {
            node = self.before[node as usize];
            visited.insert(node);
        }
        let answer = node == u;
        if let Some(first) = self.first.filter(|&first| first != u) {
            let (before, behind) = (self.before[u as usize], self.behind[u as usize]);
            if before != u {
                self.behind[before as usize] = if behind == u { before } else { behind };
                visited.insert(before);
            }
            if behind != u {
                self.before[behind as usize] = before;
                visited.insert(behind);
            }
            (self.before[u as usize], self.behind[u as usize]) = (u, first);
            self.before[first as usize] = u;
            visited.insert(first);
        }
        self.first = Some(u);
        Ok(answer)
    }

    fn pointer(&self, node: Node) -> Node {
        self.before[node as usize]
    }

    fn pointer_field(&self, field: usize, row: &mut [Node]) -> Result<()> {
        let values = [&self.before, &self.behind].into_iter().nth(field);
        let values = values.ok_or_else(|| Error::structure("mtf", "has two pointer fields"))?;
        row.copy_from_slice(values);
        Ok(())
    }
}
