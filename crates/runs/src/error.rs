//! What can go wrong with files, directories and queues, each as one sentence.

use std::{
    fmt::Display,
    path::{Path, PathBuf},
};

/// Anything this crate can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting with a value that makes no sense.
    #[error("invalid run config: {what}")]
    Config {
        /// Its key, dotted; empty where no single setting is to blame.
        key: String,
        /// All of the sentence.
        what: String,
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
    /// A file that cannot be read or written or has the wrong contents, a request that cannot be met:
    /// see [`pgn_structures::Error`].
    #[error(transparent)]
    Structures(#[from] pgn_structures::Error),
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// An error that may be one of this crate's: what callers pass through functions of this crate.
pub trait RunError: From<Error> + Display {
    /// This crate's error, if it is one.
    fn as_run_error(&self) -> Option<&Error>;

    /// The file that could not be read or written, to be named otherwise.
    fn path_mut(&mut self) -> Option<&mut PathBuf>;

    /// Names `target`, which the user knows, in place of `draft`: what is written under one name and
    /// then renamed fails under the first.
    fn about(mut self, draft: &Path, target: &Path) -> Self {
        if let Some(path) = self.path_mut().filter(|path| *path == draft) {
            target.clone_into(path);
        }
        self
    }
}

impl RunError for Error {
    fn as_run_error(&self) -> Option<&Error> {
        Some(self)
    }

    fn path_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            Error::Structures(pgn_structures::Error::Io { path, .. }) => Some(path),
            _ => None,
        }
    }
}

impl Error {
    /// A setting with a value that makes no sense, by its key.
    pub fn config(key: &str, what: impl Into<String>) -> Error {
        Error::Config { key: key.to_owned(), what: what.into() }
    }

    /// A request that cannot be met as things stand.
    pub fn request(what: impl Into<String>) -> Error {
        pgn_structures::Error::Request(what.into()).into()
    }

    /// For `map_err`: names the file that could not be read, written and so on.
    pub fn io(verb: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        move |cause| pgn_structures::Error::Io { verb, path: path.to_owned(), cause }.into()
    }

    /// A file with the wrong contents.
    pub fn file(path: &Path, trouble: impl Into<String>) -> Error {
        pgn_structures::Error::File { path: path.to_owned(), trouble: trouble.into() }.into()
    }

    /// Whether it is that a file does not exist.
    pub fn is_not_found(&self) -> bool {
        let Error::Structures(pgn_structures::Error::Io { cause, .. }) = self else { return false };
        cause.kind() == std::io::ErrorKind::NotFound
    }
}
