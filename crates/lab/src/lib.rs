//! Experiments with learned data structures: train models, evaluate them, look at what they do.
//!
//! | if you want … | look at |
//! | --- | --- |
//! | to train | [`RunConfig`], [`MachineConfig`], [`train`] |
//! | to train something new | [`Network`], [`Learner`] |
//! | to know what is in a run directory | [`files`], [`Results`] |
//! | to use a trained model | [`Run`], or [`AnyRun`] where it may be a machine |
//! | scores | [`Scores`], [`evaluate`] |
//! | scores of a model of your own, in any framework | [`score_predictions`], [`Prediction`] |
//! | what a score is worth | [`Counting`] |
//! | what a model did step by step | [`story`], [`write_rollouts`] |
//! | credit, and what its pointers look like | [`analysis`] |
//! | learned machines and their certificates | [`machine`] |
//! | many runs | [`Sweep`], [`Queue`], [`work()`](work), [`Collection`] |
//! | who may write in a run directory | [`Lease`] |
//!
//! `examples/experiment.rs` trains a run and scores it. The paper's numbers and tables are in
//! `pgn-paper`.
//!
//! Nothing in here prints or handles signals: a callback reports progress, and the caller stops a
//! run by setting a flag.

pub mod analysis;
mod batches;
mod best;
mod checkpoint;
mod checksums;
mod collection;
mod config;
#[cfg(test)]
mod config_tests;
mod counting;
mod data;
mod data_config;
mod error;
mod estimate;
mod evaluate;
mod events;
mod examples;
pub mod files;
mod format;
mod group;
pub mod indices;
mod json_checksum;
mod learner;
mod lease;
mod limits;
pub mod machine;
mod metrics;
mod prediction;
mod queue;
mod results;
mod rollout_file;
mod rollouts;
mod run;
mod run_dir;
mod schedule;
mod scores;
mod settings;
mod stop;
mod story;
mod stream;
mod streams;
mod sweep;
mod sweep_tables;
mod table;
mod teacher;
mod test;
mod train;
mod verify;
mod work;

pub use best::{Best, Evaluation, ViewsRight};
pub use checkpoint::Checkpoint;
pub use checksums::Checksums;
pub use collection::{Collection, RUNS, Spread, find_runs, finished_runs};
pub use config::{AnyConfig, ConfigOf, MachineConfig, RunConfig, read_settings};
pub use counting::{Counted, Counting};
pub use data::Data;
pub use data_config::{DataConfig, TestConfig, Transitions};
pub use error::{Error, Result};
pub use estimate::Estimate;
pub use evaluate::{evaluate, evaluate_examples, evaluate_set};
pub use events::{Event, EventFile, read_events};
pub use examples::Examples;
pub use format::FormatVersion;
pub use group::{Group, OfRun, chosen, groups};
pub use learner::{Learner, LearnerState, Network, Tested};
pub use lease::{Holder, LEASE_TIME, Lease, LeaseError, lease_time};
pub use limits::{MAX_THREADS, check_memory};
pub use metrics::{EpochLosses, Metrics, MetricsFile, read_metrics};
pub use pgn_engine::Move;
pub use prediction::{Prediction, PredictionScores, score_predictions};
pub use queue::{Entry, Queue, State};
pub use results::{Results, Timing, ViewCounts, is_finished};
pub use rollout_file::{RolloutArrays, RolloutOf, write_rollouts};
pub use rollouts::{execution, rollouts};
pub use run::{AnyRun, Run, TestSets, note_class};
pub use run_dir::RunDir;
pub use schedule::Decay;
pub use scores::{Execution, Scores, Tally, TestScores};
pub use settings::{located, overlay};
pub use stop::Stop;
pub use story::{Step, Wrong, story};
pub use stream::{evaluate_stream, evaluate_streams};
pub use sweep::Sweep;
pub use sweep_tables::sweep_tables;
pub use table::{Table, title};
pub use teacher::Teacher;
pub use train::{Outcome, Progress, Session, train};
pub use verify::{Failure, Shape, Verdict, verify_all, verify_shape};
pub use work::{Event as QueueEvent, Summary, Work, work};
