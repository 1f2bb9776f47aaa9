//! The engine beside [`pgn_engine::reference`]: configs, weights and sequences to compare on
//! (`cases.rs`), and what differences rounding allows (`compare.rs`).

// Every test file takes what it needs of this module.
#![allow(dead_code)]

pub mod cases;
pub mod compare;
