//! Decision trees over reads, one per state, with actions as leaves.

use serde::{Deserialize, Serialize};

use crate::Signature;

/// A compiled machine: what to read next given what was found, and what to write in the end.
///
/// No view is left in it, and nothing of the network: a leaf names nodes by the *slots* that
/// reads have filled. Slots are numbered per state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// The names of the program it was compiled from.
    pub signature: Signature,
    /// Per state of the signature; none where operations end.
    pub states: Vec<Option<Branch>>,
}

/// A node of a decision tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Branch {
    /// Reads something and goes on as it turned out.
    Read {
        /// What is read.
        test: Test,
        /// What comes then. One of them always applies, so that the last needs no test.
        outcomes: Vec<Outcome>,
    },
    /// Carries out these writes, all at once, and goes to the next state.
    Act {
        /// The writes.
        effects: Vec<Effect>,
        /// The next state.
        next: u8,
    },
}

/// Something a tree reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// A field of the controller.
    Control {
        /// Which.
        control: u8,
    },
    /// A register, into a slot.
    Register {
        /// Which.
        register: u8,
        /// The slot it fills.
        slot: u8,
    },
    /// A pointer field of the node in a slot, into another slot.
    Pointer {
        /// The slot of the node.
        from: u8,
        /// The field.
        field: u8,
        /// The slot it fills.
        slot: u8,
    },
    /// A bit of the node in a slot.
    Bit {
        /// The slot of the node.
        slot: u8,
        /// The bit.
        bit: u8,
    },
    /// Whether the key of one node is less than that of another.
    Less {
        /// The slot of the one.
        a: u8,
        /// The slot of the other.
        b: u8,
    },
}

/// One of the ways a read can turn out, or several with the same consequences.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Outcome {
    /// What was found.
    pub found: Vec<Found>,
    /// What comes then.
    pub then: Branch,
}

/// What a read found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// A pointer to the node that this slot holds.
    Same(u8),
    /// A pointer to nowhere.
    Nil,
    /// A pointer to a node that no slot holds yet.
    New,
    /// A bit or a comparison.
    Truth(bool),
    /// A value of a field of the controller.
    Value(u8),
}

/// A write, in terms of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// A pointer field of the node in a slot.
    Pointer {
        /// The slot of the node.
        slot: u8,
        /// The field.
        field: u8,
        /// The slot of what is written; nil if none.
        to: Option<u8>,
    },
    /// A bit of the node in a slot is toggled.
    Toggle {
        /// The slot of the node.
        slot: u8,
        /// The bit.
        bit: u8,
    },
    /// A register.
    Register {
        /// Which.
        register: u8,
        /// The slot of what is written; nil if none.
        to: Option<u8>,
    },
    /// A field of the controller.
    Control {
        /// Which.
        control: u8,
        /// What is written.
        value: u8,
    },
    /// The node in a slot is marked.
    Mark {
        /// The slot of the node.
        slot: u8,
        /// The mark; 0 is `visit`.
        mark: u8,
    },
}

impl Tree {
    /// How many leaves there are.
    pub fn leaves(&self) -> usize {
        self.states.iter().flatten().map(Branch::leaves).sum()
    }

    /// The most reads on the way to a leaf.
    pub fn depth(&self) -> usize {
        self.states.iter().flatten().map(Branch::depth).max().unwrap_or(0)
    }
}

impl Branch {
    /// How many leaves are below.
    pub fn leaves(&self) -> usize {
        match self {
            Branch::Read { outcomes, .. } => outcomes.iter().map(|o| o.then.leaves()).sum(),
            Branch::Act { .. } => 1,
        }
    }

    /// The most reads on the way to a leaf.
    pub fn depth(&self) -> usize {
        match self {
            Branch::Read { outcomes, .. } => {
                1 + outcomes.iter().map(|o| o.then.depth()).max().unwrap_or(0)
            }
            Branch::Act { .. } => 0,
        }
    }

    /// Whether what is in a slot is looked at below.
    pub(crate) fn uses(&self, wanted: u8) -> bool {
        match self {
            Branch::Read { test, outcomes } => {
                let tested = match *test {
                    Test::Control { .. } | Test::Register { .. } => false,
                    Test::Pointer { from, .. } => from == wanted,
                    Test::Bit { slot, .. } => slot == wanted,
                    Test::Less { a, b } => a == wanted || b == wanted,
                };
                // A lone outcome is not tested for.
                tested
                    || outcomes.iter().any(|outcome| {
                        outcomes.len() > 1 && outcome.found.contains(&Found::Same(wanted))
                            || outcome.then.uses(wanted)
                    })
            }
            Branch::Act { effects, .. } => effects.iter().any(|effect| match *effect {
                Effect::Pointer { slot, to, .. } => slot == wanted || to == Some(wanted),
                Effect::Toggle { slot, .. } | Effect::Mark { slot, .. } => slot == wanted,
                Effect::Register { to, .. } => to == Some(wanted),
                Effect::Control { .. } => false,
            }),
        }
    }

    /// The same with another slot, or nil, in the place of a slot that is only written; `None`
    /// if more is done with it.
    pub(crate) fn with(&self, slot: u8, other: Option<u8>) -> Option<Branch> {
        let Branch::Act { effects, next } = self else {
            // Reads below would have to be compared outcome by outcome.
            return (!self.uses(slot)).then(|| self.clone());
        };
        let replaced = |to: Option<u8>| if to == Some(slot) { other } else { to };
        let mut effects = effects
            .iter()
            .map(|&effect| {
                Some(match effect {
                    Effect::Pointer { slot: node, field, to } if node != slot => {
                        Effect::Pointer { slot: node, field, to: replaced(to) }
                    }
                    Effect::Register { register, to } => {
                        Effect::Register { register, to: replaced(to) }
                    }
                    Effect::Toggle { slot: node, .. } | Effect::Mark { slot: node, .. }
                        if node != slot =>
                    {
                        effect
                    }
                    Effect::Control { .. } => effect,
                    _ => return None,
                })
            })
            .collect::<Option<Vec<_>>>()?;
        effects.sort_unstable();
        Some(Branch::Act { effects, next: *next })
    }
}
