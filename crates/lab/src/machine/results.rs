//! `results.json` of a machine run.

use pgn_engine::MachineNet;
use pgn_machines::{Action, View};
use serde::{Deserialize, Serialize};

use crate::{Result, Results};

/// What a finished machine run scored: what every run has, and the views.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineResults {
    /// As of every run. One epoch is one step of Adam.
    #[serde(flatten)]
    pub results: Results,
    /// What it was supervised on, where the paper's models have operations.
    pub supervision: String,
    /// How many views there are, and on how many it is right.
    pub views: ViewCounts,
}

/// How many views there are, and on how many the network's action is the program's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ViewCounts {
    /// Different views met in the training traces.
    pub met: usize,
    /// Views that are consistent with the program's invariants, and on which it is defined.
    pub consistent: usize,
    /// Different views trained on.
    pub trained_on: usize,
    /// Met views on which the action is right.
    pub met_right: usize,
    /// Consistent views on which the action is right.
    pub consistent_right: usize,
    /// The smallest lead of a decision over its runner-up, over all consistent views.
    pub margin: f32,
}

impl ViewCounts {
    /// Whether it is right on every consistent view.
    pub fn all_right(&self) -> bool {
        self.consistent_right == self.consistent
    }
}

/// On how many of these views the action is right, and the smallest margin.
pub(super) fn count_right(net: &MachineNet, pairs: &[(View, Action)]) -> Result<(usize, f32)> {
    let views: Vec<&View> = pairs.iter().map(|(view, _)| view).collect();
    let predictions = net.predictions(&views)?;
    let right = predictions.iter().zip(pairs).filter(|(p, pair)| p.action == pair.1).count();
    let margins = predictions.iter().map(|prediction| prediction.margin);
    Ok((right, margins.fold(f32::INFINITY, f32::min)))
}
