//! What can go wrong in an experiment, each as one sentence.

use std::path::{Path, PathBuf};

use pgn_runs::RunError;

/// Anything this crate can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// About settings, files and run directories: see [`pgn_runs::Error`].
    #[error(transparent)]
    Runs(pgn_runs::Error),
    /// See [`pgn_engine::Error`].
    #[error(transparent)]
    Engine(#[from] pgn_engine::Error),
    /// See [`pgn_machines::Error`].
    #[error(transparent)]
    Machines(#[from] pgn_machines::Error),
    /// See [`pgn_structures::Error`].
    #[error(transparent)]
    Structures(#[from] pgn_structures::Error),
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl From<pgn_runs::Error> for Error {
    fn from(error: pgn_runs::Error) -> Error {
        match error {
            pgn_runs::Error::Structures(error) => Error::Structures(error),
            error => Error::Runs(error),
        }
    }
}

impl RunError for Error {
    fn as_run_error(&self) -> Option<&pgn_runs::Error> {
        match self {
            Error::Runs(error) => Some(error),
            _ => None,
        }
    }

    fn path_mut(&mut self) -> Option<&mut PathBuf> {
        use pgn_structures::Error::Io;
        match self {
            Error::Structures(Io { path, .. })
            | Error::Engine(pgn_engine::Error::Write(Io { path, .. })) => Some(path),
            _ => None,
        }
    }
}

impl Error {
    /// A setting with a value that makes no sense, by its key.
    pub fn config(key: &str, what: impl Into<String>) -> Error {
        pgn_runs::Error::config(key, what).into()
    }

    /// A request that cannot be met as things stand.
    pub fn request(what: impl Into<String>) -> Error {
        pgn_runs::Error::request(what).into()
    }

    /// A file with the wrong contents.
    pub fn file(path: &Path, trouble: impl Into<String>) -> Error {
        pgn_runs::Error::file(path, trouble).into()
    }

    /// For `map_err`: names the file that could not be read, written and so on.
    pub(crate) fn io(verb: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let named = pgn_runs::Error::io(verb, path);
        move |cause| named(cause).into()
    }

    /// Whether work was asked to end early, by a [`Stop`](pgn_runs::Stop).
    pub fn is_stopped(&self) -> bool {
        matches!(self, Error::Runs(pgn_runs::Error::Stopped))
    }

    /// Why a file could not be read or written.
    pub fn io_cause(&self) -> Option<&std::io::Error> {
        use pgn_structures::Error::Io;
        match self {
            Error::Structures(Io { cause, .. })
            | Error::Engine(pgn_engine::Error::Write(Io { cause, .. })) => Some(cause),
            _ => None,
        }
    }
}
