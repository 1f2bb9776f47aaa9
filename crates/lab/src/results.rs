//! `results.json`: what a finished run scored.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use crate::{Checksums, Result, Scores, TestScores, files};

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
    /// The sets of instructions that it was trained with, in their order: one, unless a session
    /// ran on a machine that has another. The same bits are promised for one of them only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arithmetic: Vec<String>,
    /// The checksum of each file that the run had when it ended.
    #[serde(default, skip_serializing_if = "Checksums::is_empty")]
    pub files: Checksums,
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
    /// Reads the `results.json` of a run directory. It must be intact, and belong to the
    /// `config.toml` beside it.
    pub fn load(run: &Path) -> Result<Results> {
        let results: Results = files::read_json(&run.join(files::RESULTS))?;
        results.check_file(run, files::CONFIG)?;
        Ok(results)
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
