//! The choices of a network over views.

use serde::{Deserialize, Serialize};

use crate::{Error, error::require};

/// The choices of a [`MachineNet`](crate::MachineNet); the default is what is trained and
/// certified.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MachineSettings {
    /// Latent features of a node; a multiple of 8.
    pub k: usize,
    /// Rounds of messages.
    pub rounds: usize,
    /// Where ReLUs are cut off.
    pub cap: f32,
}

impl Default for MachineSettings {
    fn default() -> Self {
        MachineSettings { k: 32, rounds: 4, cap: 6.0 }
    }
}

impl MachineSettings {
    /// Refuses what the engine cannot compute with.
    pub fn check(&self) -> Result<(), Error> {
        let MachineSettings { k, rounds, cap } = *self;
        let what = format!("k is {k}; expected a multiple of 8 from 8 to 1024");
        require((8..=1024).contains(&k) && k.is_multiple_of(8), "k", what)?;
        let what = format!("rounds is {rounds}; expected 1 to 64");
        require((1..=64).contains(&rounds), "rounds", what)?;
        let what = format!("cap is {cap}; expected a finite number above 0");
        require(cap.is_finite() && cap > 0.0, "cap", what)
    }
}
