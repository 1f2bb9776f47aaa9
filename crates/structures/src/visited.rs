//! Which nodes an operation visits: the ground truth of the masks μ̂.

use crate::Node;

/// Something that is told of every node an operation visits.
///
/// The structures are generic over it, so that not recording, with the recorder `()`, costs
/// nothing: the calls are compiled away.
pub trait Recorder {
    /// Notes that the operation visited `node`, possibly not for the first time.
    fn visit(&mut self, node: Node);
}

/// Records nothing.
impl Recorder for () {
    #[inline(always)]
    fn visit(&mut self, _: Node) {}
}

impl Recorder for Visited {
    #[inline(always)]
    fn visit(&mut self, node: Node) {
        self.insert(node);
    }
}

/// The set of nodes an operation visited; clearing it takes no time.
#[derive(Clone, Debug, Default)]
pub struct Visited {
    /// A word for 32 nodes: the round in which it was last written, above a bit for each. At a
    /// million nodes it all still fits in a processor's second cache.
    seen: Vec<u64>,
    /// The present round; a word of an earlier one counts as empty.
    round: u32,
    /// The visited nodes, then room for the others and one more.
    nodes: Vec<Node>,
    len: usize,
}

impl Visited {
    /// An empty set over `nodes` nodes.
    pub fn new(nodes: usize) -> Self {
        Visited { seen: vec![0; nodes.div_ceil(32)], round: 1, nodes: vec![0; nodes + 1], len: 0 }
    }

    /// Adds a node; adding it twice is the same as once.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    #[inline]
    pub fn insert(&mut self, node: Node) {
        let seen = &mut self.seen[node as usize / 32];
        let (word, bit) = (in_round(*seen, self.round), 1 << (node % 32));
        *seen = word | bit;
        // Without a branch: whether a node is new is hard to foresee. One that is not is
        // written behind the last, where it does not count.
        self.nodes[self.len] = node;
        self.len += usize::from(word & bit == 0);
    }

    /// Whether the node is in the set.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn contains(&self, node: Node) -> bool {
        in_round(self.seen[node as usize / 32], self.round) & 1 << (node % 32) != 0
    }

    /// The visited nodes, in the order they were first visited.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes[..self.len]
    }

    /// Empties the set.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.seen.fill(0);
            self.round = 1;
        }
    }
}

/// A word of [`Visited::seen`] as it is in this round: empty if it is of an earlier one.
#[inline]
fn in_round(word: u64, round: u32) -> u64 {
    if (word >> 32) as u32 == round { word } else { u64::from(round) << 32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_and_its_order() {
        let mut visited = Visited::new(3);
        for node in [2, 0, 2, 1, 0, 1] {
            visited.insert(node);
        }
        assert_eq!(visited.nodes(), [2, 0, 1]);
        visited.clear();
        assert!(visited.nodes().is_empty() && !visited.contains(2));
    }

    #[test]
    fn clearing_forgets_every_node() {
        for nodes in [1, 7, 8, 9, 200] {
            let mut visited = Visited::new(nodes as usize);
            // The last round there is, and the first ones after it.
            visited.round = u32::MAX - 1;
            for _ in 0..4 {
                (0..nodes).for_each(|node| visited.insert(node));
                (0..nodes).rev().for_each(|node| visited.insert(node));
                assert!(visited.nodes().iter().copied().eq(0..nodes));
                visited.clear();
                assert!((0..nodes).all(|node| !visited.contains(node)));
            }
        }
    }
}
