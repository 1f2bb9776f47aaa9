//! `pgn` with one more data structure: a list that moves what was asked for to the front.

use pgn_structures::{Feature, Node, Operation, PointerStructure, Result, Task, Visited};

/// Each node points to the one before it in the list, the first node to itself. The operation
/// (u, v) asks whether u stands before v, then moves u to the front.
#[derive(Default)]
struct MoveToFront {
    before: Vec<Node>,
    first: Option<Node>,
}

impl PointerStructure for MoveToFront {
    fn name(&self) -> &str {
        "move-to-front"
    }

    // u and v play different roles, so a node must know which of them it is.
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
        // Walk from v to the front: u stands before v if we meet it.
        let mut node = v;
        while node != u && self.before[node as usize] != node {
            node = self.before[node as usize];
            visited.insert(node);
        }
        let answer = node == u;
        if self.first != Some(u) {
            // Close the gap behind u, then put u in front.
            let behind = (0..).zip(&self.before).find(|&(i, &b)| b == u && i != u);
            if let Some((behind, _)) = behind {
                self.before[behind as usize] = self.before[u as usize];
                visited.insert(behind);
            }
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

fn main() -> std::process::ExitCode {
    pgn_cli::main_with([Task::new(MoveToFront::default)])
}
