//! Sequences with what a model is given on them.

use pgn_engine::Example;
use pgn_structures::{Dataset, Node};

/// A data set, and the pointers that a model is given on its sequences. The pointers in the data
/// set are the truth's, whatever a model is given.
#[derive(Clone, Debug)]
pub struct Examples {
    /// The sequences with their truth.
    pub set: Dataset,
    given: Pointers,
}

#[derive(Clone, Debug)]
enum Pointers {
    Nothing,
    Truth,
    /// \[count, ops, nodes\]: a teacher's.
    Recorded(Vec<Node>),
}

impl From<Dataset> for Examples {
    /// Nothing is given.
    fn from(set: Dataset) -> Self {
        Examples { set, given: Pointers::Nothing }
    }
}

impl Examples {
    /// The truth's pointers are given.
    pub fn oracle(set: Dataset) -> Examples {
        Examples { set, given: Pointers::Truth }
    }

    /// Pointers that somebody recorded are given, \[count, ops, nodes\].
    pub fn recorded(set: Dataset, pointers: Vec<Node>) -> Examples {
        Examples { set, given: Pointers::Recorded(pointers) }
    }

    /// How many sequences there are.
    pub fn count(&self) -> usize {
        self.set.count()
    }

    /// Sequence number `index` with what is given on it.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`Examples::count`].
    pub fn example(&self, index: usize) -> Example<'_> {
        let size = self.set.ops * self.set.nodes;
        let part = |pointers| <[Node]>::get(pointers, index * size..(index + 1) * size);
        let sequence = self.set.sequence(index);
        let given = match &self.given {
            Pointers::Nothing => None,
            Pointers::Truth => Some(sequence.pointers),
            Pointers::Recorded(pointers) => part(pointers),
        };
        Example { sequence, given }
    }

    /// All of them, in order.
    pub fn examples(&self) -> impl ExactSizeIterator<Item = Example<'_>> + Clone {
        (0..self.count()).map(|index| self.example(index))
    }
}
