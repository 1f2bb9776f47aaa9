//! The version of a file's format: written into every new file, checked in every file that has one.

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// What is written today. Files without a version are of the same format.
const VERSION: u32 = 1;

/// The key that has it.
const KEY: &str = "format_version";

/// The version of a file that was read: a known one, as others are refused. It carries nothing, so
/// that what was read from an old file equals what was read from a new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormatVersion;

impl<'de> Deserialize<'de> for FormatVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FormatVersion, D::Error> {
        match u32::deserialize(deserializer)? {
            VERSION => Ok(FormatVersion),
            other => Err(D::Error::custom(format!(
                "{KEY} is {other}; this program reads version {VERSION}"
            ))),
        }
    }
}

/// A value with the version in front.
#[derive(Serialize)]
pub struct Versioned<'a, T> {
    format_version: u32,
    #[serde(flatten)]
    value: &'a T,
}

impl<'a, T> Versioned<'a, T> {
    /// To be written with today's version.
    pub fn new(value: &'a T) -> Self {
        Versioned { format_version: VERSION, value }
    }
}

/// The text of a TOML file with the version in front.
pub fn versioned(toml: &str) -> String {
    format!("{KEY} = {VERSION}\n{toml}")
}

/// The beginning of a JSON object with the version in it.
pub fn json_start() -> String {
    format!("{{\"{KEY}\": {VERSION}, ")
}
