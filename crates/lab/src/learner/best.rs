//! The best weights so far, and what they were found to be worth.

use pgn_engine::Parameters;
use serde::{Deserialize, Serialize};

use crate::Scores;

/// The weights that are kept of the evaluated epochs.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The epoch, counted from 1; 0 is the initial model.
    pub epoch: u64,
    /// The first epoch with this score, from which patience counts. Of equal weights, later ones may
    /// be kept.
    pub reached: u64,
    /// How good they were.
    pub evaluation: Evaluation,
    /// The weights.
    pub parameters: Parameters,
}

/// How good a learner is after an epoch: one of the two.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Of a model: scores on the validation set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Scores>,
    /// Of a machine: training views.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub views: Option<ViewsRight>,
}

/// On how many of its training views a machine's action is the program's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ViewsRight {
    /// Views with the right action.
    pub right: usize,
    /// All of them.
    pub of: usize,
    /// The smallest lead of a decision over its runner-up.
    pub margin: f32,
}

impl Evaluation {
    /// What is to be as large as possible: validation F₁, or the share of views that are right.
    pub fn score(&self) -> f64 {
        let views = self.views.map(|views| views.right as f64 / views.of.max(1) as f64);
        self.validation.as_ref().map(|scores| scores.f1).or(views).unwrap_or(0.0)
    }
}

impl std::fmt::Display for Evaluation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.validation, &self.views) {
            (Some(scores), _) => write!(f, "F1 {:.3}", scores.f1),
            (None, Some(views)) => write!(f, "{} of {} views right", views.right, views.of),
            (None, None) => Ok(()),
        }
    }
}
