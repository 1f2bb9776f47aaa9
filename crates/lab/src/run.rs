//! A run directory: who may write in it, and what state it is in.

use std::{
    collections::BTreeMap,
    fs::{File, TryLockError},
    path::{Path, PathBuf},
};

use pgn_engine::{Model, Parameters};
use serde::{Deserialize, Serialize};

use crate::{Error, Result, RunConfig, Scores, TestScores, files};

/// A run directory that this process alone may write in.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    // Dropping the file gives the lock back, and so does the death of the process.
    _lock: File,
}

impl RunDir {
    /// Makes the directory if need be and locks it.
    ///
    /// Refuses a directory another process is training in.
    pub fn claim(path: &Path) -> Result<RunDir> {
        files::make_dir(path)?;
        let lock_path = path.join(files::LOCK);
        let lock = File::create(&lock_path).map_err(Error::io("write", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {
                remove_leftovers(path);
                Ok(RunDir { path: path.to_owned(), _lock: lock })
            }
            Err(TryLockError::WouldBlock) => Err(Error::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => Err(Error::io("lock", &lock_path)(error)),
        }
    }

    /// Whether some process, this one included, trains in the directory.
    pub fn is_claimed(path: &Path) -> bool {
        let lock = File::open(path.join(files::LOCK));
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
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
            files::write(&path, text.as_bytes())?;
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

/// Removes the temporary files of a process that was killed while it wrote. Only the holder of
/// the lock writes here, so none of them is in use; what cannot be removed does no harm.
fn remove_leftovers(path: &Path) {
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with('.') && name.ends_with(".tmp")) {
            let _ = std::fs::remove_file(entry.path());
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
