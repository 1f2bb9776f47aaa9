//! Experiments with learned data structures: train a model, evaluate it, reproduce the paper.
//!
//! | if you want … | look at |
//! | --- | --- |
//! | to train | [`RunConfig`], [`train`] |
//! | to know what is in a run directory | [`files`], [`Results`], [`load_run`] |
//! | scores | [`evaluate`], [`Scores`] |
//! | what a score is worth | [`Counting`] |
//! | what a model did step by step | [`story`], [`write_rollouts`] |
//! | credit, and what its pointers look like | [`analysis`] |
//! | many runs | [`Grid`], [`work`] |
//! | the paper's tables and claims | [`Collection`], [`tables`], [`claims`], [`paper`] |
//!
//! Nothing in here prints or handles signals; the caller is told of progress by a callback and
//! stops a run by setting a flag.

pub mod analysis;
mod batches;
mod best;
mod checkpoint;
mod claims;
mod collection;
mod config;
#[cfg(test)]
mod config_tests;
mod counting;
mod data;
mod error;
mod evaluate;
mod events;
mod export;
pub mod files;
mod grid;
mod metrics;
mod paper;
mod queue;
mod rollout_file;
mod run;
mod schedule;
mod scores;
mod stop;
mod story;
mod stream;
pub mod tables;
mod teacher;
mod train;
mod verify;

pub use best::Best;
pub use checkpoint::Checkpoint;
pub use claims::{Check, Claim, claims};
pub use collection::{Collection, RUNS, Spread, find_runs};
pub use config::{DataConfig, RunConfig, TestConfig, Transitions, overlay};
pub use counting::Counting;
pub use data::Data;
pub use error::{Error, Result};
pub use evaluate::{evaluate, evaluate_sequences, evaluate_set};
pub use events::{Event, EventFile, read_events};
pub use export::{TABLES, export, write_tables};
pub use grid::{Entry, Grid, Selection, State};
pub use metrics::{EpochLosses, Metrics, MetricsFile, read_metrics};
pub use paper::{Paper, paper};
pub use queue::{Event as QueueEvent, Summary, Work, work};
pub use rollout_file::{RolloutArrays, RolloutOf, write_rollouts};
pub use run::{Results, RunDir, Timing, is_finished, load_run};
pub use schedule::Decay;
pub use scores::{Execution, Scores, Tally, TestScores};
pub use stop::Stop;
pub use story::{Move, Step, Wrong, story};
pub use stream::{evaluate_stream, evaluate_streams};
pub use teacher::Teacher;
pub use train::{Outcome, Progress, Session, train};
pub use verify::{Failure, Shape, Verdict, verify_all, verify_shape};
