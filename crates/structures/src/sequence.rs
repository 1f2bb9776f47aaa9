//! Sequences of operations with their ground truth, and sets of them.

use crate::{Edge, FieldRows, Fields, Node, Operation, Split};

/// Several sequences over the same number of nodes and operations, with their ground truth.
///
/// Arrays are flat and row-major, exactly as in the data-set file.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The name of the structure the truth comes from.
    pub task: String,
    /// The seed it was sampled from.
    pub seed: u64,
    /// The split it was sampled for.
    pub split: Split,
    /// Nodes per sequence, n.
    pub nodes: usize,
    /// Operations per sequence.
    pub ops: usize,
    /// \[count, nodes\]
    pub priorities: Vec<f32>,
    /// \[count, ops\]
    pub operations: Vec<Operation>,
    /// \[count, ops\]; 0 or 1
    pub answers: Vec<u8>,
    /// \[count, ops, nodes\]; 0 visited, 1 left alone
    pub masks: Vec<u8>,
    /// \[count, ops, nodes\]; the learned pointers after the operation
    pub pointers: Vec<Node>,
    /// The further fields of the task's [`Schema`](crate::Schema) after the operation, each
    /// \[count, ops, nodes\], if they were recorded ([`Dataset::with_fields`]).
    pub fields: Fields,
    /// \[count, edges\]; the input graphs, for tasks that have one.
    pub edges: Vec<Edge>,
}

impl Dataset {
    /// How many sequences there are.
    pub fn count(&self) -> usize {
        self.priorities.len().checked_div(self.nodes).unwrap_or(0)
    }

    /// Whether there are operations that only a task with several kinds of them has: files then
    /// say of which kind each is.
    pub fn has_kinds(&self) -> bool {
        self.operations.iter().any(|operation| operation.kind != 0 || operation.u == operation.v)
    }

    /// Sequence number `index`, borrowed.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`Dataset::count`].
    pub fn sequence(&self, index: usize) -> Sequence<'_> {
        let (n, ops) = (self.nodes, self.ops);
        let edges = self.edges.len().checked_div(self.count()).unwrap_or(0);
        Sequence {
            priorities: &self.priorities[index * n..][..n],
            operations: &self.operations[index * ops..][..ops],
            answers: &self.answers[index * ops..][..ops],
            masks: &self.masks[index * ops * n..][..ops * n],
            pointers: &self.pointers[index * ops * n..][..ops * n],
            fields: FieldRows::new(&self.fields, index * ops, ops, n),
            edges: &self.edges[index * edges..][..edges],
        }
    }

    /// All sequences, in order.
    pub fn sequences(&self) -> impl ExactSizeIterator<Item = Sequence<'_>> + Clone {
        (0..self.count()).map(|index| self.sequence(index))
    }
}

/// One sequence of operations on one structure, with its ground truth, borrowed from a
/// [`Dataset`] (or from anywhere else).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sequence<'a> {
    /// rᵢ \[nodes\]
    pub priorities: &'a [f32],
    /// \[ops\]
    pub operations: &'a [Operation],
    /// ŷ \[ops\]
    pub answers: &'a [u8],
    /// μ̂ \[ops, nodes\]; 0 visited, 1 left alone
    pub masks: &'a [u8],
    /// π̂ \[ops, nodes\]; after the operation
    pub pointers: &'a [Node],
    /// Further fields, each \[ops, nodes\]; after the operation, if they were recorded
    pub fields: FieldRows<'a>,
    /// The input graph, if there is one
    pub edges: &'a [Edge],
}

impl<'a> Sequence<'a> {
    /// Number of nodes, n.
    pub fn nodes(&self) -> usize {
        self.priorities.len()
    }

    /// Number of operations.
    pub fn ops(&self) -> usize {
        self.operations.len()
    }

    /// μ̂ of step `t`.
    pub fn mask(&self, t: usize) -> &'a [u8] {
        &self.masks[t * self.nodes()..][..self.nodes()]
    }

    /// π̂ after step `t`.
    pub fn pointers_after(&self, t: usize) -> &'a [Node] {
        &self.pointers[t * self.nodes()..][..self.nodes()]
    }

    /// Further fields after step `t`.
    pub fn fields_after(&self, t: usize) -> FieldRows<'a> {
        self.fields.row(t)
    }
}
