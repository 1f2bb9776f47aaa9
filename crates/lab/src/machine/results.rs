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

/// How a network does on some views.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Judged {
    /// On how many the action is right.
    pub right: usize,
    /// The smallest margin.
    pub margin: f32,
    /// The places of those that are wrong or not clear: see [`CLEAR`].
    pub hard: Vec<u32>,
}

/// The margin from which on a decision is taken to be learned.
const CLEAR: f32 = 1.0;

pub(super) fn judge(net: &MachineNet, pairs: &[(View, Action)]) -> Result<Judged> {
    let views: Vec<&View> = pairs.iter().map(|(view, _)| view).collect();
    let mut judged = Judged { margin: f32::INFINITY, ..Judged::default() };
    for (place, prediction) in net.predictions(&views)?.into_iter().enumerate() {
        let right = prediction.action == pairs[place].1;
        judged.right += usize::from(right);
        judged.margin = judged.margin.min(prediction.margin);
        if !right || prediction.margin < CLEAR {
            judged.hard.push(place as u32);
        }
    }
    Ok(judged)
}
