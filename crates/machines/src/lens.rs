//! What a state looks at.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::Signature;

/// An access path: a register, then pointer fields, such as `s.up.left`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Path {
    /// The register it starts from.
    pub register: u8,
    /// The pointer fields it follows.
    pub fields: Vec<u8>,
}

/// Shorter paths first, so that a path comes after what it rests on.
impl Ord for Path {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |path: &Path| (path.fields.len(), path.register);
        key(self).cmp(&key(other)).then_with(|| self.fields.cmp(&other.fields))
    }
}

impl PartialOrd for Path {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Path {
    /// The path as users write it.
    pub fn text(&self, signature: &Signature) -> String {
        let mut text = signature.registers[usize::from(self.register)].clone();
        for &field in &self.fields {
            text.push('.');
            text += &signature.pointers[usize::from(field)];
        }
        text
    }
}

/// Something a step read, by access path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PathRead {
    /// A field of the controller.
    Control(u8),
    /// The register or pointer field at the end of a path.
    Pointer(Path),
    /// A bit of the node at the end of a path.
    Bit(Path, u8),
    /// A comparison of the nodes at the ends of two paths.
    Less(Path, Path),
}

/// A read of a lens. Registers and pointers fill *slots*, in order; later reads start from them.
/// A read that starts from a slot which is nil, or was itself skipped, is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Read {
    /// A field of the controller.
    Control(u8),
    /// A register; fills the next slot.
    Register(u8),
    /// A pointer field of the node in a slot; fills the next slot.
    Pointer(u8, u8),
    /// A bit of the node in a slot.
    Bit(u8, u8),
    /// A comparison of the nodes in two slots; skipped if they are the same node.
    Less(u8, u8),
}

/// The lens of a state: all that its step ever reads, as a list of reads that does not depend on
/// what is found (but for nil, where nothing follows).
///
/// The program reads less in most situations, depending on what it has found. The lens does not
/// follow it there: which of the fields in sight matter is for the network to learn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lens {
    /// The reads: fields of the controller, registers and pointers by length of path, then bits,
    /// then comparisons.
    pub reads: Vec<Read>,
    /// The access path of each slot.
    pub paths: Vec<Path>,
}

impl Lens {
    /// The lens that shows all of these reads. Every path's beginnings are among them.
    pub fn of(reads: &BTreeSet<PathRead>) -> Self {
        let mut lens = Lens::default();
        let mut slots: BTreeMap<Path, u8> = BTreeMap::new();
        for read in reads {
            let read = match read {
                PathRead::Control(control) => Read::Control(*control),
                PathRead::Pointer(path) => {
                    let slot = slots.len() as u8;
                    slots.insert(path.clone(), slot);
                    lens.paths.push(path.clone());
                    match path.fields.split_last() {
                        None => Read::Register(path.register),
                        Some((&field, fields)) => {
                            let from = Path { register: path.register, fields: fields.to_vec() };
                            Read::Pointer(slots[&from], field)
                        }
                    }
                }
                PathRead::Bit(path, bit) => Read::Bit(slots[path], *bit),
                PathRead::Less(a, b) => Read::Less(slots[a], slots[b]),
            };
            lens.reads.push(read);
        }
        lens
    }

    /// The reads as users write them: `s`, `s.up`, `s.flip`, `less(s, t)`.
    pub fn text(&self, signature: &Signature) -> Vec<String> {
        let path = |slot: u8| self.paths[usize::from(slot)].text(signature);
        let mut slots = 0..;
        let mut next = || slots.next().map(path).unwrap_or_default();
        self.reads
            .iter()
            .map(|&read| match read {
                Read::Control(control) => signature.controls[usize::from(control)].name.clone(),
                Read::Register(_) | Read::Pointer(..) => next(),
                Read::Bit(slot, bit) => {
                    format!("{}.{}", path(slot), signature.bits[usize::from(bit)])
                }
                Read::Less(a, b) => format!("less({}, {})", path(a), path(b)),
            })
            .collect()
    }
}
