//! The machines that come with this program: trained, certified, committed in `results/machines`.

use crate::{Error, Result};

/// The files of a machine.
pub struct Files {
    pub config: &'static str,
    pub model: &'static [u8],
    pub certificate: &'static str,
}

macro_rules! machines {
    ($($name:literal),*) => {
        /// Their names.
        pub const NAMES: [&str; [$($name),*].len()] = [$($name),*];

        const FILES: [Files; NAMES.len()] = [$(Files {
            config: include_str!(concat!("../../../../results/machines/", $name, "/config.toml")),
            model: include_bytes!(concat!(
                "../../../../results/machines/", $name, "/model.safetensors"
            )),
            certificate: include_str!(concat!(
                "../../../../results/machines/", $name, "/certificate.json"
            )),
        }),*];
    };
}

machines!("dsu", "lct", "forest", "splay", "heap");

/// The files of a built-in machine.
pub fn files(name: &str) -> Result<&'static Files> {
    let place = NAMES.iter().position(|known| *known == name);
    place.map(|place| &FILES[place]).ok_or_else(|| {
        let known = NAMES.join(", ");
        Error::Request(format!("there is no built-in machine '{name}'; expected one of {known}"))
    })
}
