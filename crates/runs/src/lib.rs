//! What is about directories and processes, not about networks: run directories that one process
//! at a time may write in, files that are whole or absent, and queues of runs.
//!
//! | if you want … | look at |
//! | --- | --- |
//! | to know what is in a run directory | [`files`] |
//! | who may write in one | [`Lease`], [`RunDir`] |
//! | damage to be told from data | [`checksums`], [`json_checksum`], [`format`](mod@format) |
//! | settings from files and flags | [`settings`] |
//! | many runs | [`Sweep`], [`Queue`], [`work()`](work) |
//! | to train something of your own in them | [`Backend`] |
//! | to end work early | [`Stop`] |
//!
//! Nothing in here prints or handles signals.

mod backend;
pub mod checksums;
mod error;
pub mod files;
pub mod format;
pub mod indices;
pub mod json_checksum;
mod lease;
mod queue;
mod run_dir;
pub mod settings;
mod stop;
mod sweep;
mod work;

pub use backend::{Backend, Outcome};
pub use error::{Error, Result, RunError};
pub use lease::{Holder, LEASE_TIME, Lease, lease_time};
pub use queue::{Entry, EntryState, Queue};
pub use run_dir::RunDir;
pub use stop::Stop;
pub use sweep::Sweep;
pub use work::{Event, Summary, Work, work};
