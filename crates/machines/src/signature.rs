//! What a program is made of: the names of its fields, registers, states and operations.

use pgn_structures::Node;
use serde::{Deserialize, Serialize};

use crate::{Condition, Precondition, Store, values};

/// The names of everything a program has. All else refers to them by number, in this order.
///
/// ```
/// use pgn_machines::Signature;
///
/// let signature = Signature::new("list")
///     .pointers(&["next"])
///     .registers(&["x"])
///     .states(&["walk"])
///     .halt("found", pgn_machines::Halt::Answer(true))
///     .operation("search", "walk", &["x"], &[]);
/// assert_eq!(signature.states.len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Signature {
    /// The program's name, as in `--task`.
    pub name: String,
    /// The version of the program: raised whenever a step, a state or an invariant changes, so
    /// that a certificate names what it is about.
    pub version: u32,
    /// Pointer fields of a node; each holds a node or nil.
    pub pointers: Vec<String>,
    /// Bits of a node.
    pub bits: Vec<String>,
    /// Marks: what a step can say of a node without writing a field of it. `visit` is the
    /// ground-truth mask; a host may attach arithmetic to others.
    pub marks: Vec<String>,
    /// Pointer fields that lead to the children of a node, whose aggregates make up its own;
    /// empty if nodes have no values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<u8>,
    /// Registers of the controller; each holds a node or nil.
    pub registers: Vec<String>,
    /// Small fields of the controller, such as a return address, each with its values.
    pub controls: Vec<Control>,
    /// Where the program can be.
    pub states: Vec<StateSignature>,
    /// What a user can ask for.
    pub operations: Vec<OperationSignature>,
}

/// A small field of the controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Control {
    /// Its name.
    pub name: String,
    /// Its values, by name. An operation starts with value 0 unless it says otherwise.
    pub values: Vec<String>,
}

/// A state of the controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StateSignature {
    /// Its name.
    pub name: String,
    /// The result, if an operation ends here. A halting state has no step.
    pub halt: Option<Halt>,
}

/// How an operation ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Halt {
    /// With nothing to say.
    Done,
    /// With ŷ.
    Answer(bool),
    /// With the node (or nil) in this register.
    Node(u8),
    /// It could not be carried out, for this reason.
    Refused(String),
}

/// An operation: where it starts, and what it is given.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OperationSignature {
    /// Its name.
    pub name: String,
    /// The state it starts in.
    pub entry: u8,
    /// The registers that hold its arguments; all others start as nil.
    pub arguments: Vec<u8>,
    /// Fields of the controller that start with another value than 0.
    pub controls: Vec<(u8, u8)>,
    /// What its arguments must be like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<Precondition>,
}

impl Signature {
    /// A program of this name, version 1, with a mark `visit` and nothing else.
    pub fn new(name: &str) -> Self {
        Signature {
            name: name.to_string(),
            version: 1,
            marks: vec!["visit".to_string()],
            ..Signature::default()
        }
    }

