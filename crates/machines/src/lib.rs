//! Data structures as programs of micro-steps: the ground truth of machines. No learning in here.
//!
//! A [`Program`] works on n nodes with pointer fields and bits. Each micro-step reads a handful
//! of fields around the registers and writes a few. What a state's step ever reads is its
//! [`Lens`]; what the lens shows is a [`View`], a small graph without node numbers; what is
//! written is an [`Action`]. There are finitely many views, so that a network which maps each to
//! the program's action is exact for every n and every sequence of operations.
//!
//! | if you want … | look at |
//! | --- | --- |
//! | a data structure of your own | [`Definition`], [`Program`], [`Memory`], [`Signature`] |
//! | pairs to train on | [`Machine::consistent`], [`Machine::traces`] |
//! | to run a network | [`Machine::run`] with any function from views to actions |
//! | to prove a network right | [`certify`] |
//! | speed | [`Compiled`], [`Memoised`] |
//! | sums, minima and maxima | [`Aggregates`], [`Values`] |
//! | ready-made structures | [`programs`] |
//!
//! `docs/machines.md` has the idea, the proof and its assumptions.

mod action;
mod certificate;
pub mod compile;
mod consistent;
mod definition;
mod error;
mod interpret;
pub mod invariants;
mod lens;
mod machine;
mod memory;
mod program;
pub mod programs;
mod signature;
mod soundness;
mod store;
mod structure;
mod tracing_memory;
mod values;
mod view;

pub use action::{Action, Write};
pub use certificate::{Certificate, Failure, Memoised, StateReport, certify, certify_on};
pub use compile::Compiled;
pub use definition::Definition;
pub use error::{Error, Result};
pub use interpret::interpret;
pub use lens::{Lens, Path, PathRead, Read};
pub use machine::{Machine, Outcome};
pub use memory::Memory;
pub use program::{Call, Program};
pub use signature::{Control, Halt, OperationSignature, Signature, State};
pub use soundness::Trial;
pub use store::Store;
pub use structure::task;
pub use tracing_memory::TracingMemory;
pub use values::{Aggregates, Arithmetic, At, Values};
pub use view::{Comparison, Seen, View};
