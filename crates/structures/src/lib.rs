//! Classical data structures that record the pointers they move. No learning in here.
//!
//! A [`Task`] makes fresh structures; a [`Dataset`] has what random operations do to them.
//!
//! ```
//! use pgn_structures::{Dataset, Dsu, Sampling, Statistics, Task};
//!
//! // A structure by itself: node 2 has the highest priority, so it becomes the root.
//! let mut sets = Dsu::new(&[0.1, 0.4, 0.9]);
//! assert!(sets.query_union(0, 1)? && sets.query_union(1, 2)?);
//! assert_eq!(sets.find(0)?, 2);
//!
//! // The paper's training set: 70 sequences of 30 operations on 20 nodes.
//! let set = Dataset::sample(&Task::named("dsu")?, &Sampling::paper(20))?;
//! assert_eq!(set.sequence(0).pointers_after(29).len(), 20);
//! assert!((0.55..0.65).contains(&Statistics::of(&set).answers_1));
//! # Ok::<(), pgn_structures::Error>(())
//! ```
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

mod bst;
mod csv;
mod cycles;
mod dataset_file;
mod dsu;
mod error;
mod family;
mod feature;
mod fields;
pub mod files;
pub mod forest;
mod graph;
mod kruskal;
mod link_cut_tree;
mod move_to_front;
mod msf;
mod names;
mod operation;
mod ring;
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

pub use bst::Bst;
pub use csv::{operations_from_csv, read_operations, shown};
pub use dsu::{Dsu, Linking};
pub use error::{Error, OperationError, Result};
pub use family::{Family, NEAR};
pub use feature::Feature;
pub use fields::{Field, FieldRows, Fields};
pub use graph::Edge;
pub use kruskal::Kruskal;
pub use link_cut_tree::{Aggregate, Count, LinkCutTree, Max, Min, Sum};
pub use move_to_front::MoveToFront;
pub use msf::OnlineMsf;
pub use names::{closest, did_you_mean};
pub use operation::{Node, Operation, OperationKind};
pub use ring::Ring;
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
