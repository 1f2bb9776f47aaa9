//! A run directory: who may write in it, and what state it is in.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use pgn_engine::{Model, Parameters};
use serde::{Deserialize, Serialize};

use crate::{Error, Lease, Result, RunConfig, Scores, TestScores, files, lease_time};

/// A run directory that this process alone may write in.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    lease: Lease,
}

impl RunDir {
    /// Makes the directory if need be and takes its lease.
    ///
    /// Refuses a directory another process is training in. The lease lasts as long as
    /// [`lease_time`] says without a heartbeat.
    pub fn claim(path: &Path) -> Result<RunDir> {
        Ok(RunDir { path: path.to_owned(), lease: Lease::take(path, lease_time()?)? })
    }

    /// Whether some process, this one included, trains in the directory.
    pub fn is_claimed(path: &Path) -> bool {
        Lease::is_held(path)
    }

    /// [`Error::Lost`] if the directory was removed or taken over. To be asked before every piece
    /// of work.
    pub fn check(&self) -> Result<()> {
        Ok(self.lease.check()?)
    }

    /// Lets `write` make a file at a path it is given, and puts that in place as `name`, unless the
    /// directory is no longer this process's: see [`Lease::place`].
    pub fn place<T>(&self, name: &str, write: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        self.lease.place(name, write)
    }

    /// Writes a file whole or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.place(name, |path| files::write(path, bytes))
    }

    /// Opens a file to append to. It is a copy in the old one's place, so that what an earlier
    /// process still has open is no longer part of the run.
    pub fn reopen<T>(&self, name: &str, open: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        self.place(name, |path| {
            let old = self.file(name);
            match std::fs::copy(&old, path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("read", &old)(error));
                }
                _ => {}
            }
            open(path)
        })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of one of its files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes `config.toml`, or refuses a directory that holds another run. Returns the text
    /// that is in the file. The teacher it names is the copy that the run keeps, so that the file
    /// is the same wherever the original lies.
    pub fn settle_config(&self, config: &RunConfig) -> Result<String> {
        let path = self.file(files::CONFIG);
        if !path.exists() {
            let mut config = config.clone();
            if let Some(teacher) = &mut config.data.teacher {
                *teacher = files::TEACHER.into();
            }
            let text = config.to_toml();
            self.write(files::CONFIG, text.as_bytes())?;
            return Ok(text);
        }
        let there = RunConfig::load(&path)?;
        match config.difference(&there) {
            None => files::read_text(&path),
            Some((key, here, there)) => Err(Error::Request(format!(
                "{} holds another run ({key} is {there} there and {here} here): choose another \
                 directory",
                self.path.display()
            ))),
        }
    }
}

/// `results.json`: what a finished run scored.
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

/// The config and the model of a run, for evaluation and rollouts.
pub fn load_run(run: &Path) -> Result<(RunConfig, Model)> {
    let config = RunConfig::load(&run.join(files::CONFIG))?;
    let path = run.join(files::MODEL);
    if !path.exists() {
        let how = if run.join(files::CHECKPOINT).exists() {
            "its run is not finished: start the same `pgn train` again to go on"
        } else {
            "there is no trained model here"
        };
        return Err(Error::file(&path, how));
    }
    let parameters = Parameters::load(&config.network, &path)?;
    let model = Model::from_parameters(config.network.clone(), parameters)?;
    Ok((config, model))
}
