//! A benchmark of networks that execute data structures.
//!
//! [`make`](fn@make) writes the data: questions and truth for [`TASKS`] at all [`SIZES`], in every
//! [`Family`](pgn_structures::Family). Anything may predict the answers, and pointers and masks where it has them, into
//! one [`Predictions`] file per task and size. [`score`](fn@score) judges such a file by itself: it
//! makes the truth again, as the data are the same bytes everywhere. [`table`] turns a folder of
//! entries, each with a [`Card`] and its scores, into a leaderboard that compares like with like: nobody
//! with a model that was told more.
//!
//! ```
//! use pgn_benchmark::{Predictions, Predictor, Set, score};
//!
//! let folder = std::env::temp_dir().join("pgn-benchmark-example");
//! let file = folder.join("dsu-20.safetensors");
//! # std::fs::create_dir_all(&folder).unwrap();
//! let set = Set::test("dsu", 20)?;
//! Predictions::of(&Predictor::Always(true), &set)?.unwrap().save(&file)?;
//! let record = score(&file)?;
//! assert_eq!(record.all.scores.f1, record.all.scores.f1_always_1);
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), pgn_lab::Error>(())
//! ```

mod card;
mod data;
mod make;
mod predict;
mod predictions;
mod score;
mod suite;
mod text;

pub use card::{Card, Claim, Entry, Supervision, table};
pub use data::Data;
pub use make::{make, readme};
pub use predict::Predictor;
pub use predictions::Predictions;
pub use score::{Record, Scored, score};
pub use suite::{FULL_UP_TO, SIZES, Set, TASKS, TRAIN, TRAIN_NODES, VALIDATION};
pub use text::lines;

/// A result with the laboratory's error: a sentence that names the file.
pub type Result<T> = pgn_lab::Result<T>;
