//! Classical data structures that record the pointers they move. No learning in here.
mod feature;
mod operation;
mod sequence;
mod structure;

pub use feature::Feature;
pub use operation::{Node, Operation};
pub use sequence::{Dataset, Sequence};
pub use structure::{PointerStructure, Visited};
