//! What a step of a program may do: read around the registers, and write.

use pgn_structures::Node;

use crate::values;

/// The memory as a step of a [`Program`](crate::Program) sees it.
///
/// A program holds nodes only as handles that it got from a read of the same step. It may compare
/// two handles for equality and pass them back, and must not use their numbers in any other way:
/// in a symbolic memory they are the numbers of the nodes of a view. Writes take effect at once
/// for later reads of the same step.
///
/// Implementations: [`Store`](crate::Store) runs a program on arrays;
/// [`TracingMemory`](crate::TracingMemory) records or enumerates what it reads and writes.
pub trait Memory {
    /// The node in a register, or nil.
    fn register(&mut self, register: usize) -> Option<Node>;
    /// A pointer field of a node.
    fn pointer(&mut self, node: Node, field: usize) -> Option<Node>;
    /// A bit of a node.
    fn bit(&mut self, node: Node, bit: usize) -> bool;
    /// Whether the key of `a` is less than that of `b`: a strict weak order.
    fn less(&mut self, a: Node, b: Node) -> bool;
    /// A field of the controller.
    fn control(&mut self, control: usize) -> u8;

    /// Writes a register.
    fn set_register(&mut self, register: usize, to: Option<Node>);
    /// Writes a pointer field of a node.
    fn set_pointer(&mut self, node: Node, field: usize, to: Option<Node>);
    /// Toggles a bit of a node.
    fn toggle(&mut self, node: Node, bit: usize);
    /// Writes a field of the controller.
    fn set_control(&mut self, control: usize, value: u8);
    /// Marks a node; mark 0 is `visit`.
    fn mark(&mut self, node: Node, mark: usize);

    /// Notes that the operation visits a node: the ground truth of the mask μ̂ (mask 0).
    fn visit(&mut self, node: Node) {
        self.mark(node, 0);
    }

    /// Recomputes the aggregate of a node from its children, once everything else of this step
    /// has been written; one node a step. For programs with
    /// [`values`](crate::Signature::values).
    fn pull(&mut self, node: Node) {
        self.mark(node, values::PULL);
    }

    /// Adds the operand of the operation to the value of a node, before any `pull`.
    fn add(&mut self, node: Node) {
        self.mark(node, values::ADD);
    }

    /// Sets the value of a node to the operand of the operation, before any `pull`.
    fn set(&mut self, node: Node) {
        self.mark(node, values::SET);
    }
}