    /// With this version.
    pub fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }

    /// With these pointer fields.
    pub fn pointers(mut self, names: &[&str]) -> Self {
        self.pointers.extend(names.iter().map(|name| name.to_string()));
        self
    }

    /// With these bits.
    pub fn bits(mut self, names: &[&str]) -> Self {
        self.bits.extend(names.iter().map(|name| name.to_string()));
        self
    }

    /// With values, and an aggregate per node that is made up of those of the nodes in these
    /// pointer fields. The marks `pull`, `add` and `set` follow `visit`.
    pub fn values(mut self, children: &[&str]) -> Self {
        let number = |child: &&str| {
            let found = self.pointers.iter().position(|name| name == child);
            found.map_or(u8::MAX, |index| index as u8)
        };
        self.children = children.iter().map(number).collect();
        self.marks.splice(1..1, values::MARKS.map(str::to_string));
        self
    }

    /// With these marks, after `visit`.
    pub fn marks(mut self, names: &[&str]) -> Self {
        self.marks.extend(names.iter().map(|name| name.to_string()));
        self
    }

    /// With these registers.
    pub fn registers(mut self, names: &[&str]) -> Self {
        self.registers.extend(names.iter().map(|name| name.to_string()));
        self
    }

    /// With a field of the controller.
    pub fn control(mut self, name: &str, values: &[&str]) -> Self {
        let values = values.iter().map(|value| value.to_string()).collect();
        self.controls.push(Control { name: name.to_string(), values });
        self
    }

    /// With these states.
    pub fn states(mut self, names: &[&str]) -> Self {
        let new = names.iter().map(|name| StateSignature { name: name.to_string(), halt: None });
        self.states.extend(new);
        self
    }

    /// With a state in which operations end; it is added unless it has been declared.
    pub fn halt(mut self, name: &str, halt: Halt) -> Self {
        match self.states.iter_mut().find(|state| state.name == name) {
            Some(state) => state.halt = Some(halt),
            None => self.states.push(StateSignature { name: name.to_string(), halt: Some(halt) }),
        }
        self
    }

    /// With a state in which operations end because they cannot be carried out.
    pub fn refuse(self, name: &str, reason: &str) -> Self {
        self.halt(name, Halt::Refused(reason.to_string()))
    }

    /// With an operation. States, registers and values are given by name and must have been
    /// declared before: an unknown name becomes number 255, which [`Signature::check`] reports.
    pub fn operation(
        mut self,
        name: &str,
        entry: &str,
        arguments: &[&str],
        controls: &[(&str, &str)],
    ) -> Self {
        let number = |found: Option<usize>| found.map_or(u8::MAX, |index| index as u8);
        let entry = number(self.states.iter().position(|state| state.name == entry));
        let arguments = arguments
            .iter()
            .map(|&argument| number(self.registers.iter().position(|name| name == argument)))
            .collect();
        let controls = controls
            .iter()
            .map(|&(control, value)| {
                let index = self.controls.iter().position(|known| known.name == control);
                let values = index.map(|index| &self.controls[index].values);
                let value = values.and_then(|values| values.iter().position(|name| name == value));
                (number(index), number(value))
            })
            .collect();
        self.operations.push(OperationSignature {
            name: name.to_string(),
            entry,
            arguments,
            controls,
            requires: Vec::new(),
        });
        self
    }

    /// With a condition on the arguments of the operation that was declared last, such as
    /// `heap != x`, `x.child = nil` or `x.held = 0`, and why a call that violates it is refused.
    /// Anything else becomes a condition that [`Signature::check`] reports.
    pub fn requires(mut self, condition: &str, reason: &str) -> Self {
        let unknown = || Precondition {
            holds: Condition::Different(u8::MAX, u8::MAX),
            reason: reason.to_owned(),
        };
        let Some(last) = self.operations.last() else { return self };
        let parsed = Precondition::parse(&self, &last.arguments, condition, reason);
        let parsed = parsed.unwrap_or_else(unknown);
        if let Some(last) = self.operations.last_mut() {
            last.requires.push(parsed);
        }
        self
    }

    /// Why a call is refused before it starts, if it is: the first precondition that it violates.
    pub fn refusal(&self, store: &Store, operation: usize, arguments: &[Node]) -> Option<&str> {
        let declared = self.operations.get(operation)?;
        let violated = |one: &&Precondition| !one.holds.allows(store, arguments);
        declared.requires.iter().find(violated).map(|one| one.reason.as_str())
    }

    /// The number of the operation of this name.
    pub fn operation_named(&self, name: &str) -> Option<usize> {
        self.operations.iter().position(|operation| operation.name == name)
    }

    /// What is wrong with it, if anything, in one sentence.
    pub fn check(&self) -> Result<(), String> {
        crate::compile::check_names(self)?;
        let name = &self.name;
        let too_many = |what: &str, count: usize, most: usize| {
            Err(format!("program `{name}` has {count} {what}; at most {most} are supported"))
        };
        for (what, count, most) in [
            ("pointer fields", self.pointers.len(), 8),
            ("bits", self.bits.len(), 8),
            ("marks", self.marks.len(), 8),
            ("registers", self.registers.len(), 16),
            ("controller fields", self.controls.len(), 8),
            ("states", self.states.len(), 200),
        ] {
            if count > most {
                return too_many(what, count, most);
            }
        }
        if self.children.iter().any(|&child| usize::from(child) >= self.pointers.len()) {
            return Err(format!("program `{name}`: a child is in a field that it does not have"));
        }
        for control in &self.controls {
            if control.values.is_empty() || control.values.len() > 200 {
                return Err(format!(
                    "program `{name}`: controller field `{}` has {} values; expected 1 to 200",
                    control.name,
                    control.values.len()
                ));
            }
        }
        for operation in &self.operations {
            let known = self.states.get(usize::from(operation.entry)).is_some()
                && operation.arguments.iter().all(|&r| usize::from(r) < self.registers.len())
                && operation.controls.iter().all(|&(control, value)| {
                    let control = self.controls.get(usize::from(control));
                    control.is_some_and(|control| usize::from(value) < control.values.len())
                });
            if !known {
                return Err(format!(
                    "program `{name}`: operation `{}` names a state, a register or a value that \
                     the program does not have",
                    operation.name
                ));
            }
        }
        for operation in &self.operations {
            let fits = |one: &Precondition| one.holds.fits(self, operation.arguments.len());
            if let Some(other) = operation.requires.iter().find(|one| !fits(one)) {
                return Err(format!(
                    "program `{name}`: a condition of operation `{}` (\"{}\") is not understood; \
                     expected `a != b`, `a.field = nil` or `a.bit = 0` of its arguments",
                    operation.name, other.reason
                ));
            }
        }
        for state in &self.states {
            if let Some(Halt::Node(register)) = state.halt
                && usize::from(register) >= self.registers.len()
            {
                return Err(format!(
                    "program `{name}`: state `{}` answers with register {register}; there are {}",
                    state.name,
                    self.registers.len()
                ));
            }
        }
        Ok(())
    }
}
