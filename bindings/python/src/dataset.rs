//! Data sets between numpy's arrays and the crates.

use std::path::PathBuf;

use numpy::{
    IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArrayMethods, ndarray::Dimension,
};
use pgn_structures::{Dataset, Edge, Field, Fields, Node, Operation, Sampling, Statistics};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use crate::{
    error::{Error, json},
    pool, user_structure,
    work::interruptible,
};

/// What Python makes its `Dataset` of: task, seed, split, and the arrays, named as in files.
type Parts<'py> = (String, u64, &'static str, Bound<'py, PyDict>);

/// Moves a set's arrays to Python; only operands and edges, which are small, are copied.
fn parts(py: Python<'_>, set: Dataset) -> PyResult<Parts<'_>> {
    let (count, ops, nodes) = (set.count(), set.ops, set.nodes);
    let (pairs, of_nodes) = ([count, ops], [count, ops, nodes]);
    let names: Vec<String> = set.fields.names().collect();
    let (of_pointers, of_bits) = names.split_at(set.fields.pointers.len());
    let operands: Vec<Node> = set.operations.iter().flat_map(|op| [op.u, op.v]).collect();
    let kinds: Option<Vec<u8>> =
        set.has_kinds().then(|| set.operations.iter().map(|operation| operation.kind).collect());
    let arrays = PyDict::new(py);
    arrays.set_item("priorities", set.priorities.into_pyarray(py).reshape([count, nodes])?)?;
    arrays.set_item("operands", operands.into_pyarray(py).reshape([count, ops, 2])?)?;
    arrays.set_item("answers", set.answers.into_pyarray(py).reshape(pairs)?)?;
    arrays.set_item("masks", set.masks.into_pyarray(py).reshape(of_nodes)?)?;
    arrays.set_item("pointers", set.pointers.into_pyarray(py).reshape(of_nodes)?)?;
    if let Some(kinds) = kinds {
        arrays.set_item("kinds", kinds.into_pyarray(py).reshape(pairs)?)?;
    }
    for (name, field) in of_pointers.iter().zip(set.fields.pointers) {
        arrays.set_item(name, field.values.into_pyarray(py).reshape(of_nodes)?)?;
    }
    for (name, field) in of_bits.iter().zip(set.fields.bits) {
        arrays.set_item(name, field.values.into_pyarray(py).reshape(of_nodes)?)?;
    }
    if !set.edges.is_empty() {
        let edges = set.edges.len() / count;
        let ends: Vec<Node> = set.edges.iter().flat_map(|edge| [edge.u, edge.v]).collect();
        let weights: Vec<f32> = set.edges.iter().map(|edge| edge.weight).collect();
        arrays.set_item("edges", ends.into_pyarray(py).reshape([count, edges, 2])?)?;
        arrays.set_item("weights", weights.into_pyarray(py).reshape([count, edges])?)?;
    }
    Ok((set.task, set.seed, set.split.name(), arrays))
}

/// The values of an array, row by row. numpy's own slices of an array in Fortran's order would be
/// column by column.
pub fn flat<'a, T: numpy::Element, D: Dimension>(
    name: &str,
    array: &'a PyReadonlyArray<'_, T, D>,
) -> PyResult<&'a [T]> {
    match array.as_slice() {
        Ok(values) if array.is_c_contiguous() => Ok(values),
        _ => Err(PyValueError::new_err(format!(
            "{name} is not in C order; numpy.ascontiguousarray makes it so"
        ))),
    }
}

/// The attributes of a Python `Dataset`, borrowed.
#[derive(FromPyObject)]
pub struct Arrays<'py> {
    task: String,
    seed: u64,
    split: String,
    priorities: PyReadonlyArray2<'py, f32>,
    operands: PyReadonlyArray3<'py, Node>,
    answers: PyReadonlyArray2<'py, u8>,
    masks: PyReadonlyArray3<'py, u8>,
    pointers: PyReadonlyArray3<'py, Node>,
    fields: Bound<'py, PyDict>,
    bits: Bound<'py, PyDict>,
    kinds: Option<PyReadonlyArray2<'py, u8>>,
    edges: Option<PyReadonlyArray3<'py, Node>>,
    weights: Option<PyReadonlyArray2<'py, f32>>,
}

impl Arrays<'_> {
    /// \[count, ops, nodes\], which all arrays must fit.
    pub fn shape(&self) -> PyResult<[usize; 3]> {
        let (count, nodes) = (self.priorities.shape()[0], self.priorities.shape()[1]);
        let ops = self.answers.shape()[1];
        let edges = self.weights.as_ref().map_or(0, |weights| weights.shape()[1]);
        for (name, shape, expected) in [
            ("operands", Some(self.operands.shape()), &[count, ops, 2][..]),
            ("answers", Some(self.answers.shape()), &[count, ops]),
            ("masks", Some(self.masks.shape()), &[count, ops, nodes]),
            ("pointers", Some(self.pointers.shape()), &[count, ops, nodes]),
            ("kinds", self.kinds.as_ref().map(|kinds| kinds.shape()), &[count, ops]),
            ("edges", self.edges.as_ref().map(|edges| edges.shape()), &[count, edges, 2]),
            ("weights", self.weights.as_ref().map(|weights| weights.shape()), &[count, edges]),
        ] {
            if let Some(shape) = shape.filter(|&shape| shape != expected) {
                return Err(PyValueError::new_err(format!(
                    "{name} has shape {shape:?}; expected {expected:?}"
                )));
            }
        }
        Ok([count, ops, nodes])
    }

    /// A set with memory of its own, every value checked.
    pub fn to_dataset(&self) -> PyResult<Dataset> {
        let [_, ops, nodes] = self.shape()?;
        let edges = match (&self.edges, &self.weights) {
            (Some(edges), Some(weights)) => {
                let (ends, _) = flat("edges", edges)?.as_chunks();
                let weights = flat("weights", weights)?;
                ends.iter().zip(weights).map(|(&[u, v], &weight)| Edge { u, v, weight }).collect()
            }
            _ => Vec::new(),
        };
        let set = Dataset {
            task: self.task.clone(),
            seed: self.seed,
            split: self.split.parse().map_err(Error::from)?,
            nodes,
            ops,
            priorities: flat("priorities", &self.priorities)?.to_vec(),
            operations: operations(&self.operands, self.kinds.as_ref())?,
            answers: flat("answers", &self.answers)?.to_vec(),
            masks: flat("masks", &self.masks)?.to_vec(),
            pointers: flat("pointers", &self.pointers)?.to_vec(),
            fields: Fields { pointers: fields(&self.fields)?, bits: fields(&self.bits)? },
            edges,
        };
        set.check().map_err(Error::from)?;
        Ok(set)
    }
}

