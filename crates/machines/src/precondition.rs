//! What the arguments of an operation must be like, as data.

use std::fmt;

use pgn_structures::Node;
use serde::{Deserialize, Serialize};

use crate::{Signature, Store};

/// A condition on the arguments of an operation that can be checked by looking at them: a call
/// that violates it is refused, whoever executes the program.
///
/// Written as text ([`Signature::requires`]): `heap != x`, `x.child = nil`, `x.held = 0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Precondition {
    /// What must hold, in terms of the numbers of arguments.
    pub holds: Condition,
    /// Why a call that violates it is refused, as a sentence about the arguments.
    pub reason: String,
}

/// What must hold of the arguments of an operation, which are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Two arguments are different nodes.
    Different(u8, u8),
    /// A pointer field of an argument is nil: argument, field.
    Nil(u8, u8),
    /// A bit of an argument has this value: argument, bit.
    Bit(u8, u8, bool),
}

impl Precondition {
    /// Reads a condition of an operation with these arguments; `None` for anything else.
    pub(crate) fn parse(
        signature: &Signature,
        arguments: &[u8],
        text: &str,
        reason: &str,
    ) -> Option<Self> {
        let number = |names: &[String], name: &str| {
            names.iter().position(|known| known == name).map(|index| index as u8)
        };
        let argument = |name: &str| {
            let register = number(&signature.registers, name.trim())?;
            arguments.iter().position(|&known| known == register).map(|index| index as u8)
        };
        let holds = if let Some((a, b)) = text.split_once("!=") {
            Condition::Different(argument(a)?, argument(b)?)
        } else {
            let (place, value) = text.split_once('=')?;
            let (node, field) = place.trim().split_once('.')?;
            let (node, value) = (argument(node)?, value.trim());
            match (number(&signature.pointers, field), number(&signature.bits, field)) {
                (Some(field), _) if value == "nil" => Condition::Nil(node, field),
                (_, Some(bit)) if ["0", "1"].contains(&value) => {
                    Condition::Bit(node, bit, value == "1")
                }
                _ => return None,
            }
        };
        Some(Precondition { holds, reason: reason.to_owned() })
    }
}

impl Condition {
    /// Whether it holds for a call with these arguments, all of which exist.
    pub fn allows(self, store: &Store, arguments: &[Node]) -> bool {
        let node = |argument: u8| arguments.get(usize::from(argument)).copied();
        match self {
            Condition::Different(a, b) => node(a) != node(b),
            Condition::Nil(argument, field) => {
                node(argument).is_none_or(|node| store.pointer(node, usize::from(field)).is_none())
            }
            Condition::Bit(argument, bit, set) => {
                node(argument).is_none_or(|node| store.bit(node, usize::from(bit)) == set)
            }
        }
    }

    /// Whether it only names arguments, fields and bits that there are.
    pub(crate) fn fits(self, signature: &Signature, arguments: usize) -> bool {
        let exists = |argument: u8| usize::from(argument) < arguments;
        match self {
            Condition::Different(a, b) => exists(a) && exists(b),
            Condition::Nil(argument, field) => {
                exists(argument) && usize::from(field) < signature.pointers.len()
            }
            Condition::Bit(argument, bit, _) => {
                exists(argument) && usize::from(bit) < signature.bits.len()
            }
        }
    }
}

/// The reason for refusing.
impl fmt::Display for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}
