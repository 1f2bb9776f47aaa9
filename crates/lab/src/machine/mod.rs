//! Learnt machines: training, certificates, and runs on data sets.
//!
//! | file | what |
//! | --- | --- |
//! | `config.rs` | `config.toml` of a machine run |
//! | `training.rs` | `pgn train --model pgn-machine` |
//! | `run.rs` | a trained machine, from a directory or built in |
//! | `certificate.rs` | the finite check behind "exact for every n" |
//! | `execute.rs` | operations by network, by table or compiled |
//! | `evaluate.rs` | scores and rollouts |

mod built_in;
mod certificate;
mod checkpoint;
mod config;
mod evaluate;
mod execute;
mod results;
mod run;
mod sha256;
mod training;
mod verify;

pub use certificate::MachineCertificate;
pub use config::{MachineConfig, MachineData};
pub use execute::{Executor, Mode};
pub use results::{MachineResults, ViewCounts};
pub use run::MachineRun;
pub use sha256::sha256;
pub(crate) use training::MachineMetrics;
pub use training::{MachineOutcome, MachineProgress, MachineSession, train_machine};
pub use verify::MachineVerdict;

/// The model's name, as in `--model`.
pub const MACHINE_MODEL: &str = "pgn-machine";
