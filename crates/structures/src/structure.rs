//! The one trait behind every learnable data structure.

use crate::{
    Edge, Error, Feature, Node, Operation, OperationKind, Result, Rng, Schema, TaskText, Visited,
};

/// A pointer-based data structure that a network can learn to imitate.
///
/// It holds n nodes, each with one pointer that models learn, and perhaps further fields
/// ([`Schema`]). Everything else, from sampling to the viewer, works with any implementation;
/// `docs/adding-a-structure.md` walks through one.
///
/// The trait is object-safe; a [`Task`](crate::Task) is a way to make fresh ones.
pub trait PointerStructure: Send {
    /// The short name users type after `--task` and data-set files carry.
    fn name(&self) -> &str;

    /// What people call it and its operation; the name unless overridden.
    fn about(&self) -> TaskText {
        TaskText::named(self.name())
    }

    /// What a node holds; one pointer field unless overridden.
    fn schema(&self) -> Schema {
        Schema::default()
    }

    /// What a node is told about an operation; the paper's two features unless overridden.
    fn features(&self) -> &[Feature] {
        Feature::PAPER
    }

    /// The kinds of operations; one with two operands unless overridden.
    ///
    /// A structure with several tells models about them by [`Feature::Kind`].
    fn kinds(&self) -> Vec<OperationKind> {
        vec![OperationKind::new(&self.about().operation, 2)]
    }

    /// Forgets everything: `priorities.len()` nodes, each pointing to itself.
    fn reset(&mut self, priorities: &[f32]);

    /// Draws the graph that comes with a sequence of `ops` operations, if the structure has one;
    /// no edges unless overridden. The number of edges must follow from `nodes` and `ops`.
    ///
    /// It is called once, after [`reset`](PointerStructure::reset) and before the first operation is
    /// drawn, which may depend on it. What the operations do must not: they are replayed without it.
    fn input_graph(&mut self, nodes: Node, ops: usize, rng: &mut Rng) -> Vec<Edge> {
        let _ = (nodes, ops, rng);
        Vec::new()
    }

    /// Draws the next operation on `nodes` nodes; a uniform pair u ≠ v unless overridden.
    ///
    /// It is called when all earlier operations have been applied, so that it may depend on
    /// the state. It must read nothing random but `rng`.
    fn sample(&self, nodes: Node, rng: &mut Rng) -> Operation {
        Operation::sample(nodes, rng)
    }

    /// How many of the first nodes stand for whole structures, as the root of a tree does: a
    /// [`Family`](crate::Family) leaves them where they are. None unless overridden.
    fn handles(&self) -> Node {
        0
    }

    /// Whether the operation makes sense now; always unless overridden. Operands that are drawn
    /// elsewhere than in [`sample`](PointerStructure::sample) are asked about.
    fn allows(&self, operation: Operation) -> bool {
        let _ = operation;
        true
    }

    /// Operation number `step` of a bad case on the nodes of `order`, which are in order of
    /// their priorities; none of its own unless overridden.
    fn adversary(&self, step: usize, order: &[Node]) -> Option<Operation> {
        let _ = (step, order);
        None
    }

    /// Carries out one operation, notes every visited node (ground-truth mask 0) and returns
    /// the answer ŷ.
    ///
    /// The caller has checked that u and v are below n, that the structure has such a kind of
    /// operation, and that u ≠ v unless the structure has kinds of its own. An error ends whatever the
    /// operation was part of, and is reported with the structure's name.
    fn apply(&mut self, operation: Operation, visited: &mut Visited) -> Result<bool>;

    /// Where the learned pointer of `node` points now: π̂ of the node.
    fn pointer(&self, node: Node) -> Node;

    /// Goes on from these learned pointers, one per node, if they say all there is to know; false
    /// if the structure keeps more than that, as a link/cut tree does.
    ///
    /// The caller has reset the structure and checked the pointers: they are in range, and form
    /// a forest unless the [`Schema`] allows cycles.
    fn start_from(&mut self, pointers: &[Node]) -> bool {
        let _ = pointers;
        false
    }

    /// Writes the learned pointers of nodes 0, 1, … into `row`. Override it only to be faster.
    fn pointers(&self, row: &mut [Node]) {
        for (node, pointer) in (0..).zip(row) {
            *pointer = self.pointer(node);
        }
    }

    /// Writes pointer field number `field` of nodes 0, 1, … into `row`, nil as the node itself.
    ///
    /// Override it, for all fields but the learned one, if the [`Schema`] has more pointer fields.
    fn pointer_field(&self, field: usize, row: &mut [Node]) -> Result<()> {
        let schema = self.schema();
        if field == schema.learned() {
            self.pointers(row);
            return Ok(());
        }
        let name = schema.pointers().get(field).map_or("", String::as_str);
        let trouble = format!("does not report its pointer field `{name}` (number {field})");
        Err(Error::structure(self.name(), trouble))
    }

    /// Writes bit number `bit` of nodes 0, 1, … into `row`, 0 or 1 each.
    ///
    /// Override it if the [`Schema`] has bits.
    fn bit_field(&self, bit: usize, row: &mut [u8]) -> Result<()> {
        let _ = row;
        let schema = self.schema();
        let name = schema.bits().get(bit).map_or("", String::as_str);
        let trouble = format!("does not report its bit `{name}` (number {bit})");
        Err(Error::structure(self.name(), trouble))
    }
}

/// [`PointerStructure::apply`], its error with the structure's name.
pub(crate) fn apply(
    structure: &mut dyn PointerStructure,
    operation: Operation,
    visited: &mut Visited,
) -> Result<bool> {
    structure.apply(operation, visited).map_err(|error| error.of_structure(structure.name()))
}
