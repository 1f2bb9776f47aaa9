//! Cycles among pointers that should form a forest.

use crate::Node;

/// Looks for cycles again and again in O(visited nodes), with memory for `nodes` nodes.
pub(crate) struct Cycles {
    /// The walk in which each node was last seen, counted over all calls; 0 is none.
    seen: Vec<u64>,
    walk: u64,
}

impl Cycles {
    pub fn new(nodes: usize) -> Self {
        Cycles { seen: vec![0; nodes], walk: 0 }
    }

    /// A cycle that the pointers lead to from one of `starts`, in order, beginning with its
    /// lowest node. A node that points to itself is none.
    ///
    /// Every pointer must be below the number of nodes.
    pub fn find(
        &mut self,
        pointers: &[Node],
        starts: impl IntoIterator<Item = Node>,
    ) -> Option<Vec<Node>> {
        let earlier_calls = self.walk;
        for start in starts {
            self.walk += 1;
            let mut node = start;
            // A node of an earlier walk of this call leads to no cycle.
            while self.seen[node as usize] <= earlier_calls {
                self.seen[node as usize] = self.walk;
                let next = pointers[node as usize];
                if next == node {
                    break;
                }
                if self.seen[next as usize] == self.walk {
                    return Some(around(pointers, next));
                }
                node = next;
            }
        }
        None
    }
}

/// The cycle that `node` is on, beginning with its lowest node.
fn around(pointers: &[Node], node: Node) -> Vec<Node> {
    let mut cycle = vec![node];
    let mut next = pointers[node as usize];
    while next != node {
        cycle.push(next);
        next = pointers[next as usize];
    }
    let lowest = (0..cycle.len()).min_by_key(|&place| cycle[place]).unwrap_or(0);
    cycle.rotate_left(lowest);
    cycle
}

/// What is wrong with pointers that have this cycle.
pub(crate) fn describe(cycle: &[Node]) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<String> = cycle.iter().take(SHOWN).map(Node::to_string).collect();
    if cycle.len() > SHOWN {
        names.push(format!("… ({} nodes)", cycle.len()));
    }
    names.extend(cycle.first().map(Node::to_string));
    format!("the pointers form a cycle, {}; expected a forest", names.join(" → "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forest;

    #[test]
    fn cycles_are_found_where_there_are_some() {
        let mut rng = crate::Rng::new([8, 0, 0, 0]);
        for n in 1..40u32 {
            let mut cycles = Cycles::new(n as usize);
            for round in 0..20 {
                // Mostly towards lower nodes, so that about half of them are forests.
                let pointers: Vec<Node> = (0..n)
                    .map(
                        |node| {
                            if rng.below(2 * n) == 0 { rng.below(n) } else { rng.below(node + 1) }
                        },
                    )
                    .collect();
                let depths = forest::depths(&pointers);
                let on_cycle =
                    |node: Node| depths[node as usize] == 0 && pointers[node as usize] != node;
                match cycles.find(&pointers, 0..n) {
                    None => assert!(!(0..n).any(on_cycle), "{n} {round} {pointers:?}"),
                    Some(cycle) => {
                        assert!(cycle.len() > 1 && cycle.iter().all(|&node| on_cycle(node)));
                        let next = |i: usize| cycle[(i + 1) % cycle.len()];
                        assert!((0..cycle.len()).all(|i| pointers[cycle[i] as usize] == next(i)));
                        assert!(cycle.iter().all(|&node| node >= cycle[0]));
                    }
                }
            }
        }
    }

    #[test]
    fn long_cycles_are_cut_short() {
        assert_eq!(describe(&[1, 3]), "the pointers form a cycle, 1 → 3 → 1; expected a forest");
        let long: Vec<Node> = (0..20).collect();
        let sentence = describe(&long);
        assert!(sentence.contains("7 → … (20 nodes) → 0;"), "{sentence}");
    }
}
