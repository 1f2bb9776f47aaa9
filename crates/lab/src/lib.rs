//! Experiments with learned data structures: train models, evaluate them, look at what they do.
//!
//! | if you want … | look at |
//! | --- | --- |
//! | to train | [`RunConfig`], [`MachineConfig`], [`train`] |
//! | to know what is in a run directory | [`pgn_runs::files`], [`Results`] |
//! | to use a trained model | [`Run`], or [`AnyRun`] where it may be a machine |
//! | scores | [`Scores`], [`evaluate`] |
//! | scores of a model of your own, in any framework | [`evaluate::score_predictions`] |
//! | what a score is worth | [`Counting`] |
//! | what a model did step by step | [`story`], [`rollouts`] |
//! | credit, and what its pointers look like | [`analysis`] |
//! | learned machines and their certificates | [`machine`] |
//! | many runs | [`Experiments`] in the queues of [`pgn_runs`], [`collection`] |
//!
//! `examples/experiment.rs` trains a run and scores it. The paper's numbers and tables are in
//! `pgn-paper`.
//!
//! Nothing in here prints or handles signals: a callback reports progress, and the caller stops a
//! run by setting a flag.

pub mod analysis;
mod batches;
mod checkpoint;
pub mod collection;
mod config;
mod counting;
mod data;
mod data_config;
mod error;
pub mod evaluate;
mod examples;
mod experiments;
mod learner;
mod limits;
pub mod machine;
pub mod metrics;
mod results;
pub mod rollouts;
mod run;
mod schedule;
mod scores;
pub mod story;
mod streams;
mod teacher;
mod train;
pub mod verify;

pub use checkpoint::Checkpoint;
pub use config::{AnyConfig, ConfigOf, MachineConfig, RunConfig, located, read_settings};
pub use counting::Counting;
pub use data::Data;
use data_config::{DataConfig, TestConfig, Transitions};
pub use error::{Error, Result};
pub use examples::Examples;
pub use experiments::{Experiments, Queue};
pub use learner::{Best, Evaluation, LearnerState};
pub use limits::{MAX_THREADS, check_memory};
use results::ViewCounts;
pub use results::{Results, Timing};
pub use run::{AnyRun, Run, TestSets, check_class, note_class};
pub use schedule::Decay;
pub use scores::{Scores, TestScores, TrivialRules};
pub use teacher::Teacher;
pub use train::{Outcome, Progress, Session, end, train};
