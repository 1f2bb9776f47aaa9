//! Learned machines: certificates, and runs on data sets. They are trained as all models are.
//!
//! | file | what |
//! | --- | --- |
//! | `run.rs` | a trained machine, from a directory or built in |
//! | `certificate.rs` | the finite check behind "exact for every n" |
//! | `proof.rs` | what the checker of proofs reads, and what it found |
//! | `execute.rs` | operations by network, by table or compiled |
//! | `suggest.rs` | clauses that prove a program, found in its runs |
//! | `evaluate.rs` | scores and rollouts |

mod built_in;
mod certificate;
mod evaluate;
mod execute;
mod proof;
mod run;
mod suggest;
mod verify;

pub use certificate::MachineCertificate;
pub use execute::{Executor, Mode};
pub use run::MachineRun;
pub use suggest::{Suggestion, suggest, suggest_first};
pub use verify::MachineVerdict;

/// The model's name, as in `--model`.
pub const MACHINE_MODEL: &str = "pgn-machine";
