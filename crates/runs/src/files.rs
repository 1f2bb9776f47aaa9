//! The files of a run directory, read and written with errors that name them.

use std::path::Path;

use pgn_structures::files::read_regular;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    Error, Result,
    format::{FormatVersion, Versioned},
    json_checksum,
};

/// Every value of the run, resolved.
pub const CONFIG: &str = "config.toml";
/// The best weights on validation.
pub const MODEL: &str = "model.safetensors";
/// A line per evaluated epoch.
pub const METRICS: &str = "metrics.jsonl";
/// The metrics for TensorBoard.
pub const EVENTS: &str = "events.out.tfevents.pgn";
/// Scores per test size; a run that has it is finished.
pub const RESULTS: &str = "results.json";
/// Why training ended before its time, and the checksum of the model that it left.
pub const DIVERGED: &str = "diverged.json";
/// All that a resume needs.
pub const CHECKPOINT: &str = "checkpoint.safetensors";
/// The folder of the models kept along the way: see [`kept`].
pub const KEPT: &str = "kept";
/// Held by the process that trains in the directory.
pub const LOCK: &str = ".lock";
/// Weights that the run begins with, if somebody gave them.
pub const INITIAL: &str = "initial.safetensors";
/// A copy of the teacher's config and model, for `pgn-ptrs`.
pub const TEACHER: &str = "teacher";
/// What `pgn certify` found out about a machine.
pub const CERTIFICATE: &str = "certificate.json";
/// What `pgn check` reads: the machine, its program and its clauses.
pub const PROOF: &str = "proof.safetensors";
/// Which Python class the run's structure is, as `module:class`, if it is one.
pub const STRUCTURE: &str = "structure.txt";

/// Every file that a run directory may hold, but for the lock and what is in the teacher's folder.
pub(crate) const ALL: [&str; 11] = [
    CONFIG,
    MODEL,
    METRICS,
    EVENTS,
    RESULTS,
    DIVERGED,
    CHECKPOINT,
    INITIAL,
    CERTIFICATE,
    PROOF,
    STRUCTURE,
];

/// The most bytes that are read of a `config.toml`: a thousand times what one has.
pub const MAX_CONFIG: u64 = 1 << 20;
/// The most bytes that are read of any other file of a run.
pub const MAX_FILE: u64 = 4 << 30;

/// The bytes of a file, which must be a regular one of at most [`MAX_FILE`] bytes.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    read_up_to(path, MAX_FILE)
}

/// The bytes of a regular file of at most `limit` bytes.
pub fn read_up_to(path: &Path, limit: u64) -> Result<Vec<u8>> {
    Ok(read_regular(path, limit)?)
}

/// The text of a file of at most [`MAX_CONFIG`] bytes, such as `config.toml`.
pub fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read_up_to(path, MAX_CONFIG)?).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Error::file(path, format!("byte {place} is not UTF-8 text"))
    })
}

/// Writes a file whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(pgn_structures::files::atomic_write(path, bytes)?)
}

/// Makes a directory and those above it.
pub fn make_dir(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(Error::io("create", path))
}

/// Reads a JSON file. Where it has a checksum of its own, that must fit.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    /// The only key that all files have.
    #[derive(Deserialize)]
    struct Head {
        #[serde(default, rename = "format_version")]
        _version: FormatVersion,
    }
    let bytes = read(path)?;
    json_checksum::check(&bytes).map_err(|trouble| Error::file(path, trouble))?;
    let wrong = |error: serde_json::Error| {
        // It quotes what it found, which may be all of a file.
        let error: String = error.to_string().chars().take(200).collect();
        Error::file(path, format!("not the JSON that was expected here ({error})"))
    };
    serde_json::from_slice::<Head>(&bytes).map_err(wrong)?;
    serde_json::from_slice(&bytes).map_err(wrong)
}

/// The bytes of a JSON file, indented.
pub fn json_bytes<T: Serialize>(path: &Path, value: &T) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)
        .map_err(|error| Error::file(path, format!("cannot be made ({error})")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The bytes of a JSON file with the version of the format in front and a checksum at its end.
pub fn sealed_json<T: Serialize>(path: &Path, value: &T) -> Result<Vec<u8>> {
    Ok(json_checksum::add(json_bytes(path, &Versioned::new(value))?))
}

/// Writes a JSON file, indented.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    write(path, &json_bytes(path, value)?)
}

/// The name of the model that was kept at an epoch.
pub fn kept_name(epoch: u64) -> String {
    format!("{KEPT}/{epoch}.safetensors")
}

/// The epochs whose models a run has kept, in order.
pub fn kept(run: &Path) -> Vec<u64> {
    let files = std::fs::read_dir(run.join(KEPT)).into_iter().flatten().flatten();
    let epoch = |name: &str| name.strip_suffix(".safetensors")?.parse().ok();
    let mut epochs: Vec<u64> = files.filter_map(|file| epoch(file.file_name().to_str()?)).collect();
    epochs.sort_unstable();
    epochs
}

/// Whether the run in a directory is finished: its `results.json`, written last, is there.
pub fn is_finished(run: &Path) -> bool {
    run.join(RESULTS).is_file()
}
