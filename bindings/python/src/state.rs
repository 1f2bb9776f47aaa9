//! A learned data structure in use, one operation at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pgn_structures::{Node, Operation};
use pyo3::{prelude::*, sync::MutexExt};

use crate::{dataset::flat, error::Error, node::NodeArg, pool};

/// Structures of up to this many nodes are computed on one thread, and need no pool.
const ONE_THREAD: usize = 512;

/// The native half of `pgn.State`. Several threads may use one: each operation waits for those
/// before it.
#[pyclass(module = "pgn._native", frozen)]
pub struct State {
    state: Mutex<pgn_engine::State>,
    /// Latent features per node.
    k: usize,
}

impl State {
    /// The native half of a state of a model with `k` latent features.
    pub fn new(state: pgn_engine::State, k: usize) -> State {
        State { state: Mutex::new(state), k }
    }

    /// The state, when no other thread uses it; the interpreter's lock is not held meanwhile.
    fn get(&self, py: Python<'_>) -> MutexGuard<'_, pgn_engine::State> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// \[n, k\], or \[0, k\] where the engine keeps none.
    fn rows<'py>(&self, py: Python<'py>, rows: &[f32]) -> PyResult<Bound<'py, PyArray2<f32>>> {
        PyArray1::from_slice(py, rows).reshape([rows.len() / self.k, self.k])
    }
}

/// Answer, logit, probability of 1, and the nodes whose pointers moved.
type Applied<'py> = (bool, f32, f32, Bound<'py, PyArray1<Node>>);

#[pymethods]
impl State {
    fn apply<'py>(&self, py: Python<'py>, u: NodeArg, v: NodeArg) -> PyResult<Applied<'py>> {
        let mut guard = self.get(py);
        let nodes = guard.nodes();
        let operation = Operation::new(u.get(nodes)?, v.get(nodes)?);
        let pool = if nodes > ONE_THREAD { Some(pool::shared()?) } else { None };
        let state = &mut *guard;
        let answer = py.detach(|| match pool {
            Some(pool) => pool.install(|| state.apply(operation)),
            None => state.apply(operation),
        });
        let answer = answer.map_err(Error::from)?;
        let changed = PyArray1::from_slice(py, answer.changed);
        Ok((answer.value(), answer.logit, answer.probability, changed))
    }

    fn nodes(&self, py: Python<'_>) -> usize {
        self.get(py).nodes()
    }

    fn steps(&self, py: Python<'_>) -> usize {
        self.get(py).processor_steps()
    }

    fn pointers<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<Node>> {
        PyArray1::from_slice(py, self.get(py).pointers())
    }

    fn set_pointers(&self, py: Python<'_>, pointers: PyReadonlyArray1<'_, Node>) -> PyResult<()> {
        Ok(self.get(py).set_pointers(flat("pointers", &pointers)?).map_err(Error::from)?)
    }

    fn mask_logits<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, self.get(py).mask_logits())
    }

    fn latents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.rows(py, self.get(py).latents())
    }

    fn encoded<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.rows(py, self.get(py).encoded())
    }

    fn attention<'py>(
        &self,
        py: Python<'py>,
        node: NodeArg,
    ) -> PyResult<Option<Bound<'py, PyArray1<f32>>>> {
        let state = self.get(py);
        let node = node.get(state.nodes())?;
        Ok(state.attention(node).map(|alpha| PyArray1::from_vec(py, alpha)))
    }

    fn copy(&self, py: Python<'_>) -> State {
        State::new(self.get(py).clone(), self.k)
    }
}
