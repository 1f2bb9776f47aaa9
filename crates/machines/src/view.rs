//! What a micro-step can see: a small rooted graph without node numbers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Signature;

/// What is known of a pointer: a field of a node, or a register.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// The state's lens does not show it.
    #[default]
    Unread,
    /// It points nowhere.
    Nil,
    /// It points to this node of the view.
    Node(u8),
}

/// The outcome of `less(a, b)` on two nodes of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Comparison {
    /// The first node.
    pub a: u8,
    /// The second node.
    pub b: u8,
    /// Whether the key of `a` is less than that of `b`.
    pub less: bool,
}

/// What the lens of a state shows, with nodes numbered in the order in which they are found.
///
/// Two situations that look the same through the lens have equal views: no node number and
/// nothing of n is in here. A view may have no nodes at all, where a state only looks at a field
/// of the controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct View {
    /// The state of the controller.
    pub state: u8,
    /// How many nodes are seen.
    pub nodes: u8,
    /// Per register of the signature.
    pub registers: Vec<Seen>,
    /// Per field of the controller; `None` is unread.
    pub controls: Vec<Option<u8>>,
    /// Per node and pointer field, at `node * fields + field`.
    pub pointers: Vec<Seen>,
    /// Per node and bit, at `node * bits + bit`; `None` is unread.
    pub bits: Vec<Option<bool>>,
    /// The comparisons that were read, in the order of the lens.
    pub comparisons: Vec<Comparison>,
}

impl View {
    /// A view of a state in which nothing has been read.
    pub fn empty(state: u8, signature: &Signature) -> Self {
        View {
            state,
            registers: vec![Seen::Unread; signature.registers.len()],
            controls: vec![None; signature.controls.len()],
            ..View::default()
        }
    }

    /// How many pointer fields a node has, if there are nodes.
    fn stride(len: usize, nodes: u8) -> usize {
        len.checked_div(usize::from(nodes)).unwrap_or(0)
    }

    /// What is known of a pointer field of a node.
    pub fn pointer(&self, node: u8, field: usize) -> Seen {
        let stride = View::stride(self.pointers.len(), self.nodes);
        self.pointers[usize::from(node) * stride + field]
    }

    /// What is known of a bit of a node.
    pub fn bit(&self, node: u8, bit: usize) -> Option<bool> {
        let stride = View::stride(self.bits.len(), self.nodes);
        self.bits[usize::from(node) * stride + bit]
    }

    /// `less(a, b)`, if it was read; a node is never less than itself.
    pub fn less(&self, a: u8, b: u8) -> Option<bool> {
        if a == b {
            return Some(false);
        }
        let read = self.comparisons.iter().find(|read| (read.a, read.b) == (a, b));
        read.map(|read| read.less)
    }

    /// Adds a node about which nothing is known yet.
    pub(crate) fn add_node(&mut self, signature: &Signature) -> u8 {
        self.nodes += 1;
        let nodes = usize::from(self.nodes);
        self.pointers.resize(nodes * signature.pointers.len(), Seen::Unread);
        self.bits.resize(nodes * signature.bits.len(), None);
        self.nodes - 1
    }

    /// Forgets the nodes from number `nodes` on.
    pub(crate) fn truncate(&mut self, nodes: u8, signature: &Signature) {
        self.nodes = nodes;
        self.pointers.truncate(usize::from(nodes) * signature.pointers.len());
        self.bits.truncate(usize::from(nodes) * signature.bits.len());
    }

    /// A picture in text, with the signature's names. Nodes are called a, b, c, …
    ///
    /// ```text
    /// splay: s=a return=climb
    ///   a: up=b flip=0
    ///   b: left=a right=nil
    /// ```
    pub fn picture(&self, signature: &Signature) -> String {
        let mut text = name_of(&signature.states, self.state, "state", |state| &state.name);
        text.push(':');
        for (index, &seen) in self.registers.iter().enumerate() {
            if let Some(target) = target(seen) {
                let name = name_of(&signature.registers, index as u8, "register", |name| name);
                text += &format!(" {name}={target}");
            }
        }
        for (index, &value) in self.controls.iter().enumerate() {
            if let Some(value) = value {
                let control = signature.controls.get(index);
                let name = control.map_or(format!("control{index}"), |found| found.name.clone());
                let named = control.and_then(|found| found.values.get(usize::from(value)));
                text += &format!(" {name}={}", named.cloned().unwrap_or(value.to_string()));
            }
        }
        for node in 0..self.nodes {
            text += &format!("\n  {}:", letter(node));
            for field in 0..View::stride(self.pointers.len(), self.nodes) {
                if let Some(target) = target(self.pointer(node, field)) {
                    let name = name_of(&signature.pointers, field as u8, "pointer", |name| name);
                    text += &format!(" {name}={target}");
                }
            }
            for bit in 0..View::stride(self.bits.len(), self.nodes) {
                if let Some(set) = self.bit(node, bit) {
                    let name = name_of(&signature.bits, bit as u8, "bit", |name| name);
                    text += &format!(" {name}={}", u8::from(set));
                }
            }
        }
        for read in &self.comparisons {
            let sign = if read.less { "<" } else { "≥" };
            text += &format!("\n  {} {sign} {}", letter(read.a), letter(read.b));
        }
        text
    }
}

/// The picture with numbers instead of names.
impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.picture(&Signature::default()))
    }
}

/// a, b, …, z, a1, b1, …
pub(crate) fn letter(node: u8) -> String {
    let letter = char::from(b'a' + node % 26);
    match node / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

fn target(seen: Seen) -> Option<String> {
    match seen {
        Seen::Unread => None,
        Seen::Nil => Some("nil".to_string()),
        Seen::Node(node) => Some(letter(node)),
    }
}

/// The name of item `index`, or what it is and its number.
pub(crate) fn name_of<T>(items: &[T], index: u8, what: &str, name: fn(&T) -> &String) -> String {
    items
        .get(usize::from(index))
        .map_or_else(|| format!("{what}{index}"), |item| name(item).clone())
}
