//! The files of a run directory, read and written with errors that name them.

use std::path::Path;

use pgn_structures::{Dataset, Fields, Task};
use serde::{Serialize, de::DeserializeOwned};

use crate::{Error, Result};

/// Every value of the run, resolved.
pub const CONFIG: &str = "config.toml";
/// The best weights on validation.
pub const MODEL: &str = "model.safetensors";
/// A line per evaluated epoch.
pub const METRICS: &str = "metrics.jsonl";
/// The same for TensorBoard.
pub const EVENTS: &str = "events.out.tfevents.pgn";
/// Scores per test size; a run that has it is finished.
pub const RESULTS: &str = "results.json";
/// All that a resume needs.
pub const CHECKPOINT: &str = "checkpoint.safetensors";
/// Held by the process that trains in the directory.
pub const LOCK: &str = ".lock";
/// Weights that the run begins with, if somebody gave them.
pub const INITIAL: &str = "initial.safetensors";
/// A copy of the teacher's config and model, for `pgn-ptrs`.
pub const TEACHER: &str = "teacher";

/// The bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(Error::io("read", path))
}

/// The text of a file.
pub fn read_text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(Error::io("read", path))
}

/// Writes a file whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(pgn_structures::files::atomic_write(path, bytes)?)
}

/// Makes a directory and those above it.
pub fn make_dir(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(Error::io("create", path))
}

/// Reads a JSON file.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    serde_json::from_slice(&read(path)?).map_err(|error| {
        Error::file(path, format!("not the JSON that was expected here ({error})"))
    })
}

/// Writes a JSON file, indented.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value)
        .map_err(|error| Error::file(path, format!("cannot be made ({error})")))?;
    bytes.push(b'\n');
    write(path, &bytes)
}

/// Reads a data-set file and refuses one of another task.
pub fn data_set(path: &Path, task: &Task) -> Result<Dataset> {
    let mut set = Dataset::load(path)?;
    // No model reads further fields, and they would triple the memory of a run.
    set.fields = Fields::default();
    if set.task != task.name() {
        return Err(Error::file(
            path,
            format!("its task is {}; expected {}", set.task, task.name()),
        ));
    }
    Ok(set)
}
