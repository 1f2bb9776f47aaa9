//! `pgn serve`: a local page that shows what was learned.
//!
//! The server is small and stateless. Every request for a rollout carries the model's name, the
//! number of nodes and the operations, and is answered by replaying them: that takes
//! milliseconds, and makes undo in the playground a matter of sending one operation less.
//!
//! | if you want to know … | look at |
//! | --- | --- |
//! | how to start and stop it | [`Server`], [`Options`] |
//! | which requests there are | [`Api`], which needs neither sockets nor files |
//! | what it refuses, and why | `server/guard.rs`, `server/folder.rs`, `limits.rs` |
//! | what a replay holds | `replay.rs`, `step.rs`, `machine.rs` |
//! | the algorithm inside an operation | `micro_steps.rs`, `calls.rs` |
//! | which machines are kept, compiled | `server/kept.rs` |
//! | the page without a server | `wasm.rs`, and `wasm` in the crate's folder, which builds it |
//! | the same in one file | [`report()`], [`player()`], [`page()`](page()) |
//! | the trained models that come along | [`built_in_models()`] |
//!
//! The page itself is TypeScript, in `web/`; what is built from it is in `assets/`, committed, so
//! that building this crate needs no JavaScript tools.
//!
//! ```no_run
//! # async fn example() -> Result<(), pgn_viewer::Error> {
//! use pgn_viewer::{Options, Server};
//!
//! let server = Server::bind(Options::default()).await?;
//! println!("http://{}", server.address());
//! server.run(std::future::pending()).await
//! # }
//! ```

#![cfg_attr(target_family = "wasm", allow(dead_code, reason = "of the server and of reports"))]

mod api;
mod built_in;
mod calls;
mod catalogue;
mod error;
mod halt;
mod limits;
mod metrics;
mod micro_steps;
mod recorded;
mod refusal;
mod replay;
mod sequences;
mod step;
mod subject;
mod summary;

#[cfg(not(target_family = "wasm"))]
mod report;
#[cfg(not(target_family = "wasm"))]
mod server;
#[cfg(target_family = "wasm")]
mod wasm;

pub use api::Api;
pub use built_in::built_in_models;
pub use error::{Error, Result};
#[cfg(not(target_family = "wasm"))]
pub use report::{Played, page, player, report, to_be_analysed};
#[cfg(not(target_family = "wasm"))]
pub use server::{Options, Server, serve};
