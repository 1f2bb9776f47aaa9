//! Who sends messages to whom: neighbour lists made from pointers (equation 7).

use pgn_structures::{Edge, Node};

use crate::Graph;

/// The neighbours of every node, in ascending order, so that a maximum that keeps the first of
/// equals goes to the lowest index.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    /// List i is `nodes[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    nodes: Vec<Node>,
}

impl Neighbours {
    /// Rebuilds the lists from pointers. Graphs that read no pointers have no lists.
    pub fn rebuild(&mut self, graph: Graph, pointers: &[Node]) {
        match graph {
            Graph::Complete | Graph::SelfOnly => {}
            Graph::Directed => {
                self.starts.clear();
                self.starts.extend(0..=pointers.len() as u32);
                self.nodes.clear();
                self.nodes.extend_from_slice(pointers);
            }
            Graph::Symmetric => self.symmetrise(pointers),
        }
    }

    /// Neighbours of i: the one it points to, and the others that point to it.
    fn symmetrise(&mut self, pointers: &[Node]) {
        let n = pointers.len();
        // Whether j stands in the list of the node it points to only as its child: not if that
        // node is j itself, or points back to j and so lists it already.
        let is_child = |j: usize| pointers[pointers[j] as usize] as usize != j;
        // Sizes, at starts[i + 2]; then running sums, so that list i begins at starts[i + 1].
        self.starts.clear();
        self.starts.resize(n + 2, 1);
        self.starts[0] = 0;
        self.starts[1] = 0;
        for (j, &target) in pointers.iter().enumerate() {
            self.starts[target as usize + 2] += u32::from(is_child(j));
        }
        for i in 2..n + 2 {
            self.starts[i] += self.starts[i - 1];
        }
        self.nodes.clear();
        self.nodes.resize(self.starts[n + 1] as usize, 0);
        // While a list is written, starts[i + 1] is where its next node goes; at the end that is
        // where the following list begins.
        for (j, &target) in pointers.iter().enumerate() {
            // Written in any case, as branches here are hard to predict: πᵢ's place is still free.
            let next = &mut self.starts[target as usize + 1];
            self.nodes[*next as usize] = j as Node;
            *next += u32::from(is_child(j));
        }
        // Children stand in ascending order; slide πᵢ to its place among them.
        for (i, &target) in pointers.iter().enumerate() {
            let begin = self.starts[i] as usize;
            let mut place = self.starts[i + 1] as usize;
            while place > begin && self.nodes[place - 1] > target {
                self.nodes[place] = self.nodes[place - 1];
                place -= 1;
            }
            self.nodes[place] = target;
            self.starts[i + 1] += 1;
        }
        self.starts.truncate(n + 1);
    }

    /// The lists of an input graph: both ends of every edge send to each other, and every node to itself.
    pub fn of_edges(nodes: usize, edges: &[Edge]) -> Neighbours {
        let mut lists: Vec<Vec<Node>> = (0..nodes as Node).map(|node| vec![node]).collect();
        for &Edge { u, v, .. } in edges {
            lists[u as usize].push(v);
            lists[v as usize].push(u);
        }
        let mut all = Neighbours { starts: vec![0], nodes: Vec::new() };
        for mut list in lists {
            list.sort_unstable();
            list.dedup();
            all.nodes.extend(list);
            all.starts.push(all.nodes.len() as u32);
        }
        all
    }

    /// Takes the lists of another.
    pub fn copy(&mut self, other: &Neighbours) {
        self.starts.clone_from(&other.starts);
        self.nodes.clone_from(&other.nodes);
    }

    /// Adds the neighbours of another to the lists.
    pub fn merge(&mut self, other: &Neighbours) {
        let mut all = Neighbours { starts: vec![0], nodes: Vec::new() };
        for i in 0..self.starts.len().saturating_sub(1) {
            let from = all.nodes.len();
            all.nodes.extend_from_slice(self.of(i));
            all.nodes.extend_from_slice(other.of(i));
            all.nodes[from..].sort_unstable();
            let mut kept = from;
            for at in from..all.nodes.len() {
                if at == from || all.nodes[at] != all.nodes[kept - 1] {
                    all.nodes[kept] = all.nodes[at];
                    kept += 1;
                }
            }
            all.nodes.truncate(kept);
            all.starts.push(kept as u32);
        }
        *self = all;
    }

    /// Neighbours of node i.
    #[inline(always)]
    pub fn of(&self, i: usize) -> &[Node] {
        &self.nodes[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(graph: Graph, pointers: &[Node]) -> Vec<Vec<Node>> {
        let mut neighbours = Neighbours::default();
        neighbours.rebuild(graph, pointers);
        (0..pointers.len()).map(|i| neighbours.of(i).to_vec()).collect()
    }

    #[test]
    fn symmetric_lists_hold_every_edge_once_in_order() {
        // 0 and 2 point to 3, 3 to 1, 1 back to 3, 4 to itself.
        let pointers = [3, 3, 3, 1, 4];
        let expected: [&[Node]; 5] = [&[3], &[3], &[3], &[0, 1, 2], &[4]];
        assert_eq!(lists(Graph::Symmetric, &pointers), expected);
        assert_eq!(lists(Graph::Directed, &pointers), [[3], [3], [3], [1], [4]]);
    }

    #[test]
    fn symmetric_lists_match_the_definition_for_all_small_pointer_sets() {
        for n in 1..=5usize {
            for code in 0..n.pow(n as u32) {
                let pointers: Vec<Node> =
                    (0..n).map(|i| (code / n.pow(i as u32) % n) as Node).collect();
                let expected: Vec<Vec<Node>> = (0..n)
                    .map(|i| {
                        (0..n as Node)
                            .filter(|&j| pointers[i] == j || pointers[j as usize] as usize == i)
                            .collect()
                    })
                    .collect();
                assert_eq!(lists(Graph::Symmetric, &pointers), expected, "{pointers:?}");
            }
        }
    }
}
