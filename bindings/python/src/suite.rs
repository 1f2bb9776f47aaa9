//! The benchmark of pointer structures: its files, and scores of predictions about them.

use std::path::{Path, PathBuf};

use numpy::{PyReadonlyArray2, PyReadonlyArray3};
use pgn_benchmark::{Entry, Predictions, Set};
use pgn_structures::Node;
use pyo3::prelude::*;

use crate::{
    dataset::flat,
    error::{Error, json},
    pool,
    work::interruptible,
};

/// All sets: task, nodes, split, file, checksum, count, ops.
#[pyfunction]
pub fn suite_sets() -> Vec<(String, usize, String, String, String, usize, usize)> {
    let one = |set: Set| {
        let (file, checksum) = (set.file(), set.checksum().unwrap_or_default().to_owned());
        let (sampling, families) = (set.sampling(), set.families().len());
        let (count, ops) = (sampling.count * families, sampling.ops);
        (set.task, set.nodes, set.split.to_string(), file, checksum, count, ops)
    };
    Set::all().into_iter().map(one).collect()
}

/// Writes the data.
#[pyfunction]
pub fn suite_make(py: Python<'_>, folder: PathBuf, tasks: Vec<String>, text: bool) -> PyResult<()> {
    let pool = pool::shared()?;
    let made = interruptible(py, &pool, |_| pgn_benchmark::make(&folder, &tasks, text, |_| ()))?;
    Ok(made.map_err(Error::from)?)
}

/// Writes a predictions file about a test set.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // one per keyword of the Python function
pub fn suite_save(
    path: PathBuf,
    task: &str,
    nodes: usize,
    answers: PyReadonlyArray2<'_, u8>,
    masks: Option<PyReadonlyArray3<'_, u8>>,
    pointers: Option<PyReadonlyArray3<'_, Node>>,
    seed: u64,
    seconds: Option<f64>,
) -> PyResult<()> {
    let masks = masks.as_ref().map(|masks| flat("masks", masks)).transpose()?;
    let pointers = pointers.as_ref().map(|pointers| flat("pointers", pointers)).transpose()?;
    let predictions = Predictions {
        set: Set::test(task, nodes).map_err(Error::from)?,
        seed,
        seconds,
        answers: flat("answers", &answers)?.to_vec(),
        masks: masks.map(<[u8]>::to_vec),
        pointers: pointers.map(<[Node]>::to_vec),
    };
    Ok(predictions.save(&path).map_err(Error::from)?)
}

/// The scores of a predictions file, as JSON.
#[pyfunction]
pub fn suite_score(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let pool = pool::shared()?;
    let record = interruptible(py, &pool, |_| pgn_benchmark::score(&path))?;
    json(&record.map_err(Error::from)?)
}

/// The leaderboard of a folder of entries, as Markdown.
#[pyfunction]
pub fn suite_table(folder: PathBuf, nodes: usize) -> PyResult<String> {
    let entries = Entry::load_all(Path::new(&folder)).map_err(Error::from)?;
    Ok(pgn_benchmark::table(&entries, nodes))
}
