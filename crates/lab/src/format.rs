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
pub(crate) struct Versioned<'a, T> {
    format_version: u32,
    #[serde(flatten)]
    value: &'a T,
}

impl<'a, T> Versioned<'a, T> {
    pub fn new(value: &'a T) -> Self {
        Versioned { format_version: VERSION, value }
    }
}

/// The text of a TOML file with the version in front.
pub(crate) fn versioned(toml: &str) -> String {
    format!("{KEY} = {VERSION}\n{toml}")
}

/// The beginning of a JSON object with the version in it.
pub(crate) fn json_start() -> String {
    format!("{{\"{KEY}\": {VERSION}, ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct File {
        #[serde(default, skip_serializing)]
        format_version: FormatVersion,
        seed: u64,
    }

    #[test]
    fn files_with_and_without_a_version_are_equal_and_newer_ones_are_refused() {
        let file = File { format_version: FormatVersion, seed: 7 };
        let text = versioned(&toml::to_string(&file).unwrap());
        assert_eq!(text, "format_version = 1\nseed = 7\n");
        assert_eq!(toml::from_str::<File>(&text).unwrap(), file);
        assert_eq!(toml::from_str::<File>("seed = 7\n").unwrap(), file);
        let error = toml::from_str::<File>("format_version = 2\nseed = 7\n").unwrap_err();
        assert!(error.message().contains("format_version is 2; this program reads version 1"));
        let json = serde_json::to_string(&Versioned::new(&file)).unwrap();
        assert_eq!(json, "{\"format_version\":1,\"seed\":7}");
        assert_eq!(serde_json::from_str::<File>(&json).unwrap(), file);
        assert!(json_start().starts_with("{\"format_version\": 1"));
    }
}
