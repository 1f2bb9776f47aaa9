//! Sweeps: what is in one, how far it is, and training one of its entries.

use std::{path::PathBuf, time::Duration};

use pgn_lab::{Checkpoint, Experiments, Queue};
use pgn_runs::{Entry, EntryState, Summary, Sweep, Work, files};
use pyo3::{
    exceptions::{PyRuntimeError, PyValueError},
    prelude::*,
};
use serde::Serialize;

use crate::{error::Error, pool, work::interruptible};

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    entry: &'a Entry,
    name: String,
    state: &'static str,
    /// Epochs in the last checkpoint, and to do in all.
    epoch: u64,
    epochs: u64,
    waits_for: Option<usize>,
}

/// The entries of a sweep, given as the text of its file, as a JSON list.
#[pyfunction]
pub fn sweep_list(py: Python<'_>, sweep: &str, out: PathBuf) -> PyResult<String> {
    let listed = py.detach(|| -> pgn_lab::Result<_> {
        let queue = queue(sweep, &out)?;
        let line = |entry: &Entry| {
            let epochs = queue.epochs(entry)?;
            let state = queue.state(entry);
            let epoch = match state {
                EntryState::Finished => epochs,
                EntryState::Running => {
                    let path = entry.directory.join(files::CHECKPOINT);
                    Checkpoint::epoch_of(&path).unwrap_or(0)
                }
                EntryState::Stopped { epoch } => epoch,
                _ => 0,
            };
            let line = Line {
                entry,
                name: entry.name(),
                state: state.name(),
                epoch,
                epochs,
                waits_for: queue.waits_for(entry).map(|teacher| teacher.index),
            };
            Ok(serde_json::json!(line))
        };
        queue.entries().iter().map(line).collect::<pgn_lab::Result<Vec<_>>>()
    });
    Ok(serde_json::Value::from(listed.map_err(Error::from)?).to_string())
}

/// Trains an entry of a sweep, or goes on with it. Returns `finished`, or `not ready` with the
/// reason: what it depends on is not finished, or another process is training it.
#[pyfunction]
pub fn sweep_run(
    py: Python<'_>,
    sweep: &str,
    out: PathBuf,
    index: usize,
    threads: usize,
    checkpoint_every: f64,
) -> PyResult<String> {
    let checkpoint_every = Duration::try_from_secs_f64(checkpoint_every).map_err(|_| {
        PyValueError::new_err(format!(
            "checkpoint_every is {checkpoint_every}; expected seconds, 0 or more"
        ))
    })?;
    let queue = queue(sweep, &out).map_err(Error::from)?;
    // The run has threads of its own; this one only waits for them.
    let pool = pool::of(Some(1))?;
    let summary = interruptible(py, &pool, |stop| {
        let work = Work {
            workers: 1,
            threads_per_run: threads,
            checkpoint_every,
            stop,
            observe: &|_, _| {},
        };
        pgn_runs::work(&queue, Some(&[index]), &work)
    })?;
    let Summary { failed, not_ready, .. } = summary.map_err(Error::from)?;
    match (failed.first(), not_ready.first()) {
        (Some((_, why)), _) => {
            let name = queue.entry(index).map_err(Error::from)?.name();
            Err(PyRuntimeError::new_err(format!("{name}: {why}")))
        }
        (None, Some((_, why))) => Ok(format!("not ready: {why}")),
        (None, None) => Ok("finished".to_owned()),
    }
}

/// Writes `runs.json` and `tables.md` from the finished runs of a sweep, and returns the tables.
#[pyfunction]
pub fn sweep_tables(py: Python<'_>, sweep: &str, out: PathBuf) -> PyResult<String> {
    let tables = py.detach(|| Ok(pgn_lab::collection::sweep_tables(&queue(sweep, &out)?)?.1));
    Ok(tables.map_err(|error: pgn_lab::Error| Error::from(error))?)
}

fn queue(sweep: &str, out: &std::path::Path) -> pgn_lab::Result<Queue> {
    Sweep::parse(sweep)?.queue(Experiments, out)
}
