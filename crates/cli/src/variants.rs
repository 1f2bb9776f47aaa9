//! The values of a flag that names a setting: those that the setting's own type reads.

use std::fmt::{self, Display, Formatter};

use clap::builder::PossibleValuesParser;
use serde::{
    Deserialize,
    de::{self, value::StrDeserializer},
};

/// The names of the variants of an enum, as config files have them.
pub fn of<T: for<'de> Deserialize<'de>>() -> PossibleValuesParser {
    // No variant has an empty name, so that the answer is an error with all names in it.
    let names = match T::deserialize(StrDeserializer::<Names>::new("")) {
        Err(Names(names)) => names,
        Ok(_) => &[],
    };
    PossibleValuesParser::new(names)
}

/// An error of a reader that knows which names it would have read.
#[derive(Debug)]
struct Names(&'static [&'static str]);

impl Display for Names {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl std::error::Error for Names {}

impl de::Error for Names {
    fn custom<T: Display>(_: T) -> Names {
        Names(&[])
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Names {
        Names(expected)
    }
}
