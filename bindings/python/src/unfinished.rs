//! Runs that were stopped, or are still going on: the best model so far.

use std::path::PathBuf;

use pgn_engine::Parameters;
use pgn_lab::{Checkpoint, Results, RunConfig, Timing, files};
use pyo3::{
    exceptions::{PyFileNotFoundError, PyValueError},
    prelude::*,
    types::PyBytes,
};

use crate::error::Error;

/// Weights as `model.safetensors` has them, epochs done, the weights' own epoch, their validation
/// scores as JSON, and seconds of training.
type BestSoFar<'py> = (Bound<'py, PyBytes>, u64, u64, Option<String>, f64);

/// The best weights so far of an unfinished run, from its checkpoint. Before the first evaluation
/// they are the latest.
#[pyfunction]
pub fn unfinished(py: Python<'_>, run: PathBuf) -> PyResult<BestSoFar<'_>> {
    let path = run.join(files::CONFIG);
    let config = RunConfig::load(&path).map_err(Error::from)?;
    let text = files::read_text(&path).map_err(Error::from)?;
    let path = run.join(files::CHECKPOINT);
    if !path.exists() {
        return Err(PyFileNotFoundError::new_err(format!(
            "{}: there is no checkpoint yet; runs write one every checkpoint_every seconds and \
             when they stop",
            path.display()
        )));
    }
    let checkpoint = Checkpoint::load(&path, &text, &Parameters::zeros(&config.network));
    let checkpoint = checkpoint.map_err(Error::from)?;
    let (parameters, epoch, validation) = match checkpoint.best {
        Some(best) => (
            best.parameters,
            best.epoch,
            best.evaluation.validation.as_ref().map(json).transpose()?,
        ),
        None => (checkpoint.learner.trainer.parameters, checkpoint.epoch, None),
    };
    let bytes = PyBytes::new(py, &parameters.to_bytes());
    Ok((bytes, checkpoint.epoch, epoch, validation, checkpoint.seconds))
}

/// The `results.json` of a run that ends before its last epoch: `validation` and `test` are scores
/// as JSON, `seconds` those of training and of testing.
#[pyfunction]
pub fn results(
    config: PathBuf,
    epochs: u64,
    best_epoch: u64,
    parameters: usize,
    validation: &str,
    test: &str,
    seconds: (f64, f64),
) -> PyResult<String> {
    let config = RunConfig::load(&config).map_err(Error::from)?;
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let results = Results {
        task: config.task.clone(),
        model: config.model.clone(),
        seed: config.seed,
        epochs,
        stopped_at: None,
        best_epoch,
        parameters,
        departures: config.departures(),
        validation: serde_json::from_str(validation).map_err(wrong)?,
        test: serde_json::from_str(test).map_err(wrong)?,
        timing: Timing {
            train_seconds: seconds.0,
            epochs_per_second: epochs as f64 / seconds.0.max(1e-9),
            test_seconds: seconds.1,
            threads: rayon::current_num_threads(),
        },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        supervision: None,
        views: None,
        files: Default::default(),
    };
    let text = serde_json::to_string_pretty(&results).map_err(wrong)?;
    Ok(text + "\n")
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
