//! Classical data structures that record the pointers they move. No learning in here.
//!
//! | if you want … | look at |
//! | --- | --- |
//! | a union-find or a dynamic forest | [`Dsu`], [`LinkCutTree`], [`RootedForest`] |
//! | a task with an input graph | [`Kruskal`], [`Edge`] |
//! | ground truth to train on | [`Dataset::sample`], [`Dataset::from_operations`] |
//! | single operations from any state | [`Transition`], [`Curriculum`] |
//! | what a node holds besides its pointer | [`Schema`], [`Dataset::with_fields`] |
//! | data-set files | [`Dataset::save`], [`Dataset::load`] |
//! | to know what is in a set | [`Statistics`], [`forest`] |
//! | a data structure of your own | [`PointerStructure`], [`Task::new`] |
//!
//! ```
//! use pgn_structures::{Dataset, Sampling, Statistics, Task};
//!
//! let set = Dataset::sample(&Task::named("dsu")?, &Sampling::paper(20))?;
//! let statistics = Statistics::of(&set);
//! assert!((0.55..0.65).contains(&statistics.answers_1));
//! # Ok::<(), pgn_structures::Error>(())
//! ```

mod csv;
mod cycles;
mod dataset_file;
mod dsu;
mod error;
mod feature;
mod fields;
pub mod files;
pub mod forest;
mod graph;
mod kruskal;
mod link_cut_tree;
mod names;
mod operation;
mod rng;
mod rooted_forest;
mod sampling;
mod schema;
mod sequence;
mod statistics;
mod stream;
mod structure;
mod task;
mod task_text;
mod transition;
mod visited;

pub use csv::{operations_from_csv, read_operations, shown};
pub use dsu::{Dsu, Linking};
pub use error::{Error, OperationError, Result};
pub use feature::Feature;
pub use fields::{Field, FieldRows, Fields};
pub use graph::Edge;
pub use kruskal::Kruskal;
pub use link_cut_tree::{Aggregate, Count, LinkCutTree, Max, Min, Sum};
pub use names::{closest, did_you_mean};
pub use operation::{Node, Operation, OperationKind};
pub use rng::{Rng, Split, Stream};
pub use rooted_forest::RootedForest;
pub use sampling::{Sampling, given_priorities};
pub use schema::{Schema, Shape};
pub use sequence::{Dataset, Sequence};
pub use statistics::Statistics;
pub use stream::SequenceStream;
pub use structure::PointerStructure;
pub use task::Task;
pub use task_text::TaskText;
pub use transition::{Curriculum, OwnedTransition, Transition, random_forest};
pub use visited::{Recorder, Visited};
