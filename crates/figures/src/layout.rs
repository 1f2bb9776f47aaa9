//! Where to draw nodes so that pointers look like a forest: targets above those that point to
//! them. A circle is opened at its lowest node.

use pgn_structures::{Node, forest};

/// Places in cells: x and y of each node, from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    pub at: Vec<(f64, f64)>,
    pub width: f64,
    pub height: f64,
}

/// Lays out the trees of `nodes` side by side; the pointers among them lead nowhere else.
pub fn place(pointers: &[Node], nodes: &[Node]) -> Places {
    let depths = forest::depths(pointers);
    let mut children: Vec<Vec<Node>> = vec![Vec::new(); pointers.len()];
    let mut roots = Vec::new();
    let mut on_circle = vec![false; pointers.len()];
    for &node in nodes {
        let mut next = node;
        // The lowest node of a cycle comes first, and becomes the root.
        if depths[node as usize] == 0 && !on_circle[node as usize] {
            roots.push(node);
            while !on_circle[next as usize] {
                on_circle[next as usize] = true;
                next = pointers[next as usize];
            }
        }
    }
    for &node in nodes.iter().filter(|node| !roots.contains(node)) {
        children[pointers[node as usize] as usize].push(node);
    }
    let mut places = Places { at: vec![(0.0, 0.0); pointers.len()], width: 0.0, height: 0.0 };
    for root in roots {
        places.tree(&children, root, 0);
    }
    places
}

impl Places {
    /// Leaves from left to right; everybody else above the middle of what hangs below.
    fn tree(&mut self, children: &[Vec<Node>], node: Node, level: usize) -> f64 {
        let below = &children[node as usize];
        let x = if below.is_empty() {
            self.width += 1.0;
            self.width - 1.0
        } else {
            let xs: Vec<f64> =
                below.iter().map(|&child| self.tree(children, child, level + 1)).collect();
            (xs[0] + xs[xs.len() - 1]) / 2.0
        };
        self.at[node as usize] = (x, level as f64);
        self.height = self.height.max(level as f64 + 1.0);
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_and_a_circle() {
        // 1 → 0, 2 → 0; 3 → 4 → 3.
        let places = place(&[0, 0, 0, 4, 3], &[0, 1, 2, 3, 4]);
        assert_eq!(places.at, [(0.5, 0.0), (0.0, 1.0), (1.0, 1.0), (2.0, 0.0), (2.0, 1.0)]);
        assert_eq!((places.width, places.height), (3.0, 2.0));
    }
}
