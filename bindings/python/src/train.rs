//! Training: the run on threads of its own, while the caller's thread listens for Ctrl-C.

use std::{
    path::PathBuf,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    time::Duration,
};

use pgn_lab::{AnyConfig, Outcome, Progress, RunConfig, Session};
use pgn_runs::settings::overlay;
use pyo3::{
    exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyUserWarning, PyValueError},
    prelude::*,
    types::PyDict,
};
use toml::Table;

use crate::{
    error::{Error, json},
    machine::{Registered, raised as or_raised},
    pool, user_structure,
    work::LISTEN,
};

/// The config that these settings, a JSON object, make; as JSON.
#[pyfunction]
pub fn resolve(
    settings: &str,
    file: Option<PathBuf>,
    task: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let task = task.map(user_structure::task).transpose()?;
    let config = RunConfig::resolve_for(table(settings, file)?, task.as_ref());
    json(&config.map_err(Error::from)?)
}

/// The settings, laid over those of a config file.
fn table(settings: &str, file: Option<PathBuf>) -> PyResult<Table> {
    let settings: Table = serde_json::from_str(settings)
        .map_err(|error| PyValueError::new_err(format!("invalid run config: {error}")))?;
    let mut table = match file {
        None => Table::new(),
        Some(path) => pgn_lab::read_settings(&path).map_err(Error::from)?,
    };
    overlay(&mut table, settings);
    Ok(table)
}

/// Trains in the directory `out`, beginning with the weights in the file `initial`. `observe` is told
/// epoch, epochs, total loss, F1, best score and its epoch, all losses, how many views of how many
/// are right, and all validation scores as JSON, after every epoch. An answer
/// that is true ends the run with that epoch, and so does Ctrl-C if `ends_on_interrupt`. What
/// `observe` raises stops it, as any other Ctrl-C does: with a checkpoint, to be resumed.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // one per keyword of the Python function
pub fn train(
    py: Python<'_>,
    settings: &str,
    file: Option<PathBuf>,
    task: Option<&Bound<'_, PyAny>>,
    program: Option<&Bound<'_, Registered>>,
    initial: Option<PathBuf>,
    out: PathBuf,
    threads: Option<usize>,
    checkpoint_every: f64,
    ends_on_interrupt: bool,
    observe: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let task = task.map(user_structure::task).transpose()?;
    let program = program.map(Bound::get);
    let table = table(settings, file)?;
    let config = py.detach(|| match &task {
        Some(task) => RunConfig::resolve_for(table, Some(task)).map(AnyConfig::Model),
        None => AnyConfig::resolve(table),
    });
    let config = or_raised(program, config.map_err(|error| Error::from(error).into()))?;
    let checkpoint_every = Duration::try_from_secs_f64(checkpoint_every).map_err(|_| {
        PyValueError::new_err(format!(
            "checkpoint_every is {checkpoint_every}; expected seconds, 0 or more"
        ))
    })?;
    let pool = pool::of(threads)?;
    // Whether to train no more, and whether to leave it at that: the final test is not to be.
    let (stop, leave) = (AtomicBool::new(false), AtomicBool::new(false));
    let (tell, mut told) = channel::<Progress>();
    let (go_on, wait) = channel::<()>();
    let mut raised = None;
    let outcome = std::thread::scope(|scope| {
        let (config, out, pool, stop, leave) = (&config, &out, &pool, &stop, &leave);
        let run = move || {
            // The next epoch begins when the observer is done with this one.
            let mut observe = move |progress: &Progress| {
                if tell.send(progress.clone()).is_ok() {
                    let _ = wait.recv();
                }
            };
            let (again, initial) = (task.clone(), initial.as_deref());
            let session = Session { task, initial, checkpoint_every, stop, observe: &mut observe };
            match pool.install(|| config.train(out, session))? {
                Outcome::Stopped { .. } if !leave.load(Ordering::Relaxed) => {
                    let observe = &mut |_: &Progress| {};
                    let session = Session {
                        task: again,
                        initial: None,
                        checkpoint_every,
                        stop: leave,
                        observe,
                    };
                    pool.install(|| config.end(out, session))
                }
                outcome => Ok(outcome),
            }
        };
        let worker = scope.spawn(run);
        loop {
            let heard;
            (told, heard) = py.detach(move || {
                let heard = told.recv_timeout(LISTEN);
                (told, heard)
            });
            let enough = match &heard {
                Ok(progress) if raised.is_none() => call(observe, progress),
                Ok(_) | Err(RecvTimeoutError::Timeout) => Ok(false),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            match enough.and_then(|enough| py.check_signals().map(|()| enough)) {
                // The final test, which follows the last epoch, is not to be stopped.
                Ok(true) => match &heard {
                    Ok(progress) if progress.epoch == progress.epochs => {}
                    _ => stop.store(true, Ordering::Relaxed),
                },
                Ok(false) => {}
                Err(error) => {
                    let ends = ends_on_interrupt
                        && error.is_instance_of::<PyKeyboardInterrupt>(py)
                        && !stop.swap(true, Ordering::Relaxed);
                    if !ends {
                        raised.get_or_insert(error);
                        leave.store(true, Ordering::Relaxed);
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            }
            // After the flag is set: the epoch that was told of is then the last.
            if heard.is_ok() {
                let _ = go_on.send(());
            }
        }
        py.detach(|| worker.join())
    });
    let outcome = outcome.map_err(|_| PyRuntimeError::new_err("training ended unexpectedly"))?;
    let outcome = or_raised(program, outcome.map_err(|error| Error::from(error).into()));
    match (raised, outcome) {
        (Some(error), Ok(Outcome::Stopped { epoch }))
            if error.is_instance_of::<PyKeyboardInterrupt>(py) =>
        {
            Err(PyKeyboardInterrupt::new_err(format!(
                "stopped after epoch {epoch} of {}; to go on, train again with the same settings \
                 and the same out; pgn.load(out, unfinished=True) has the best model so far",
                config.epochs()
            )))
        }
        (Some(error), _) => Err(error),
        (None, outcome) => outcome.map(drop),
    }
}

/// Whether the observer has seen enough.
fn call(observe: &Bound<'_, PyAny>, progress: &Progress) -> PyResult<bool> {
    let &Progress { epoch, epochs, ref losses, ref evaluation, best, ref notes } = progress;
    warn(observe.py(), notes)?;
    let (best, best_epoch) = best.unzip();
    let total = losses.as_ref().map(|losses| losses.total());
    let by_name = PyDict::new(observe.py());
    for (name, loss) in losses.iter().flat_map(|losses| losses.iter()) {
        by_name.set_item(name, loss)?;
    }
    let f1 = evaluation.as_ref().and_then(|found| Some(found.validation.as_ref()?.f1));
    let views = evaluation.as_ref().and_then(|found| found.views).map(|v| (v.right, v.of));
    let scores = evaluation.as_ref().and_then(|found| found.validation.as_ref());
    let scores = scores.map(json).transpose()?;
    let told = (epoch, epochs, total, f1, best, best_epoch, by_name, views, scores);
    observe.call1(told)?.is_truthy()
}

/// Tells the user what is damaged, or not as it was, as Python's warnings.
fn warn(py: Python<'_>, notes: &[String]) -> PyResult<()> {
    let category = py.get_type::<PyUserWarning>();
    notes.iter().try_for_each(|note| {
        let text = std::ffi::CString::new(note.as_str()).unwrap_or_default();
        PyErr::warn(py, &category, &text, 1)
    })
}
