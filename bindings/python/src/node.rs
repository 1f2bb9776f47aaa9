//! Nodes as Python gives them: any integer.

use pgn_structures::{Node, Operation};
use pyo3::{
    Borrowed,
    exceptions::{PyOverflowError, PyValueError},
    prelude::*,
};

/// A number meant to be a node.
pub struct NodeArg(Option<Node>, String);

impl<'py> FromPyObject<'_, 'py> for NodeArg {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<NodeArg> {
        match value.extract::<Node>() {
            Ok(node) => Ok(NodeArg(Some(node), String::new())),
            Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
                Ok(NodeArg(None, value.str()?.to_string()))
            }
            Err(error) => Err(error),
        }
    }
}

impl NodeArg {
    /// The node; whether it is below `nodes` is left to the structure, unless it is not even a
    /// number that a node could have.
    pub fn get(&self, nodes: usize) -> PyResult<Node> {
        self.0.ok_or_else(|| {
            PyValueError::new_err(format!(
                "node {} is out of range: there are {nodes} nodes, numbered from 0",
                self.1
            ))
        })
    }
}

/// An operation on two of `nodes` nodes, unchecked.
pub fn operation(u: &NodeArg, v: &NodeArg, nodes: usize) -> PyResult<Operation> {
    Ok(Operation::new(u.get(nodes)?, v.get(nodes)?))
}
