//! The program, for `python -m pgn` and the script `pgn`.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program with these arguments, its name first; its exit code.
#[pyfunction]
pub fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| pgn_cli::main_with(args))
}
