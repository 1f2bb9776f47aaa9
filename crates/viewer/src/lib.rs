//! `pgn serve`: a local page that shows what was learned.
//!
//! The server is small and stateless. Every request for a rollout carries the model's name, the
//! number of nodes and the operations, and is answered by replaying them: that takes
//! milliseconds, and makes undo in the playground a matter of sending one operation less.
//!
//! | if you want to know … | look at |
//! | --- | --- |
//! | how to start and stop it | [`Server`], [`Options`] |
//! | which requests there are | `api.rs` |
//! | what it refuses, and why | `guard.rs`, `limits.rs`, `catalogue.rs` |
//! | what a replay holds | `replay.rs`, `step.rs`, `machine.rs` |
//! | the algorithm inside an operation | `micro_steps.rs`, `calls.rs` |
//! | which machines are kept, compiled | `loaded.rs` |
//! | the same without a server, in one file | [`report()`], [`player()`], [`page()`](page()) |
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

mod api;
mod baselines;
mod built_in;
mod calls;
mod catalogue;
mod connections;
mod error;
mod guard;
mod halt;
mod limits;
mod loaded;
mod machine;
mod metrics;
mod micro_steps;
mod page;
mod refusal;
mod replay;
mod report;
mod sequences;
mod server;
mod step;
mod subject;
mod summary;

pub use built_in::built_in_models;
pub use error::{Error, Result};
pub use report::{Played, page, player, report, to_be_analysed};
pub use server::{Options, Server, serve};
