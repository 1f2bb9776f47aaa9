//! A learned data structure in use, one operation at a time.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pgn_structures::Node;
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{error::Error, node, node::NodeArg, pool};

/// Structures of up to this many nodes are computed on one thread, and need no pool.
const ONE_THREAD: usize = 512;

/// The native half of `pgn.State`.
#[pyclass(module = "pgn._native")]
#[derive(Clone)]
pub struct State(pub pgn_engine::State, pub usize);

/// Answer, logit, probability of 1, and the nodes whose pointers moved.
type Applied<'py> = (bool, f32, f32, Bound<'py, PyArray1<Node>>);

#[pymethods]
impl State {
    fn apply<'py>(&mut self, py: Python<'py>, u: NodeArg, v: NodeArg) -> PyResult<Applied<'py>> {
        let nodes = self.0.nodes();
        let operation = node::operation(&u, &v, nodes)?;
        let pool = if nodes > ONE_THREAD { Some(pool::shared()?) } else { None };
        let state = &mut self.0;
        let answer = py.detach(|| match pool {
            Some(pool) => pool.install(|| state.apply(operation)),
            None => state.apply(operation),
        });
        let answer = answer.map_err(Error::from)?;
        let changed = PyArray1::from_slice(py, answer.changed);
        Ok((answer.value(), answer.logit, answer.probability, changed))
    }

    fn nodes(&self) -> usize {
        self.0.nodes()
    }

    fn steps(&self) -> usize {
        self.0.steps()
    }

    fn pointers<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<Node>> {
        PyArray1::from_slice(py, self.0.pointers())
    }

    fn set_pointers(&mut self, pointers: PyReadonlyArray1<'_, Node>) -> PyResult<()> {
        Ok(self.0.set_pointers(pointers.as_slice()?).map_err(Error::from)?)
    }

    fn mask_logits<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, self.0.mask_logits())
    }

    fn latents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.rows(py, self.0.latents())
    }

    fn encoded<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.rows(py, self.0.encoded())
    }

    fn attention<'py>(
        &self,
        py: Python<'py>,
        node: NodeArg,
    ) -> PyResult<Option<Bound<'py, PyArray1<f32>>>> {
        let nodes = self.0.nodes();
        let node = node.get(nodes)?;
        if node as usize >= nodes {
            return Err(PyValueError::new_err(format!(
                "node {node} is out of range: there are {nodes} nodes, numbered from 0"
            )));
        }
        Ok(self.0.attention(node).map(|alpha| PyArray1::from_vec(py, alpha)))
    }

    fn copy(&self) -> State {
        self.clone()
    }
}

impl State {
    /// \[n, k\], or \[0, k\] where the engine keeps none.
    fn rows<'py>(&self, py: Python<'py>, rows: &[f32]) -> PyResult<Bound<'py, PyArray2<f32>>> {
        PyArray1::from_slice(py, rows).reshape([rows.len() / self.1, self.1])
    }
}
