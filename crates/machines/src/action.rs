//! What a micro-step writes.

use serde::{Deserialize, Serialize};

use crate::view::{letter, name_of};
use crate::{Signature, View, values};

/// What is written to a pointer: a field of a node, or a register.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Write {
    /// Nothing is written.
    #[default]
    Keep,
    /// Nil.
    Nil,
    /// This node of the view.
    Node(u8),
}

/// What a micro-step writes, in terms of the nodes of its [`View`].
///
/// It says what is *written*, not what changes: writing the value that was there is an action of
/// its own, and a field may be written that was never read. All writes happen at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Action {
    /// Per node and pointer field, at `node * fields + field`.
    pub pointers: Vec<Write>,
    /// Per node and bit: whether it is toggled.
    pub toggles: Vec<bool>,
    /// Per node and mark, at `node * marks + mark`: whether it is set. Mark 0 is `visit`.
    pub marks: Vec<bool>,
    /// Per register.
    pub registers: Vec<Write>,
    /// Per field of the controller; `None` keeps it.
    pub controls: Vec<Option<u8>>,
    /// The next state.
    pub next: u8,
}

impl Action {
    /// An action on a view that writes nothing and goes to state 0.
    pub fn idle(view: &View, signature: &Signature) -> Self {
        let nodes = usize::from(view.nodes);
        Action {
            pointers: vec![Write::Keep; nodes * signature.pointers.len()],
            toggles: vec![false; nodes * signature.bits.len()],
            marks: vec![false; nodes * signature.marks.len()],
            registers: vec![Write::Keep; signature.registers.len()],
            controls: vec![None; signature.controls.len()],
            next: 0,
        }
    }

    /// What makes it impossible to carry out on `view`, if anything.
    pub fn check(&self, view: &View, signature: &Signature) -> Result<(), String> {
        let nodes = usize::from(view.nodes);
        let shape = [
            ("pointer writes", self.pointers.len(), nodes * signature.pointers.len()),
            ("toggles", self.toggles.len(), nodes * signature.bits.len()),
            ("marks", self.marks.len(), nodes * signature.marks.len()),
            ("register writes", self.registers.len(), signature.registers.len()),
            ("controller writes", self.controls.len(), signature.controls.len()),
        ];
        if let Some((what, found, expected)) = shape.into_iter().find(|item| item.1 != item.2) {
            return Err(format!("the action has {found} {what}; expected {expected}"));
        }
        for write in self.pointers.iter().chain(&self.registers) {
            if let Write::Node(node) = *write
                && node >= view.nodes
            {
                return Err(format!("the action writes node {node} of a view of {nodes} nodes"));
            }
        }
        for (value, control) in self.controls.iter().zip(&signature.controls) {
            if let Some(value) = *value
                && usize::from(value) >= control.values.len()
            {
                return Err(format!(
                    "the action writes value {value} to `{}`, which has {} values",
                    control.name,
                    control.values.len()
                ));
            }
        }
        if usize::from(self.next) >= signature.states.len() {
            return Err(format!(
                "the action goes to state {}; there are {}",
                self.next,
                signature.states.len()
            ));
        }
        Ok(())
    }

    /// How many nodes are pulled. A program pulls one at most, so that the order does not matter.
    pub(crate) fn pulls(&self, signature: &Signature) -> usize {
        if signature.children.is_empty() {
            return 0;
        }
        let pulls = self.marks.iter().skip(values::PULL).step_by(signature.marks.len());
        pulls.filter(|pull| **pull).count()
    }

    /// The action in text, with the signature's names and the letters of [`View::picture`].
    ///
    /// ```text
    /// a.up=c b.left=nil toggle a.flip s=b visit a → splay
    /// ```
    pub fn picture(&self, signature: &Signature) -> String {
        let mut parts = Vec::new();
        let value = |write: Write| match write {
            Write::Keep => None,
            Write::Nil => Some("nil".to_string()),
            Write::Node(node) => Some(letter(node)),
        };
        let fields = signature.pointers.len().max(1);
        for (index, &write) in self.pointers.iter().enumerate() {
            if let Some(value) = value(write) {
                let node = letter((index / fields) as u8);
                let field = (index % fields) as u8;
                let field = name_of(&signature.pointers, field, "pointer", |name| name);
                parts.push(format!("{node}.{field}={value}"));
            }
        }
        let per_node = |marks: &[bool], names: &[String], what: &str, parts: &mut Vec<String>| {
            for (index, _) in marks.iter().enumerate().filter(|(_, set)| **set) {
                let count = names.len().max(1);
                let node = letter((index / count) as u8);
                let name = name_of(names, (index % count) as u8, "number", |name| name);
                parts.push(match what {
                    "toggle" => format!("toggle {node}.{name}"),
                    _ => format!("{name} {node}"),
                });
            }
        };
        per_node(&self.toggles, &signature.bits, "toggle", &mut parts);
        for (index, &write) in self.registers.iter().enumerate() {
            if let Some(value) = value(write) {
                let name = name_of(&signature.registers, index as u8, "register", |name| name);
                parts.push(format!("{name}={value}"));
            }
        }
        for (index, &value) in self.controls.iter().enumerate() {
            if let Some(value) = value {
                let control = signature.controls.get(index);
                let name = control.map_or(format!("control{index}"), |found| found.name.clone());
                let named = control.and_then(|found| found.values.get(usize::from(value)));
                parts.push(format!("{name}={}", named.cloned().unwrap_or(value.to_string())));
            }
        }
        per_node(&self.marks, &signature.marks, "mark", &mut parts);
        parts.push(format!(
            "→ {}",
            name_of(&signature.states, self.next, "state", |state| &state.name)
        ));
        parts.join(" ")
    }
}
