//! What can go wrong, each in one sentence.

use std::path::PathBuf;

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model name that is not a preset.
    #[error("there is no model '{name}'; expected one of {known}{}", pgn_structures::did_you_mean(name, known.split(", ")))]
    UnknownModel {
        /// What was asked for.
        name: String,
        /// The presets.
        known: String,
    },
    /// A config the engine cannot compute with.
    #[error("invalid model config: {what}")]
    InvalidConfig {
        /// The setting that is wrong, as a dotted key below `network`.
        key: String,
        /// What is wrong with it.
        what: String,
    },
    /// A model file that cannot be read or does not fit its config.
    #[error("{path}: {trouble}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        trouble: String,
    },
    /// A file that cannot be written.
    #[error(transparent)]
    Write(#[from] pgn_structures::Error),
    /// A loss or a gradient that is not a number any more.
    #[error("{0}")]
    Diverged(String),
    /// Input that does not fit the model or itself.
    #[error("{0}")]
    Input(String),
}

/// An error about the setting `key`, unless the condition holds.
pub(crate) fn require(holds: bool, key: &str, what: impl Into<String>) -> Result<(), Error> {
    match holds {
        true => Ok(()),
        false => Err(Error::InvalidConfig { key: key.to_owned(), what: what.into() }),
    }
}
