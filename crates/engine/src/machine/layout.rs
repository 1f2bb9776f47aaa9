//! Which number is which feature, relation and output, for the names of a program.
//!
//! Parameter files follow this order, so it never changes.

use pgn_machines::Signature;

use super::MachineSettings;
use crate::{Parameters, kernels::LANES};

/// The outcomes of `less(a, b)`, as relations.
pub const COMPARISONS: usize = 4;

/// Names of the tensors of `model.safetensors`.
pub const ENCODER: &str = "encoder.weight";
pub const MESSAGE: &str = "message.weight";
pub const NODE: &str = "node.weight";
pub const NODE_BIAS: &str = "node.bias";
pub const CONTROLLER: &str = "controller.weight";
pub const CONTROLLER_BIAS: &str = "controller.bias";

/// Counts of everything, and the numbers that follow from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub k: usize,
    pub fields: usize,
    pub bits: usize,
    pub marks: usize,
    pub registers: usize,
    /// Values of each field of the controller.
    pub controls: Vec<usize>,
    pub states: usize,
}

/// What a row has of a field of the controller: a value, or that it was not read.
pub type ControlValue = Option<u8>;

impl Layout {
    pub fn new(signature: &Signature, settings: &MachineSettings) -> Layout {
        Layout {
            k: settings.k,
            fields: signature.pointers.len(),
            bits: signature.bits.len(),
            marks: signature.marks.len(),
            registers: signature.registers.len(),
            controls: signature.controls.iter().map(|control| control.values.len()).collect(),
            states: signature.states.len(),
        }
    }

    // Features: those of a node, then those of the controller. Both begin with
    // [1 ‖ state ‖ per control: its values, unread].

    /// Features that nodes and controllers both have.
    fn common(&self) -> usize {
        1 + self.states + self.controls.iter().map(|values| values + 1).sum::<usize>()
    }

    /// Features of a node: the common ones, then per field nil and unread, per bit 0, 1 and
    /// unread, and the registers that hold it.
    pub fn node_features(&self) -> usize {
        self.common() + 2 * self.fields + 3 * self.bits + self.registers
    }

    /// All features: a node's, then the controller's: the common ones, per register nil and
    /// unread.
    pub fn features(&self) -> usize {
        self.node_features() + self.common() + 2 * self.registers
    }

    /// The common features that are on, counted from a row's first feature.
    pub fn common_features(&self, state: u8, controls: &[ControlValue]) -> Vec<usize> {
        let mut on = vec![0, 1 + usize::from(state)];
        let mut first = 1 + self.states;
        for (&values, value) in self.controls.iter().zip(controls) {
            on.push(first + value.map_or(values, usize::from));
            first += values + 1;
        }
        on
    }

    pub fn nil_field(&self, field: usize) -> usize {
        self.common() + 2 * field
    }

    pub fn unread_field(&self, field: usize) -> usize {
        self.nil_field(field) + 1
    }

    pub fn bit(&self, bit: usize, value: Option<bool>) -> usize {
        self.common() + 2 * self.fields + 3 * bit + value.map_or(2, usize::from)
    }

    pub fn held_by(&self, register: usize) -> usize {
        self.common() + 2 * self.fields + 3 * self.bits + register
    }

    /// Counted from the first feature of all.
    pub fn nil_register(&self, register: usize) -> usize {
        self.node_features() + self.common() + 2 * register
    }

    pub fn unread_register(&self, register: usize) -> usize {
        self.nil_register(register) + 1
    }

    // Relations, by which reads which: node i reads itself, i.field, those whose field is i, those it
    // was compared with; the controller by register, the controller; the controller reads the
    // node in a register, all nodes, itself.

    pub const ITSELF: usize = 0;

    pub fn ahead(&self, field: usize) -> usize {
        1 + field
    }

    pub fn behind(&self, field: usize) -> usize {
        1 + self.fields + field
    }

    /// What a reads b by, if `less(a, b)` was `less`; b reads a by the next one.
    pub fn compared(&self, less: bool) -> usize {
        1 + 2 * self.fields + if less { 0 } else { 2 }
    }

    /// Relations between two nodes.
    pub fn between_nodes(&self) -> usize {
        1 + 2 * self.fields + COMPARISONS
    }

    pub fn to_register(&self, register: usize) -> usize {
        self.between_nodes() + register
    }

    pub fn to_all(&self) -> usize {
        self.between_nodes() + self.registers
    }

    pub fn of_register(&self, register: usize) -> usize {
        self.to_all() + 1 + register
    }

    pub fn of_all(&self) -> usize {
        self.to_all() + 1 + self.registers
    }

    pub fn controller_itself(&self) -> usize {
        self.of_all() + 1
    }

    pub fn relations(&self) -> usize {
        self.controller_itself() + 1
    }

    /// Biases of a choice that a node makes: by relation to the other node, then by the registers
    /// that hold it. The controller's choices have only the latter.
    pub fn node_biases(&self) -> usize {
        self.between_nodes() + self.registers
    }

    // Outputs of a node: per field [query ‖ keep ‖ nil ‖ biases], bits, marks, key. Of the
    // controller: per register the same, per control [keep ‖ values], states.

    fn node_choice(&self) -> usize {
        self.k + 2 + self.node_biases()
    }

    pub fn field_outputs(&self, field: usize) -> std::ops::Range<usize> {
        field * self.node_choice()..(field + 1) * self.node_choice()
    }

    pub fn toggle_output(&self, bit: usize) -> usize {
        self.fields * self.node_choice() + bit
    }

    pub fn mark_output(&self, mark: usize) -> usize {
        self.toggle_output(self.bits) + mark
    }

    pub fn key_output(&self) -> usize {
        self.mark_output(self.marks)
    }

    pub fn node_outputs(&self) -> usize {
        self.key_output() + self.k
    }

    fn controller_choice(&self) -> usize {
        self.k + 2 + self.registers
    }

    pub fn register_outputs(&self, register: usize) -> std::ops::Range<usize> {
        register * self.controller_choice()..(register + 1) * self.controller_choice()
    }

    pub fn control_outputs(&self, control: usize) -> std::ops::Range<usize> {
        let before: usize = self.controls[..control].iter().map(|values| values + 1).sum();
        let first = self.registers * self.controller_choice() + before;
        first..first + self.controls[control] + 1
    }

    pub fn state_outputs(&self) -> std::ops::Range<usize> {
        let controls: usize = self.controls.iter().map(|values| values + 1).sum();
        let first = self.registers * self.controller_choice() + controls;
        first..first + self.states
    }

    pub fn controller_outputs(&self) -> usize {
        self.state_outputs().end
    }

    /// Zeros for all weights.
    pub fn zeros(&self) -> Parameters {
        let k = self.k;
        Parameters::of_shapes(vec![
            (ENCODER, vec![k, self.features()]),
            (MESSAGE, vec![self.relations() * k, k]),
            (NODE, vec![self.node_outputs(), k]),
            (NODE_BIAS, vec![self.node_outputs()]),
            (CONTROLLER, vec![self.controller_outputs(), k]),
            (CONTROLLER_BIAS, vec![self.controller_outputs()]),
        ])
    }
}

/// The next multiple of a vector's length.
pub fn padded(count: usize) -> usize {
    count.next_multiple_of(LANES)
}
