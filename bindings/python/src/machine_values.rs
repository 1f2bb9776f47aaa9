//! Values of a machine's nodes: double-precision numbers, of which sums, minima or maxima are kept.

use pgn_machines::{
    Action, Aggregates, Arithmetic, At, Compiled, Machine, Outcome, Result, Store, View,
};
use pgn_structures::{Max, Min, Node, Sum};
use pyo3::{exceptions::PyValueError, prelude::*};

/// A value per node, and an aggregate of one kind.
#[derive(Clone)]
pub enum NodeValues {
    Sum(Aggregates<Sum<f64>>),
    Min(Aggregates<Min<At<f64>>>),
    Max(Aggregates<Max<At<f64>>>),
}

/// A value where it is.
fn placed(values: &[f64]) -> impl Iterator<Item = At<f64>> {
    (0..).zip(values).map(|(node, &value)| At { value, node })
}

impl NodeValues {
    /// Values of so many nodes.
    pub fn new(values: &[f64], aggregate: &str, nodes: usize) -> PyResult<NodeValues> {
        if values.len() != nodes {
            return Err(PyValueError::new_err(format!(
                "there are {} values; expected one for each of {nodes} nodes",
                values.len()
            )));
        }
        let nowhere = At { value: 0.0, node: Node::MAX };
        Ok(match aggregate {
            "sum" => {
                let values = values.iter().map(|&value| Sum(value)).collect();
                NodeValues::Sum(Aggregates::new(values, Sum(0.0)))
            }
            "min" => {
                NodeValues::Min(Aggregates::new(placed(values).map(Min).collect(), Min(nowhere)))
            }
            "max" => {
                NodeValues::Max(Aggregates::new(placed(values).map(Max).collect(), Max(nowhere)))
            }
            other => {
                return Err(PyValueError::new_err(format!(
                    "aggregate is {other:?}; expected 'sum', 'min' or 'max'"
                )));
            }
        })
    }

    /// Carries out an operation: its number, its nodes and its operand.
    pub fn run(
        &mut self,
        machine: &Machine,
        compiled: Option<&Compiled>,
        store: &mut Store,
        (operation, nodes, operand): (usize, &[Node], f64),
        policy: &mut impl FnMut(&View) -> Action,
    ) -> Result<Outcome> {
        let place = nodes.first().copied().unwrap_or(Node::MAX);
        let at = At { value: operand, node: place };
        let call = (operation, nodes);
        match self {
            NodeValues::Sum(values) => {
                values.set_operand(Sum(operand));
                run_with(values, machine, compiled, store, call, policy)
            }
            NodeValues::Min(values) => {
                values.set_operand(Min(at));
                run_with(values, machine, compiled, store, call, policy)
            }
            NodeValues::Max(values) => {
                values.set_operand(Max(at));
                run_with(values, machine, compiled, store, call, policy)
            }
        }
    }

    /// The value of a node, if it exists, the aggregate below it, and the node where that is.
    pub fn of(&self, node: Node) -> Option<(f64, f64, Option<Node>)> {
        Some(match self {
            NodeValues::Sum(values) => (values.value(node)?.0, values.aggregate(node)?.0, None),
            NodeValues::Min(values) => {
                let Min(found) = values.aggregate(node)?;
                (values.value(node)?.0.value, found.value, Some(found.node))
            }
            NodeValues::Max(values) => {
                let Max(found) = values.aggregate(node)?;
                (values.value(node)?.0.value, found.value, Some(found.node))
            }
        })
    }
}

fn run_with<A: Arithmetic>(
    values: &mut Aggregates<A>,
    machine: &Machine,
    compiled: Option<&Compiled>,
    store: &mut Store,
    (operation, nodes): (usize, &[Node]),
    policy: &mut impl FnMut(&View) -> Action,
) -> Result<Outcome> {
    match compiled {
        Some(compiled) => compiled.run_with(store, values, operation, nodes),
        None => machine.run_with(store, values, operation, nodes, policy),
    }
}
