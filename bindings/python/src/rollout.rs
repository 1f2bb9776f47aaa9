//! Rollouts between the engine and numpy's arrays.

use std::path::PathBuf;

use numpy::{
    IntoPyArray, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pgn_engine::Rollout;
use pgn_lab::rollouts::{RolloutArrays, RolloutOf};
use pgn_structures::Node;
use pyo3::prelude::*;

use crate::{dataset::flat, error::Error};

/// What Python makes its `Rollout` of: query logits, mask logits and pointers.
pub type Parts<'py> = (
    Bound<'py, PyArray2<f32>>,
    Option<Bound<'py, PyArray3<f32>>>,
    Option<Bound<'py, PyArray3<Node>>>,
);

/// The rollouts of a set of `[count, ops, nodes]` as arrays.
pub fn parts(py: Python<'_>, rollouts: Vec<Rollout>, shape: [usize; 3]) -> PyResult<Parts<'_>> {
    let [count, ops, _] = shape;
    let RolloutArrays { query_logits, mask_logits, pointers } = RolloutArrays::join(rollouts);
    let query_logits = query_logits.into_pyarray(py).reshape([count, ops])?;
    let mask_logits = mask_logits.map(|logits| logits.into_pyarray(py).reshape(shape));
    let pointers = pointers.map(|pointers| pointers.into_pyarray(py).reshape(shape));
    Ok((query_logits, mask_logits.transpose()?, pointers.transpose()?))
}

/// Writes a rollout file.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // one per attribute of the Python class
pub fn save_rollout(
    path: PathBuf,
    task: &str,
    model: &str,
    seed: u64,
    nodes: usize,
    query_logits: PyReadonlyArray2<'_, f32>,
    mask_logits: Option<PyReadonlyArray3<'_, f32>>,
    pointers: Option<PyReadonlyArray3<'_, Node>>,
) -> PyResult<()> {
    let ops = query_logits.shape()[1];
    let arrays = RolloutArrays {
        query_logits: flat("query_logits", &query_logits)?.to_vec(),
        mask_logits: mask_logits
            .map(|a| flat("mask_logits", &a).map(<[f32]>::to_vec))
            .transpose()?,
        pointers: pointers.map(|a| flat("pointers", &a).map(<[Node]>::to_vec)).transpose()?,
    };
    let of = RolloutOf { task, model, seed, ops, nodes };
    Ok(arrays.save(&of, &path).map_err(Error::from)?)
}
