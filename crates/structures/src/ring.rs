//! Circular doubly linked lists with splicing.

use crate::{Error, Feature, Node, Operation, PointerStructure, Result, Schema, TaskText, Visited};

/// Rings: every node points to the next one of its ring, a ring of one to itself.
///
/// `splice(u, v)` exchanges what comes after u and after v. In two rings they become one, answer
/// **0**; in one ring it falls into two, answer **1**. The answer takes a walk from u until v or
/// u comes again, and the nodes of the walk are visited.
///
/// # Complexity
///
/// O(length of u's ring) to answer; splicing itself takes constant time.
///
/// # Example
///
/// ```
/// use pgn_structures::{Operation, PointerStructure, Ring, Visited};
///
/// let (mut rings, mut visited) = (Ring::default(), Visited::new(4));
/// rings.reset(&[0.0; 4]);
/// assert!(!rings.apply(Operation::new(0, 1), &mut visited)?); // 0 → 1 → 0
/// assert!(!rings.apply(Operation::new(1, 2), &mut visited)?); // 0 → 1 → 2 → 0
/// assert_eq!([0, 1, 2, 3].map(|node| rings.pointer(node)), [1, 2, 0, 3]);
/// assert!(rings.apply(Operation::new(0, 1), &mut visited)?); // 0 → 2 → 0, and 1 alone
/// # Ok::<(), pgn_structures::Error>(())
/// ```
///
/// # Literature
///
/// Guibas and Stolfi 1985, *Primitives for the manipulation of general subdivisions*: `splice`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ring {
    next: Vec<Node>,
    previous: Vec<Node>,
}

impl PointerStructure for Ring {
    fn name(&self) -> &str {
        "ring"
    }

    fn about(&self) -> TaskText {
        TaskText::new(
            "Circular lists",
            "splice",
            "circular doubly linked lists: splicing joins two or splits one",
            ["were in two lists, now joined", "were in one list, now split"],
        )
    }

    fn schema(&self) -> Schema {
        Schema::new(&["next", "previous"], &[]).with_cycles()
    }

    fn features(&self) -> &[Feature] {
        Feature::KEYED
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.next = (0..priorities.len() as Node).collect();
        self.previous.clone_from(&self.next);
    }

    fn apply(&mut self, Operation { u, v, .. }: Operation, visited: &mut Visited) -> Result<bool> {
        let mut node = u;
        loop {
            visited.insert(node);
            node = self.next[node as usize];
            if node == u || node == v {
                break;
            }
        }
        let after = [u, v].map(|end| self.next[end as usize]);
        for (end, next) in [(u, after[1]), (v, after[0])] {
            self.next[end as usize] = next;
            self.previous[next as usize] = end;
            visited.insert(end);
            visited.insert(next);
        }
        Ok(node == v)
    }

    fn pointer(&self, node: Node) -> Node {
        self.next[node as usize]
    }

    fn pointer_field(&self, field: usize, row: &mut [Node]) -> Result<()> {
        let values = [&self.next, &self.previous].into_iter().nth(field);
        let values = values.ok_or_else(|| Error::structure("ring", "has two pointer fields"))?;
        row.copy_from_slice(values);
        Ok(())
    }

    /// From any rings: pointers that no two nodes share.
    fn start_from(&mut self, pointers: &[Node]) -> bool {
        let mut taken = vec![false; pointers.len()];
        let twice = |&next: &Node| std::mem::replace(&mut taken[next as usize], true);
        if pointers.iter().any(twice) {
            return false;
        }
        self.next.copy_from_slice(pointers);
        for (node, &next) in (0..).zip(pointers) {
            self.previous[next as usize] = node;
        }
        true
    }
}
