//! `results.json`: what a finished run scored.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use pgn_runs::{
    checksums::{self, Checksums},
    files,
};

use crate::{Result, Scores, TestScores};

/// The file `results.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The data structure.
    pub task: String,
    /// The preset.
    pub model: String,
    /// The seed.
    pub seed: u64,
    /// Epochs that were asked for.
    pub epochs: u64,
    /// Epochs trained, where patience ended the run earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_at: Option<u64>,
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
    /// Of a machine: what it was supervised on, where the paper's models have operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supervision: Option<String>,
    /// Of a machine: how many views there are, and on how many it is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub views: Option<ViewCounts>,
    /// How long it took: the only part of a run that is not the same every time.
    pub timing: Timing,
    /// The version of this program.
    pub version: String,
    /// The checksum of each file that the run had when it ended.
    #[serde(default, skip_serializing_if = "Checksums::is_empty")]
    pub files: Checksums,
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

/// The file `diverged.json`: a run that has no results.
#[derive(Serialize, Deserialize)]
pub(crate) struct Diverged {
    pub why: String,
    /// Of the model that is left.
    pub epoch: u64,
    pub files: Checksums,
}

/// Refuses a model of a run directory if it is not the one that the run wrote.
pub(crate) fn check_model(run: &Path, name: &str) -> Result<()> {
    let path = run.join(files::DIVERGED);
    if files::is_finished(run) {
        Results::load(run)?.check_file(run, name)
    } else if path.exists() {
        let Diverged { files: noted, .. } = files::read_json(&path)?;
        Ok(checksums::check(&noted, run, name)?)
    } else {
        Ok(())
    }
}

/// The files that a run may hold when it ends, beside its results. Event files and checkpoints have
/// checksums inside; they also hold times, so that those of two equal runs differ.
pub(crate) const FILES: [&str; 6] = [
    files::CONFIG,
    files::MODEL,
    files::METRICS,
    files::INITIAL,
    "teacher/config.toml",
    "teacher/model.safetensors",
];

impl Results {
    /// Reads the `results.json` of a run directory. It must be intact, and belong to the
    /// `config.toml` beside it.
    pub fn load(run: &Path) -> Result<Results> {
        let results: Results = files::read_json(&run.join(files::RESULTS))?;
        results.check_file(run, files::CONFIG)?;
        Ok(results)
    }

    /// Writes `results.json` to a directory that nobody trains in.
    pub fn save(&self, run: &Path) -> Result<()> {
        let path = run.join(files::RESULTS);
        Ok(files::write(&path, &files::sealed_json(&path, self)?)?)
    }

    /// Refuses a run directory in which a file is not the one that these results were written
    /// with. Missing files are accepted, and so are results of versions that wrote no checksums.
    pub fn check_files(&self, run: &Path) -> Result<()> {
        self.files.keys().try_for_each(|name| self.check_file(run, name))
    }

    /// [`Results::check_files`] for one file, by its name in the run directory.
    pub(crate) fn check_file(&self, run: &Path, name: &str) -> Result<()> {
        Ok(checksums::check(&self.files, run, name)?)
    }

    /// Records the checksum of a file that was changed on purpose.
    pub fn note_file(&mut self, run: &Path, name: &str) -> Result<()> {
        self.files.insert(name.to_owned(), checksums::of_file(&run.join(name))?);
        Ok(())
    }

    /// The scores on the test set of `nodes` nodes.
    pub fn at(&self, nodes: usize) -> Option<&Scores> {
        self.test.iter().find(|test| test.nodes == nodes).map(|test| &test.scores)
    }
}
