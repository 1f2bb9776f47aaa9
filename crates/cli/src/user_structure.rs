//! `--structure`: a data structure, or the program of a machine, from where the program was started.

use std::{path::Path, sync::OnceLock};

/// What `--structure` named, once it is registered.
#[derive(Clone, Debug)]
pub struct OwnStructure {
    /// What it is called, as `--task` has it.
    pub task: String,
    /// Whether it is the program of a machine.
    pub is_program: bool,
    /// Where its class is found, for people who load the run: `module:class`.
    pub class: String,
    /// What its runs say of it: the class, then what tells it from others of its name.
    pub note: String,
}

static OWN: OnceLock<OwnStructure> = OnceLock::new();

/// Makes it the task of commands that are given no other.
pub fn set(own: OwnStructure) -> anyhow::Result<()> {
    OWN.set(own).map_err(|own| anyhow::anyhow!("--structure was given twice ({})", own.class))
}

/// What `--structure` named.
pub fn get() -> Option<&'static OwnStructure> {
    OWN.get()
}

/// `--task`, else what `--structure` named.
pub fn given(task: Option<&String>) -> Option<String> {
    task.cloned().or_else(|| get().map(|own| own.task.clone()))
}

/// Refuses a run directory of another version of the class.
pub fn check_class(run: &Path) -> pgn_lab::Result<()> {
    get().map_or(Ok(()), |own| pgn_lab::check_class(run, &own.note, true))
}

/// Notes in a run directory which class the run is of.
pub fn note_class(run: &Path) -> pgn_lab::Result<()> {
    match get() {
        Some(own) if run.join(pgn_runs::files::CONFIG).is_file() => {
            pgn_lab::note_class(run, &own.note)
        }
        _ => Ok(()),
    }
}
