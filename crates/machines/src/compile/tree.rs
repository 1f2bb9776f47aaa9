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
        outcomes: Vec<Arm>,
    },
    /// Carries out these writes, all at once, and goes to the next state.
    Act {
        /// The writes.
        effects: Vec<Effect>,
        /// The next state.
        next: u8,
    },
    /// A view that is not in the table: only in trees that check for it.
    Outside,
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
pub struct Arm {
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

    /// Whether it tells views that are in the table from all others.
    pub fn is_checked(&self) -> bool {
        self.states.iter().flatten().any(Branch::is_checked)
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
            Branch::Outside => 0,
        }
    }

    fn is_checked(&self) -> bool {
        match self {
            Branch::Read { outcomes, .. } => outcomes.iter().any(|o| o.then.is_checked()),
            Branch::Act { .. } => false,
            Branch::Outside => true,
        }
    }

    /// The most reads on the way to a leaf.
    pub fn depth(&self) -> usize {
        match self {
            Branch::Read { outcomes, .. } => {
                1 + outcomes.iter().map(|o| o.then.depth()).max().unwrap_or(0)
            }
            Branch::Act { .. } | Branch::Outside => 0,
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
            Branch::Outside => false,
        }
    }

    /// Whether this tree, made for the case that a slot holds a new node, does what `special`
    /// does where the slot holds the same as another slot, or nil.
    pub(crate) fn covers(&self, special: &Branch, slot: u8, other: Option<u8>) -> bool {
        let renamed = |named: u8| if named == slot { other } else { Some(named) };
        let (test, outcomes) = match (self, special) {
            (Branch::Act { .. }, Branch::Read { outcomes, .. }) => {
                return outcomes.iter().all(|outcome| self.covers(&outcome.then, slot, other));
            }
            (Branch::Act { effects, next }, Branch::Act { effects: wanted, next: then }) => {
                let effects: Option<Vec<Effect>> =
                    effects.iter().map(|effect| effect.renamed(&renamed)).collect();
                let sorted = effects.map(|mut effects| {
                    effects.sort_unstable();
                    effects
                });
                return next == then && sorted.as_ref() == Some(wanted);
            }
            (Branch::Read { .. }, Branch::Act { .. }) => return false,
            // Trees that check are not generalised.
            (Branch::Outside, _) | (_, Branch::Outside) => return false,
            (Branch::Read { test, outcomes }, Branch::Read { .. }) => (test, outcomes),
        };
        let Branch::Read { test: wanted, outcomes: special } = special else { return false };
        if test.renamed(&renamed) != Some(*wanted) {
            return false;
        }
        // A test for the slot would take one nil for another.
        let tested = outcomes.iter().any(|outcome| outcome.found.contains(&Found::Same(slot)));
        if other.is_none() && tested {
            return false;
        }
        special.iter().all(|outcome| {
            outcome.found.iter().all(|&found| {
                let alike = |&mine: &Found| match mine {
                    Found::Same(named) => renamed(named).map(Found::Same) == Some(found),
                    _ => mine == found,
                };
                let mut taken =
                    outcomes.iter().filter(|mine| mine.found.iter().any(alike)).peekable();
                taken.peek().is_some()
                    && taken.all(|mine| mine.then.covers(&outcome.then, slot, other))
            })
        })
    }
}

impl Test {
    /// The test with other slots to start from; `None` if one of them is nil.
    fn renamed(self, renamed: &impl Fn(u8) -> Option<u8>) -> Option<Test> {
        Some(match self {
            Test::Control { .. } | Test::Register { .. } => self,
            Test::Pointer { from, field, slot } => {
                Test::Pointer { from: renamed(from)?, field, slot }
            }
            Test::Bit { slot, bit } => Test::Bit { slot: renamed(slot)?, bit },
            Test::Less { a, b } => Test::Less { a: renamed(a)?, b: renamed(b)? },
        })
    }
}

impl Effect {
    /// The effect on other slots; `None` if it would write to nil.
    fn renamed(self, renamed: &impl Fn(u8) -> Option<u8>) -> Option<Effect> {
        Some(match self {
            Effect::Pointer { slot, field, to } => {
                Effect::Pointer { slot: renamed(slot)?, field, to: to.and_then(renamed) }
            }
            Effect::Toggle { slot, bit } => Effect::Toggle { slot: renamed(slot)?, bit },
            Effect::Register { register, to } => {
                Effect::Register { register, to: to.and_then(renamed) }
            }
            Effect::Control { .. } => self,
            Effect::Mark { slot, mark } => Effect::Mark { slot: renamed(slot)?, mark },
        })
    }
}
