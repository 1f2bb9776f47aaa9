//! What the page of `pgn serve` has, for notebooks: its player and its trained models.

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pgn_engine::Rollout;
use pgn_structures::Node;
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyBytes, PyDict},
};

use crate::dataset::{Arrays, flat};

/// The player with one recorded sequence, the first of `data`, as an HTML page.
#[pyfunction]
pub fn player(
    data: Arrays<'_>,
    task: &str,
    query_logits: PyReadonlyArray1<'_, f32>,
    mask_logits: Option<PyReadonlyArray2<'_, f32>>,
    pointers: Option<PyReadonlyArray2<'_, Node>>,
) -> PyResult<String> {
    let set = data.to_dataset()?;
    if set.count() == 0 {
        return Err(PyValueError::new_err("the data set is empty; expected a sequence"));
    }
    let rollout = Rollout {
        query_logits: flat("query_logits", &query_logits)?.to_vec(),
        mask_logits: mask_logits
            .map(|a| flat("mask_logits", &a).map(<[f32]>::to_vec))
            .transpose()?,
        pointers: pointers.map(|a| flat("pointers", &a).map(<[Node]>::to_vec)).transpose()?,
    };
    pgn_viewer::player(task, set.sequence(0), &rollout)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The trained models that come along: by name, the files of their runs.
#[pyfunction]
pub fn pretrained(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let models = PyDict::new(py);
    for (name, files) in pgn_viewer::built_in_models() {
        let run = PyDict::new(py);
        for (file, contents) in files {
            run.set_item(file, PyBytes::new(py, contents))?;
        }
        models.set_item(name, run)?;
    }
    Ok(models)
}
