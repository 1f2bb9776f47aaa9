//! Pointers and masks that take no learning: what an accuracy must be compared with.

use pgn_structures::{Node, Sequence};
use serde::{Deserialize, Serialize};

use crate::scores::Hits;

/// How often three rules without a model are right on a test set, over all nodes and steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrivialRules {
    /// Masks: no node is ever visited.
    pub never_visit: f64,
    /// Pointers: every node points to itself, as at the start.
    pub point_to_self: f64,
    /// Pointers: none moves. The rule is told the true pointers before each operation.
    pub keep_pointers: f64,
}

impl TrivialRules {
    /// Scores the rules on sequences; `None` where there are none.
    pub fn of<'a>(sequences: impl IntoIterator<Item = Sequence<'a>>) -> Option<TrivialRules> {
        let [mut unvisited, mut to_self, mut kept] = [(); 3].map(|()| Hits::default());
        for sequence in sequences {
            let start: Vec<Node> = (0..sequence.nodes() as Node).collect();
            let mut before = &*start;
            for t in 0..sequence.ops() {
                let after = sequence.pointers_after(t);
                unvisited.add(std::iter::repeat(1), sequence.mask(t));
                to_self.add(start.iter().copied(), after);
                kept.add(before.iter().copied(), after);
                before = after;
            }
        }
        Some(TrivialRules {
            never_visit: unvisited.share()?,
            point_to_self: to_self.share()?,
            keep_pointers: kept.share()?,
        })
    }
}
