//! Runs that were stopped, or are still going on: the best model so far.

use std::path::PathBuf;

use pgn_engine::Parameters;
use pgn_lab::{Checkpoint, RunConfig};
use pgn_runs::files;
use pyo3::{exceptions::PyFileNotFoundError, prelude::*, types::PyBytes};

use crate::error::{Error, json};

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