/// Operands [count, ops, 2] and kinds [count, ops], which are 0 where there are none.
fn operations(
    operands: &PyReadonlyArray3<'_, Node>,
    kinds: Option<&PyReadonlyArray2<'_, u8>>,
) -> PyResult<Vec<Operation>> {
    let (pairs, _) = flat("operands", operands)?.as_chunks();
    let kinds = match kinds {
        None => vec![0; pairs.len()],
        Some(kinds) => flat("kinds", kinds)?.to_vec(),
    };
    let pairs = pairs.iter().zip(kinds);
    Ok(pairs.map(|(&[u, v], kind)| Operation::of_kind(kind, u, v)).collect())
}

/// The arrays of a dictionary, which `Dataset` has checked, as fields of these names.
fn fields<T: numpy::Element + Copy>(arrays: &Bound<'_, PyDict>) -> PyResult<Vec<Field<T>>> {
    let read = |(name, array): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let (name, array): (String, PyReadonlyArray3<'_, T>) = (name.extract()?, array.extract()?);
        let values = flat(&name, &array)?.to_vec();
        Ok(Field { name, values })
    };
    arrays.iter().map(read).collect()
}

/// Samples sequences of a task, with all its fields or just the learned pointers.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // one per keyword of the Python function
pub fn sample<'py>(
    py: Python<'py>,
    task: &Bound<'py, PyAny>,
    nodes: usize,
    ops: Option<usize>,
    count: usize,
    seed: u64,
    split: &str,
    fields: bool,
) -> PyResult<Parts<'py>> {
    let pool = pool::for_task(user_structure::is_python(task))?;
    let task = user_structure::task(task)?;
    let split = split.parse().map_err(Error::from)?;
    let ops = ops.unwrap_or(Sampling::paper_ops(nodes));
    let sampling = Sampling { nodes, ops, count, seed, split };
    let set = interruptible(py, &pool, |stop| {
        let task = task.until(stop);
        let set = Dataset::sample(&task, &sampling)?;
        if fields { set.with_fields(&task) } else { Ok(set) }
    })?;
    parts(py, set.map_err(Error::from)?)
}

/// The ground truth of given operations.
#[pyfunction]
pub fn replay<'py>(
    py: Python<'py>,
    task: &Bound<'py, PyAny>,
    priorities: PyReadonlyArray2<'py, f32>,
    operands: PyReadonlyArray3<'py, Node>,
    kinds: Option<PyReadonlyArray2<'py, u8>>,
    seed: u64,
    fields: bool,
) -> PyResult<Parts<'py>> {
    let pool = pool::for_task(user_structure::is_python(task))?;
    let task = user_structure::task(task)?;
    let nodes = priorities.shape()[1];
    let priorities = flat("priorities", &priorities)?;
    let operations = operations(&operands, kinds.as_ref())?;
    let set = interruptible(py, &pool, |stop| {
        let task = task.until(stop);
        let set = Dataset::from_operations(&task, nodes, priorities, &operations)?;
        if fields { set.with_fields(&task) } else { Ok(set) }
    })?;
    let mut set = set.map_err(Error::from)?;
    set.seed = seed;
    parts(py, set)
}

/// The priorities of operations that come without.
#[pyfunction]
pub fn given_priorities(
    py: Python<'_>,
    nodes: usize,
    seed: u64,
) -> PyResult<Bound<'_, PyArray1<f32>>> {
    let priorities = pgn_structures::given_priorities(nodes, seed).map_err(Error::from)?;
    Ok(priorities.into_pyarray(py))
}

/// Reads a data-set file.
#[pyfunction]
pub fn load_dataset(py: Python<'_>, path: PathBuf) -> PyResult<Parts<'_>> {
    parts(py, py.detach(|| Dataset::load(path)).map_err(Error::from)?)
}

/// Writes a data-set file.
#[pyfunction]
pub fn save_dataset(py: Python<'_>, data: Arrays<'_>, path: PathBuf) -> PyResult<()> {
    let set = data.to_dataset()?;
    Ok(py.detach(|| set.save(path)).map_err(Error::from)?)
}

/// What is in a set, as JSON.
#[pyfunction]
pub fn statistics(data: Arrays<'_>) -> PyResult<String> {
    json(&Statistics::of(&data.to_dataset()?))
}
