//! Reads, outcomes and effects in words, with the names of the signature.

use super::tree::{Effect, Found, Test};
use crate::Signature;
use crate::lens::Lens;

/// The names of a state's slots: the access paths that fill them.
pub(super) struct Words<'a> {
    pub signature: &'a Signature,
    pub lens: &'a Lens,
}

impl Words<'_> {
    /// A slot, such as `s.up.left`.
    pub fn slot(&self, slot: u8) -> String {
        let path = self.lens.paths.get(usize::from(slot));
        path.map_or_else(|| format!("slot{slot}"), |path| path.text(self.signature))
    }

    /// What is read.
    pub fn test(&self, test: Test) -> String {
        match test {
            Test::Control { control } => self.signature.controls[usize::from(control)].name.clone(),
            Test::Register { slot, .. } | Test::Pointer { slot, .. } => self.slot(slot),
            Test::Bit { slot, bit } => {
                format!("{}.{}", self.slot(slot), self.signature.bits[usize::from(bit)])
            }
            Test::Less { a, b } => format!("{} < {}", self.slot(a), self.slot(b)),
        }
    }

    /// What was found.
    pub fn found(&self, test: Test, found: Found) -> String {
        match (test, found) {
            (_, Found::Nil) => "nil".to_string(),
            (_, Found::Same(slot)) => self.slot(slot),
            (_, Found::New) => "other".to_string(),
            (Test::Less { .. }, Found::Truth(true)) => "yes".to_string(),
            (Test::Less { .. }, Found::Truth(false)) => "no".to_string(),
            (_, Found::Truth(set)) => u8::from(set).to_string(),
            (Test::Control { control }, Found::Value(value)) => {
                let values = &self.signature.controls[usize::from(control)].values;
                values.get(usize::from(value)).cloned().unwrap_or_else(|| value.to_string())
            }
            (_, Found::Value(value)) => value.to_string(),
        }
    }

    /// A write.
    pub fn effect(&self, effect: Effect) -> String {
        let target = |to: Option<u8>| to.map_or("nil".to_string(), |slot| self.slot(slot));
        let signature = self.signature;
        match effect {
            Effect::Pointer { slot, field, to } => {
                let field = &signature.pointers[usize::from(field)];
                format!("{}.{field} = {}", self.slot(slot), target(to))
            }
            Effect::Toggle { slot, bit } => {
                format!("toggle {}.{}", self.slot(slot), signature.bits[usize::from(bit)])
            }
            Effect::Register { register, to } => {
                format!("{} = {}", signature.registers[usize::from(register)], target(to))
            }
            Effect::Control { control, value } => {
                let control = &signature.controls[usize::from(control)];
                format!("{} = {}", control.name, control.values[usize::from(value)])
            }
            Effect::Mark { slot, mark } => {
                format!("{} {}", signature.marks[usize::from(mark)], self.slot(slot))
            }
        }
    }
}
