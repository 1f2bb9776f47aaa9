//! `results.json`: what a finished run scored.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use crate::{Result, Scores, TestScores, files};

/// The file `results.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The data structure.
    pub task: String,
    /// The preset.
    pub model: String,
    /// The seed.
    pub seed: u64,
    /// Epochs trained.
    pub epochs: u64,
    /// The epoch that early stopping chose; 0 is the initial model.
    pub best_epoch: u64,
    /// Number of weights.
    pub parameters: usize,
    /// Settings that differ from the defaults, by key.
    #[serde(default)]
    pub departures: BTreeMap<String, String>,
    /// The chosen model on the validation set.
    pub validation: Scores,
    /// The chosen model on each test set.
    pub test: Vec<TestScores>,
    /// How long it took: the only part of a run that is not the same every time.
    pub timing: Timing,
    /// The version of this program.
    pub version: String,
}

/// How long a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Seconds of training and validation, over all sessions.
    pub train_seconds: f64,
    /// Epochs per second, validation included.
    pub epochs_per_second: f64,
    /// Seconds of the final test.
    pub test_seconds: f64,
    /// Threads used by the last session.
    pub threads: usize,
}

impl Results {
    /// Reads the `results.json` of a run directory.
    pub fn load(run: &Path) -> Result<Results> {
        files::read_json(&run.join(files::RESULTS))
    }

    /// The scores on the test set of `nodes` nodes.
    pub fn at(&self, nodes: usize) -> Option<&Scores> {
        self.test.iter().find(|test| test.nodes == nodes).map(|test| &test.scores)
    }
}

/// Whether the run in a directory is finished: its `results.json`, written last, is there.
pub fn is_finished(run: &Path) -> bool {
    run.join(files::RESULTS).is_file()
}
