//! What can be trained: a learner takes steps, is evaluated, and can be stopped and resumed.
//!
//! | file | who learns |
//! | --- | --- |
//! | `model.rs` | the paper's models and `pgn-exact`, from sequences or transitions |
//! | `machine.rs` | `pgn-machine`, from views and actions of a program |
//!
//! The loop around them is [`train`](crate::train()): there is one.

mod best;
mod machine;
mod model;

use std::{fmt::Debug, path::PathBuf};

use pgn_engine::{Parameters, TrainerOptions, TrainerState};
use pgn_structures::Task;
use serde::{Serialize, de::DeserializeOwned};

use pgn_runs::Stop;

use crate::{ConfigOf, Result, Scores, TestScores, ViewCounts, metrics::EpochLosses};

pub use best::{Best, Evaluation, ViewsRight};

/// The `[network]` table of a config: which kind of network learns, and how.
pub trait Network: Clone + Debug + PartialEq + Serialize + DeserializeOwned {
    /// The model that is meant where none is named.
    const MODEL: &'static str;

    /// The network of a model by its name.
    fn preset(model: &str) -> Result<Self>;

    /// Changes the paper's protocol into the defaults of this network.
    fn adjust_defaults(config: &mut ConfigOf<Self>);

    /// Takes from a task what defaults depend on. `None` is the built-in one that the config names.
    fn adapt(config: &mut ConfigOf<Self>, task: Option<&Task>) -> Result<()>;

    /// Fills in what follows from the user's settings. `data` says whether they have `data.nodes`,
    /// `data.ops` and `data.sequences`, `batch` whether they have that.
    fn settle(
        config: &mut ConfigOf<Self>,
        task: Option<&Task>,
        data: [bool; 3],
        batch: bool,
    ) -> Result<()>;

    /// Whether the values that are this network's alone make sense.
    fn validate(config: &ConfigOf<Self>) -> Result<()>;

    /// Refuses what certainly does not fit in memory.
    fn check_memory(config: &ConfigOf<Self>) -> Result<()>;

    /// Ready for the first epoch, with `initial` as its weights or random ones. Writes nothing.
    fn learner<'a>(
        config: &'a ConfigOf<Self>,
        task: Option<Task>,
        initial: Option<&Initial>,
    ) -> Result<Box<dyn Learner + 'a>>;
}

/// The file of weights that a run begins with.
#[derive(Debug)]
pub struct Initial {
    /// What errors call it.
    pub path: PathBuf,
    /// All of it.
    pub bytes: Vec<u8>,
}

/// Something that is trained.
pub trait Learner {
    /// Tensors like its weights, whatever their values.
    fn shape(&self) -> Parameters;

    /// Goes on from where an earlier session was.
    fn resume(&mut self, state: LearnerState) -> Result<()>;

    /// What [`Learner::resume`] needs.
    fn state(&self) -> LearnerState;

    /// The weights.
    fn parameters(&self) -> &Parameters;

    /// One epoch, counted from 1. Returns mean losses, each before the step it is of.
    fn epoch(&mut self, epoch: u64, learning_rate: f32) -> Result<EpochLosses>;

    /// How good it is now.
    fn evaluate(&mut self) -> Result<Evaluation>;

    /// Whether what was found now is to be kept instead of the best so far.
    fn improves(&self, now: &Evaluation, best: &Evaluation) -> bool;

    /// The final scores of the chosen weights.
    fn test(&self, best: &Best, stop: Stop<'_>) -> Result<Tested>;
}

/// Where a learner is.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnerState {
    /// Weights, moments, steps and running accuracy.
    pub trainer: TrainerState,
    /// Of a machine: the training views that are repeated, as of the last evaluation.
    pub hard: Vec<u32>,
    /// Of a machine: views taken from its passes over the training set so far.
    pub taken: u64,
}

/// What a learner scored in the end.
pub struct Tested {
    /// On the validation set.
    pub validation: Scores,
    /// On each test set.
    pub test: Vec<TestScores>,
    /// Of a machine: what it was supervised on, and on how many views it is right.
    pub views: Option<(String, ViewCounts)>,
}

/// What changes from epoch to epoch is set anew in every one.
fn options<N>(config: &ConfigOf<N>) -> TrainerOptions {
    TrainerOptions {
        learning_rate: config.learning_rate as f32,
        clip: (config.clip > 0.0).then_some(config.clip as f32),
        seed: config.seed,
        teacher_probability: 0.0,
    }
}
