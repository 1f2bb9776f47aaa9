//! Which nodes take part in an operation, step by step.

use pgn_structures::{Node, Operation};

use super::Participants;

/// No place in the list.
pub const NOWHERE: u32 = u32::MAX;

/// The participants of one operation, in the order they were reached: u, v, then whoever they
/// point to, and so on. Lists and maxima go by this order, so it also settles ties.
///
/// Finding them takes time in proportion to how many there are, not to n.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// The participants.
    pub nodes: Vec<Node>,
    /// Where in `nodes` the node stands that each of them points to, if it is there.
    pub parents: Vec<u32>,
    /// How many take part in step 0, 1, …; the last entry holds for all later steps. Step 0 is
    /// the state before the first step: who sends in it.
    counts: Vec<u32>,
    /// Where every node stands in `nodes` \[n\]; all [`NOWHERE`] between operations.
    places: Vec<u32>,
}

impl Reach {
    /// Forgets the last operation and finds the participants of this one, looking at most `steps`
    /// steps ahead.
    pub fn find(
        &mut self,
        participants: Participants,
        pointers: &[Node],
        Operation { u, v, .. }: Operation,
        steps: usize,
    ) {
        for &node in &self.nodes {
            if let Some(place) = self.places.get_mut(node as usize) {
                *place = NOWHERE;
            }
        }
        self.places.resize(pointers.len(), NOWHERE);
        self.nodes.clear();
        self.counts.clear();
        self.enter(u);
        self.enter(v);
        if participants == Participants::All {
            (0..pointers.len() as Node).for_each(|node| self.enter(node));
            self.counts.push(self.nodes.len() as u32);
        } else {
            self.counts.push(0);
            let mut fresh = 0;
            for _ in 1..=steps {
                let count = self.nodes.len();
                self.counts.push(count as u32);
                for place in fresh..count {
                    self.enter(pointers[self.nodes[place] as usize]);
                }
                fresh = count;
                if self.nodes.len() == count {
                    break;
                }
            }
            // Nodes that only the last step reaches have no step left to take part in.
            for &node in &self.nodes[fresh..] {
                self.places[node as usize] = NOWHERE;
            }
            self.nodes.truncate(fresh);
        }
        let parent = |&node: &Node| self.places[pointers[node as usize] as usize];
        self.parents.clear();
        self.parents.extend(self.nodes.iter().map(parent));
    }

    fn enter(&mut self, node: Node) {
        let place = &mut self.places[node as usize];
        if *place == NOWHERE {
            *place = self.nodes.len() as u32;
            self.nodes.push(node);
        }
    }

    /// How many take part in a step; those before it are its senders.
    pub fn count(&self, step: usize) -> usize {
        self.counts[step.min(self.counts.len() - 1)] as usize
    }

    /// The first step in which all take part.
    pub fn depth(&self) -> usize {
        self.counts.len() - 1
    }

    /// Where a node stands in the list, or [`NOWHERE`].
    pub fn place(&self, node: Node) -> u32 {
        self.places.get(node as usize).copied().unwrap_or(NOWHERE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_walked_side_by_side() {
        let mut reach = Reach::default();
        // 4 → 3 → 1 → 0, 2 → 1, 5 alone
        let pointers = [0, 0, 1, 1, 3, 5];
        for _ in 0..2 {
            reach.find(Participants::Reached, &pointers, Operation::new(4, 2), 100);
            assert_eq!(reach.nodes, [4, 2, 3, 1, 0]);
            assert_eq!(reach.parents, [2, 3, 3, 4, 4]);
            let counts: Vec<usize> = (0..6).map(|step| reach.count(step)).collect();
            assert_eq!(counts, [0, 2, 4, 5, 5, 5]);
            assert_eq!((reach.depth(), reach.place(0), reach.place(5)), (3, 4, NOWHERE));
        }
        reach.find(Participants::Reached, &pointers, Operation::new(4, 2), 2);
        assert_eq!(reach.nodes, [4, 2, 3, 1]);
        assert_eq!((reach.parents[3], reach.place(0)), (NOWHERE, NOWHERE));
        reach.find(Participants::All, &pointers, Operation::new(4, 2), 100);
        assert_eq!(reach.nodes, [4, 2, 0, 1, 3, 5]);
        assert_eq!((reach.count(0), reach.count(1)), (6, 6));
    }
}
