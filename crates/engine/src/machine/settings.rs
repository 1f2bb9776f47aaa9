//! The choices of a network over views.

use serde::{Deserialize, Serialize};

use crate::Error;

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
        let refuse = |trouble: String| Err(Error::InvalidConfig(trouble));
        let MachineSettings { k, rounds, cap } = *self;
        if k == 0 || !k.is_multiple_of(8) || k > 1024 {
            return refuse(format!("k is {k}; expected a multiple of 8 from 8 to 1024"));
        }
        if rounds == 0 || rounds > 64 {
            return refuse(format!("rounds is {rounds}; expected 1 to 64"));
        }
        if !(cap.is_finite() && cap > 0.0) {
            return refuse(format!("cap is {cap}; expected a finite number above 0"));
        }
        Ok(())
    }
}
