//! What a model is trained on and replays: a sequence with its truth, and pointers it is given.

use pgn_structures::{Edge, Node, Operation, Sequence};

use crate::{Config, Error, Pointers};

/// A sequence and, for models with [`Pointers::Given`], the pointers they are given.
///
/// The pointers of the sequence are the ground truth and nothing else: a model never reads them
/// in a rollout, and in training only where it is teacher-forced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Example<'a> {
    /// The operations, and what the data structure made of them.
    pub sequence: Sequence<'a>,
    /// \[ops, nodes\]: the pointers that the model finds after each operation.
    pub given: Option<&'a [Node]>,
}

impl<'a> From<Sequence<'a>> for Example<'a> {
    /// Nothing is given.
    fn from(sequence: Sequence<'a>) -> Self {
        Example { sequence, given: None }
    }
}

impl<'a> Example<'a> {
    /// A model that is given pointers is given the truth's: an oracle.
    pub fn oracle(config: &Config, sequence: Sequence<'a>) -> Example<'a> {
        let given = (config.pointers == Pointers::Given).then_some(sequence.pointers);
        Example { sequence, given }
    }

    /// The given pointers after step `t`.
    pub fn given_after(&self, t: usize) -> Option<&'a [Node]> {
        let n = self.sequence.nodes();
        self.given.map(|given| &given[t * n..][..n])
    }

    /// Whether it is one that a model of this config can read.
    pub fn check(&self, config: &Config) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::Input(what));
        let sequence = self.sequence;
        let (n, ops) = (sequence.nodes(), sequence.ops());
        if n == 0 {
            return wrong("a sequence has no nodes; expected at least 1".into());
        }
        let given = match (config.pointers == Pointers::Given, self.given) {
            (true, None) => {
                return wrong("the model is given pointers, but none came with a sequence".into());
            }
            (false, Some(_)) => {
                return wrong("pointers came with a sequence, but the model is given none".into());
            }
            (_, given) => given.unwrap_or(sequence.pointers),
        };
        for (name, length, expected) in [
            ("answers", sequence.answers.len(), ops),
            ("masks", sequence.masks.len(), ops * n),
            ("pointers", sequence.pointers.len(), ops * n),
            ("given pointers", given.len(), ops * n),
        ] {
            if length != expected {
                return wrong(format!(
                    "a sequence of {ops} operations on {n} nodes has {length} {name}; expected {expected}"
                ));
            }
        }
        let mut pointers = sequence.pointers.iter().chain(self.given.into_iter().flatten());
        if let Some(node) = pointers.find(|&&node| node as usize >= n) {
            return wrong(format!("a pointer aims at node {node}; expected a node below {n}"));
        }
        for name in &config.pointer_types {
            let recorded = sequence.fields.pointer(name);
            let field = recorded.map_err(|error| Error::Input(error.to_string()))?;
            if field.len() != ops * n {
                return wrong(format!(
                    "pointers.{name} of a sequence has {} values; expected {}",
                    field.len(),
                    ops * n
                ));
            }
            if let Some(node) = field.iter().find(|&&node| node as usize >= n) {
                return wrong(format!("a pointer aims at node {node}; expected a node below {n}"));
            }
        }
        if let Some(Edge { u, v, .. }) =
            sequence.edges.iter().find(|edge| edge.u.max(edge.v) as usize >= n)
        {
            return wrong(format!(
                "the input graph has the edge ({u}, {v}); expected nodes below {n}"
            ));
        }
        for &Operation { u, v, .. } in sequence.operations {
            if let Some(node) = [u, v].into_iter().find(|&node| node as usize >= n) {
                return wrong(format!("an operation names node {node}; expected a node below {n}"));
            }
            if u == v && n > 1 && !config.has_kinds() {
                return wrong(format!(
                    "the operation ({u}, {v}) names one node twice; expected two different nodes"
                ));
            }
        }
        if let Some(priority) = sequence.priorities.iter().find(|priority| !priority.is_finite()) {
            return wrong(format!("a priority is {priority}; expected a finite number"));
        }
        for (name, values) in [("answer", sequence.answers), ("mask", sequence.masks)] {
            if let Some(value) = values.iter().find(|&&value| value > 1) {
                return wrong(format!("a sequence has the {name} {value}; expected 0 or 1"));
            }
        }
        Ok(())
    }
}
