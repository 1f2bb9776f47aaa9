//! The program, for `python -m pgn` and the script `pgn`.

use std::{ffi::OsString, path::PathBuf};

use anyhow::anyhow;
use pgn_cli::OwnStructure;
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
};

use crate::{error::Error, user_structure};

/// Runs the program with these arguments, its name first; its exit code. `find` is given the value
/// of `--structure`; it registers what that names and returns the task's name, whether it is the
/// program of a machine, where its class is found, and what runs say of it.
#[pyfunction]
pub fn main(py: Python<'_>, args: Vec<OsString>, find: Py<PyAny>) -> u8 {
    let find = |name: &str| {
        Python::attach(|py| {
            let found = find.bind(py).call1((name,)).and_then(|found| found.extract());
            let (task, is_program, class, note) = found.map_err(|error| in_words(py, error))?;
            Ok(OwnStructure { task, is_program, class, note })
        })
    };
    py.detach(|| pgn_cli::run_with(args, &find))
}

/// Our own refusals are sentences; what else a user's module raises is shown with its traceback.
fn in_words(py: Python<'_>, error: PyErr) -> anyhow::Error {
    let value = error.value(py).to_string();
    if error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyTypeError>(py) {
        return anyhow!(value);
    }
    let sentence = anyhow!("--structure cannot be loaded: {error}");
    error.print(py);
    sentence
}

/// Refuses a run directory of another version of a class.
#[pyfunction]
pub fn check_class(run: PathBuf, note: &str, strictly: bool) -> PyResult<()> {
    Ok(pgn_lab::check_class(&run, note, strictly).map_err(Error::from)?)
}

/// Makes a class of structures known to the program by its name, which is returned.
#[pyfunction]
pub fn register_task(structure: &Bound<'_, PyAny>) -> PyResult<String> {
    let task = user_structure::task(structure)?;
    let name = task.name().to_owned();
    task.register().map_err(Error::from)?;
    Ok(name)
}
