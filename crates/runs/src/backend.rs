//! What queues need from whoever knows how to train.

use std::{path::Path, sync::atomic::AtomicBool, time::Duration};

use toml::Table;

use crate::RunError;

/// How the runs of a queue are checked and trained. This crate knows no network; `pgn-lab` has the
/// implementation for learned structures.
pub trait Backend: Sync {
    /// All that determines a run.
    type Config;
    /// Where a run stands after an epoch.
    type Progress;
    /// What a finished run scored.
    type Results;
    /// What can go wrong.
    type Error: RunError;

    /// The model whose pointers a model is given, if it learns from another.
    fn teacher_of(&self, model: &str) -> Option<&'static str>;

    /// Checks a user's settings and fills in defaults.
    fn resolve(&self, settings: Table) -> Result<Self::Config, Self::Error>;

    /// Epochs where the settings do not say.
    fn default_epochs(&self, task: &str, model: &str) -> Result<u64, Self::Error>;

    /// Epochs that the checkpoint in a run directory has behind it.
    fn epochs_done(&self, run: &Path) -> Option<u64>;

    /// Whether the run in a directory has this config.
    fn is_of(&self, config: &Self::Config, run: &Path) -> bool;

    /// Trains in a directory, or resumes what an earlier session left there.
    fn train(
        &self,
        config: &Self::Config,
        run: &Path,
        checkpoint_every: Duration,
        stop: &AtomicBool,
        observe: &mut (dyn FnMut(&Self::Progress) + Send),
    ) -> Result<Outcome<Self::Results>, Self::Error>;
}

/// How a session of training ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<R> {
    /// The run is finished.
    Finished(R),
    /// It had been finished before; nothing was done.
    AlreadyFinished(R),
    /// It was told to stop, and stopped after this epoch, with a checkpoint.
    Stopped {
        /// Epochs done.
        epoch: u64,
    },
}
