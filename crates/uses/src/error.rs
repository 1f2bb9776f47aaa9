//! What can go wrong, each as one sentence.

/// Anything this crate can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Input that is not what was expected.
    #[error("line {line}: {trouble}")]
    Input {
        /// Where, counted from 1.
        line: usize,
        /// What is wrong, and what was expected.
        trouble: String,
    },
    /// A file that cannot be read, or is not what was expected.
    #[error("{file}: {trouble}")]
    File {
        /// The file.
        file: String,
        /// What is wrong.
        trouble: String,
    },
    /// Something that was asked for and cannot be done.
    #[error("{0}")]
    Request(String),
    /// A machine that failed.
    #[error(transparent)]
    Machine(#[from] pgn_lab::Error),
    /// See [`pgn_structures::OperationError`].
    #[error(transparent)]
    Operation(#[from] pgn_structures::OperationError),
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
