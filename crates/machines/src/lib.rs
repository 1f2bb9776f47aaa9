//! Data structures as programs of micro-steps: the ground truth of machines. No learning in here.
//!
//! A [`Program`] works on n nodes with pointer fields and bits. Each micro-step reads a handful
//! of fields around the registers and writes a few. What a state's step ever reads is its
//! [`Lens`]; what the lens shows is a [`View`], a small graph without node numbers; what is
//! written is an [`Action`]. There are finitely many views, so that a network which maps each to
//! the program's action is exact for every n and every sequence of operations.
//!
//! ```
//! use pgn_machines::{Machine, Outcome, Store, certify, programs};
//!
//! // A pairing heap over five nodes; nodes 0 and 1 are heaps, the others can be inserted.
//! let heap = Machine::new(programs::named("heap").unwrap())?;
//! let mut store = Store::new(heap.signature(), &[0.0, 0.0, 0.7, 0.2, 0.5]);
//! for node in 2..5 {
//!     heap.run_program(&mut store, heap.operation("insert")?, &[0, node])?;
//! }
//! let least = heap.run_program(&mut store, heap.operation("pop_min")?, &[0])?;
//! assert_eq!(least, Outcome::Node(Some(3)));
//!
//! // Whatever agrees with the program on these few views is a pairing heap for every n.
//! assert_eq!(heap.consistent().len(), 36);
//! assert!(certify(&heap, |view| heap.action(view).unwrap()).certified);
//! # Ok::<(), pgn_machines::Error>(())
//! ```
//!
//! | if you want … | look at |
//! | --- | --- |
//! | a data structure of your own | [`Definition`], [`Program`], [`Memory`], [`Signature`] |
//! | a program as a task for other models | [`task`], [`programs::build_in_tasks`] |
//! | pairs to train on | [`Machine::consistent`], [`Machine::sampled_traces`] |
//! | to run a program | [`interpret`], [`Machine::run_program`] |
//! | to run a network | [`Machine::run`] with any function from views to actions |
//! | to infer a program from ordinary code | [`infer`] |
//! | to compare a network with a program | [`certify`] |
//! | to prove it right | [`Clauses`], [`Machine::proof`], and the crate `pgn-check` |
//! | speed | [`Compiled`] |
//! | sums, minima and maxima | [`Aggregates`], [`Values`] |
//! | ready-made structures | [`programs`] |
//!
//! `docs/machines.md` has the idea, the proof and its assumptions.

mod action;
mod certificate;
pub mod clauses;
pub mod compile;
mod consistent;
mod definition;
mod error;
mod exploration;
pub mod infer;
mod interpret;
mod lens;
mod machine;
mod memory;
mod precondition;
mod program;
pub mod programs;
mod proof;
mod signature;
mod soundness;
mod store;
mod structure;
mod suggest;
mod tracing_memory;
mod values;
mod view;

pub use action::{Action, Write};
pub use certificate::{Certificate, Failure, StateReport, certify, certify_on};
pub use clauses::Clauses;
pub use compile::Compiled;
pub use definition::Definition;
pub use error::{Error, Result};
pub use exploration::Exploration;
pub use interpret::interpret;
pub use lens::{Lens, Path, PathRead, Read};
pub use machine::{Machine, Outcome, reclaused};
pub use memory::Memory;
pub use precondition::{Condition, Precondition};
pub use program::{Call, Program, any_call};
pub use signature::{Control, Halt, OperationSignature, Signature, StateSignature};
pub use soundness::Trial;
pub use store::Store;
pub use structure::task;
pub use suggest::{candidates, that_hold};
pub use tracing_memory::TracingMemory;
pub use values::{Aggregates, Arithmetic, At, Values};
pub use view::{Comparison, Seen, View};
