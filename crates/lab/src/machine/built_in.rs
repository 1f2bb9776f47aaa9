//! The machines that come with this program: trained, certified, committed in `results/machines`
//! (`crates/lab/machines` is a link to it, so that packages of this crate have them).

/// Their names: there is one of every program.
pub use pgn_machines::programs::NAMES;
use pgn_structures::did_you_mean;

use crate::{Error, Result};

/// The files of a machine.
pub struct Files {
    pub config: &'static str,
    pub model: &'static [u8],
    pub certificate: &'static str,
    pub results: &'static str,
}

/// Through the link, so that packages of this crate have what is included.
macro_rules! path {
    ($name:ident, $file:literal) => {
        concat!("../../machines/", stringify!($name), "/", $file)
    };
}

macro_rules! machines {
    ($($name:ident),*) => {
        const FILES: [Files; NAMES.len()] = [$(Files {
            config: include_str!(path!($name, "config.toml")),
            model: include_bytes!(path!($name, "model.safetensors")),
            certificate: include_str!(path!($name, "certificate.json")),
            results: include_str!(path!($name, "results.json")),
        }),*];
    };
}

pgn_machines::with_built_in_programs!(machines);

/// The files of a built-in machine.
pub fn files(name: &str) -> Result<&'static Files> {
    let place = NAMES.iter().position(|known| *known == name);
    place.map(|place| &FILES[place]).ok_or_else(|| {
        let known = NAMES.join(", ");
        Error::request(format!(
            "there is no built-in machine '{name}'; expected one of {known}{}",
            did_you_mean(name, NAMES)
        ))
    })
}
