//! Scores of predictions that come from anywhere.

use numpy::{PyReadonlyArray2, PyReadonlyArray3};
use pgn_lab::{
    Counting,
    evaluate::{Prediction, score_predictions},
};
use pgn_structures::{Node, Task};
use pyo3::prelude::*;

use crate::{
    dataset::{Arrays, flat},
    error::{Error, json},
    pool,
    work::interruptible,
};

/// Scores predictions, whose shapes Python has checked, against the truth of `data`, as JSON.
///
/// The rule of counting is learned from `counting`, or from the paper's training sequences of the
/// task and seed in `rule_of`, if that task is built in.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // one per keyword of the Python function
pub fn score(
    py: Python<'_>,
    data: Arrays<'_>,
    answers: PyReadonlyArray2<'_, u8>,
    masks: Option<PyReadonlyArray3<'_, u8>>,
    pointers: Option<PyReadonlyArray3<'_, Node>>,
    counting: Option<Arrays<'_>>,
    rule_of: Option<(String, u64)>,
) -> PyResult<String> {
    let [count, ops, nodes] = data.shape()?;
    let counting = counting.map(|set| set.to_dataset()).transpose()?;
    let truth = data.to_dataset()?;
    let answers = flat("answers", &answers)?;
    let masks = masks.as_ref().map(|masks| flat("masks", masks)).transpose()?;
    let pointers = pointers.as_ref().map(|pointers| flat("pointers", pointers)).transpose()?;
    let row = ops * nodes;
    let predictions: Vec<Prediction<'_>> = (0..count)
        .map(|i| Prediction {
            answers: &answers[i * ops..][..ops],
            masks: masks.map(|all| &all[i * row..][..row]),
            pointers: pointers.map(|all| &all[i * row..][..row]),
        })
        .collect();
    let sequences: Vec<_> = truth.sequences().collect();
    let pool = pool::shared()?;
    // All on the pool: sampling elsewhere would use threads that a forked child does not have.
    let judgement = interruptible(py, &pool, |_| -> pgn_lab::Result<_> {
        let rule = match (&counting, &rule_of) {
            (Some(set), _) => Some(Counting::fit(set.sequences())),
            // For a structure that is not built in there is nothing to learn the rule from.
            (None, Some((task, seed))) => match Task::named(task) {
                Ok(task) => Some(Counting::of_seed(&task, *seed)?),
                Err(_) => None,
            },
            (None, None) => None,
        };
        score_predictions(&sequences, &predictions, rule.as_ref())
    })?;
    json(&judgement.map_err(Error::from)?)
}
