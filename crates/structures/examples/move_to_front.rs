//! A third data structure: a singly linked list that moves what was asked for to the front.
//!
//!     cargo run -p pgn-structures --example move_to_front
//!
//! The operation (u, v) asks "does u stand before v?" and then moves u to the front. Each node
//! points to the one before it in the list, the first to itself. A list starts empty, every node
//! by itself; a node asked for joins it.

use pgn_structures::{
    Dataset, Feature, Node, Operation, PointerStructure, Result, Sampling, Statistics, Task,
    Visited,
};

/// The list; a default one is empty.
#[derive(Default)]
pub struct MoveToFront {
    /// The node before each one; itself if it is first, or not in the list yet.
    before: Vec<Node>,
    first: Option<Node>,
}

impl MoveToFront {
    /// The node that stands right behind `node`, if any.
    fn behind(&self, node: Node) -> Option<Node> {
        (0..).zip(&self.before).find(|&(i, &b)| b == node && i != node).map(|(i, _)| i)
    }
}

impl PointerStructure for MoveToFront {
    fn name(&self) -> &str {
        "move-to-front"
    }

    // u and v play different parts here, so a node must know which one it is.
    fn features(&self) -> &[Feature] {
        &[Feature::Priority, Feature::First, Feature::Second]
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.before = (0..priorities.len() as Node).collect();
        self.first = None;
    }

    fn apply(&mut self, Operation { u, v, .. }: Operation, visited: &mut Visited) -> Result<bool> {
        visited.insert(u);
        visited.insert(v);
        // Walk from v towards the front; u stands before v if it is met on the way.
        let mut node = v;
        while node != u && self.before[node as usize] != node {
            node = self.before[node as usize];
            visited.insert(node);
        }
        let answer = node == u;

        if self.first != Some(u) {
            // Close the gap that u leaves …
            if let Some(behind) = self.behind(u) {
                self.before[behind as usize] = self.before[u as usize];
                visited.insert(behind);
            }
            // … and put it in front.
            self.before[u as usize] = u;
            if let Some(first) = self.first.replace(u) {
                self.before[first as usize] = u;
                visited.insert(first);
            }
        }
        Ok(answer)
    }

    fn pointer(&self, node: Node) -> Node {
        self.before[node as usize]
    }
}

/// Samples sequences of it and shows what they are like.
pub fn main() -> Result<()> {
    let task = Task::new(MoveToFront::default);
    let set = Dataset::sample(&task, &Sampling::paper(8))?;
    println!("{}: {} sequences, {:#?}", set.task, set.count(), Statistics::of(&set));
    println!("The first list: {:?}", set.sequence(0).pointers_after(set.ops - 1));
    Ok(())
}
