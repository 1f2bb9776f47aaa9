//! The machines that come with this program.

use crate::{Error, Result};

/// The files of a machine.
pub struct Files {
    pub config: &'static str,
    pub model: &'static [u8],
    pub certificate: &'static str,
}

/// Their names.
pub const NAMES: [&str; 0] = [];

/// The files of a built-in machine.
pub fn files(name: &str) -> Result<&'static Files> {
    Err(Error::Request(format!("there is no built-in machine '{name}'")))
}
