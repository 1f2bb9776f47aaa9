//! Learned data structures in use: spanning forests, path sums and a judge's problems, solved by
//! trained and certified machines.
//!
//! The learned structure moves every pointer. The host reads input, sorts edges, keeps their
//! weights, and adds numbers when the machine asks for it.
//!
//! | if you want … | look at |
//! | --- | --- |
//! | a learned disjoint-set union or link/cut tree | [`LearnedDsu`], [`LearnedForest`] |
//! | a minimum spanning forest | [`kruskal`], [`OnlineForest`] |
//! | problems of the Library Checker | [`Problem`] |
//! | graphs from files | [`Graph`] |
//!
//! `docs/uses.md` has timings, and what is learned and what is not.

mod dsu;
mod error;
mod forest;
pub mod graph;
mod input;
mod kruskal;
mod online;
pub mod problems;

pub use dsu::{LearnedDsu, UnionFind};
pub use error::{Error, Result};
pub use forest::{DynamicForest, LearnedForest};
pub use graph::Graph;
pub use input::Input;
pub use kruskal::kruskal;
pub use online::{Heaviest, Inserted, OnlineForest, Weight};
pub use problems::Problem;

use pgn_structures::Node;

/// An edge of a graph with a weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge<W> {
    /// One end.
    pub u: Node,
    /// The other end.
    pub v: Node,
    /// What it weighs.
    pub weight: W,
}
