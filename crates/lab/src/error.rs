//! What can go wrong in an experiment, each as one sentence.

use std::path::{Path, PathBuf};

use crate::LeaseError;

/// Anything this crate can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A run config with a value that makes no sense.
    #[error("invalid run config: {0}")]
    Config(String),
    /// A request that cannot be met as things stand.
    #[error("{0}")]
    Request(String),
    /// A file that cannot be read or written.
    #[error("cannot {verb} {}: {cause}", path.display())]
    Io {
        /// What was tried: "read", "write".
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not. Part of the sentence already, so not this error's `source`.
        cause: std::io::Error,
    },
    /// A file whose contents are not what they should be.
    #[error("{}: {trouble}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        trouble: String,
    },
    /// Another process works in this run directory.
    #[error("{} is in use: another process is training in it", path.display())]
    Locked {
        /// The run directory.
        path: PathBuf,
    },
    /// This process may not write in this run directory any more: the directory was removed, or
    /// another process took the run over.
    #[error("{}: this process lost its lease: the directory was removed, or another process took the run over", path.display())]
    Lost {
        /// The run directory.
        path: PathBuf,
    },
    /// It was asked to end early, by a [`Stop`](crate::Stop).
    #[error("stopped before it was done")]
    Stopped,
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

impl From<LeaseError> for Error {
    fn from(error: LeaseError) -> Error {
        match error {
            LeaseError::Held(path, _) => Error::Locked { path },
            LeaseError::Lost(path) => Error::Lost { path },
            LeaseError::Io(verb, path, cause) => Error::Io { verb, path, cause },
        }
    }
}

impl Error {
    /// For `map_err`: names the file that could not be read, written and so on.
    pub(crate) fn io(verb: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        move |cause| Error::Io { verb, path: path.to_owned(), cause }
    }

    /// The same error about the file that the user knows: what is written under one name and then
    /// renamed fails under the first.
    pub(crate) fn about(mut self, draft: &Path, target: &Path) -> Error {
        use pgn_structures::Error as Structures;
        let path = match &mut self {
            Error::Io { path, .. }
            | Error::Structures(Structures::Io { path, .. })
            | Error::Engine(pgn_engine::Error::Write(Structures::Io { path, .. })) => path,
            _ => return self,
        };
        if path == draft {
            target.clone_into(path);
        }
        self
    }

    /// Whether it is that a file does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        use pgn_structures::Error as Structures;
        let (Error::Io { cause, .. } | Error::Structures(Structures::Io { cause, .. })) = self
        else {
            return false;
        };
        cause.kind() == std::io::ErrorKind::NotFound
    }

    /// A file with the wrong contents.
    pub(crate) fn file(path: &Path, trouble: impl Into<String>) -> Error {
        Error::File { path: path.to_owned(), trouble: trouble.into() }
    }
}
