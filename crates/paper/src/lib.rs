//! Reproduction of the paper Pointer Graph Networks: its grid of runs, tables and claims.
//!
//! | if you want … | look at |
//! | --- | --- |
//! | the runs that the paper's numbers need | [`grid`], [`Selection`] |
//! | the paper's numbers | [`numbers`] |
//! | our runs in its tables, next to its numbers | [`tables`] |
//! | which of its claims our runs support | [`claims`], [`analyses::claims`] |
//! | files for version control | [`export`], [`write_tables`] |
//!
//! Training, evaluation and analyses are in `pgn-lab`, which does not know of the paper's tables.

pub mod analyses;
mod claims;
mod export;
mod grid;
mod numbers;
pub mod tables;

pub use claims::{Check, Claim, claims, free_claims};
pub use export::{TABLES, export, write_tables};
pub use grid::{Selection, grid};
pub use numbers::{Numbers, numbers};
