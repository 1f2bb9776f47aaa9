//! Why the server cannot start or go on, each as one sentence.

use std::{net::SocketAddr, path::PathBuf};

/// Anything this crate can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder of runs cannot be read.
    #[error("cannot read the folder {}: {cause}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why not. Part of the sentence already, so not this error's `source`.
        cause: std::io::Error,
    },
    /// The address is taken, or not one of this machine's.
    #[error("cannot listen on {address}: {cause}; --port chooses another port, 0 any free one")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// Why not. Part of the sentence already, so not this error's `source`.
        cause: std::io::Error,
    },
    /// A report cannot be made.
    #[error("the report cannot be made: {0}")]
    Report(String),
    /// See [`pgn_lab::Error`].
    #[error(transparent)]
    Lab(#[from] pgn_lab::Error),
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
