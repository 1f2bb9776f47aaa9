//! The crates' errors as Python's exceptions: the same sentence, in the class a Python programmer
//! would look for.

use std::io::{self, ErrorKind};

use pgn_structures::OperationError;
use pyo3::{
    PyErr, PyResult,
    exceptions::{
        PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyNotADirectoryError,
        PyOSError, PyPermissionError, PyValueError,
    },
};

/// An error of any of the crates.
pub struct Error(pgn_lab::Error);

impl<E: Into<pgn_lab::Error>> From<E> for Error {
    fn from(error: E) -> Error {
        Error(error.into())
    }
}

impl From<Error> for PyErr {
    fn from(Error(error): Error) -> PyErr {
        let error = match raised(error) {
            Ok(exception) => return exception,
            Err(error) => error,
        };
        let sentence = error.to_string();
        match (&error, error.io_cause()) {
            (_, Some(cause)) => os_error(cause, sentence),
            (pgn_lab::Error::Runs(pgn_runs::Error::Locked { .. }), _) => {
                PyOSError::new_err(sentence)
            }
            _ => PyValueError::new_err(sentence),
        }
    }
}

/// The exception that a structure in Python raised, or the error itself if it is another one.
fn raised(error: pgn_lab::Error) -> Result<PyErr, pgn_lab::Error> {
    use pgn_structures::Error::Failed;
    match error {
        pgn_lab::Error::Structures(Failed { task, cause }) => match cause.downcast::<PyErr>() {
            Ok(exception) => Ok(*exception),
            Err(cause) => Err(pgn_lab::Error::Structures(Failed { task, cause })),
        },
        other => Err(other),
    }
}

/// For operations on structures, whose errors are not among those of [`pgn_lab::Error`].
pub fn operation(error: OperationError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Anything as JSON.
pub fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn os_error(cause: &io::Error, sentence: String) -> PyErr {
    match cause.kind() {
        ErrorKind::NotFound => PyFileNotFoundError::new_err(sentence),
        ErrorKind::PermissionDenied => PyPermissionError::new_err(sentence),
        ErrorKind::AlreadyExists => PyFileExistsError::new_err(sentence),
        ErrorKind::IsADirectory => PyIsADirectoryError::new_err(sentence),
        ErrorKind::NotADirectory => PyNotADirectoryError::new_err(sentence),
        _ => PyOSError::new_err(sentence),
    }
}
