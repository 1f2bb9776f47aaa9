//! Nodes as Python gives them: any integer.

use pgn_structures::Node;
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
            Ok(node) => Ok(NodeArg(Some(node), node.to_string())),
            Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
                Ok(NodeArg(None, value.str()?.to_string()))
            }
            Err(error) => Err(error),
        }
    }
}

impl NodeArg {
    /// The node, which is one of `nodes`.
    pub fn get(&self, nodes: usize) -> PyResult<Node> {
        self.0.filter(|&node| (node as usize) < nodes).ok_or_else(|| {
            PyValueError::new_err(format!(
                "node {} is out of range: there are {nodes} nodes, numbered from 0",
                self.1
            ))
        })
    }
}
