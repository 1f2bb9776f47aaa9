//! Scores of predictions that come from anywhere.

use numpy::{PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pgn_lab::{Counting, Prediction, score_predictions};
use pgn_structures::{Node, Task};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{dataset::Arrays, error::Error, pool, work::interruptible};

/// Scores predictions against the truth of `data`, as JSON.
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
    let shape = [count, ops, nodes];
    let wrong = |name: &str, found: &[usize]| {
        Err(PyValueError::new_err(format!("{name} has shape {found:?}; expected {shape:?}")))
    };
    if answers.shape() != &shape[..2] {
        return Err(PyValueError::new_err(format!(
            "answers has shape {:?}; expected {:?}",
            answers.shape(),
            &shape[..2]
        )));
    }
    if let Some(masks) = &masks
        && masks.shape() != shape
    {
        return wrong("masks", masks.shape());
    }
    if let Some(pointers) = &pointers
        && pointers.shape() != shape
    {
        return wrong("pointers", pointers.shape());
    }
    let counting = counting.map(|set| set.to_dataset()).transpose()?;
    let truth = data.to_dataset()?;
    let answers = answers.as_slice()?;
    let masks = masks.as_ref().map(|masks| masks.as_slice()).transpose()?;
    let pointers = pointers.as_ref().map(|pointers| pointers.as_slice()).transpose()?;
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
    let judgement = judgement.map_err(Error::from)?;
    serde_json::to_string(&judgement).map_err(|error| PyValueError::new_err(error.to_string()))
}
