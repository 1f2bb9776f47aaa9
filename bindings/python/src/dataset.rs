//! Data sets between numpy's arrays and the crates.

use std::path::PathBuf;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pgn_structures::{
    Dataset, Field, FieldRows, Fields, Node, Operation, Sampling, Sequence, Statistics,
};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use crate::{
    error::Error,
    pool, user_structure,
    work::{interruptible, until},
};

/// What Python makes its `Dataset` of: task, seed, split, the five arrays, and further ones (kinds,
/// fields), named as in files.
type Parts<'py> = (
    String,
    u64,
    &'static str,
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray3<Node>>,
    Bound<'py, PyArray2<u8>>,
    Bound<'py, PyArray3<u8>>,
    Bound<'py, PyArray3<Node>>,
    Bound<'py, PyDict>,
);

/// Moves a set's arrays to Python; only the operands, which are small, are copied.
fn parts(py: Python<'_>, set: Dataset) -> PyResult<Parts<'_>> {
    let (count, ops, nodes) = (set.count(), set.ops, set.nodes);
    let names: Vec<String> = set.fields.names().collect();
    let (of_pointers, of_bits) = names.split_at(set.fields.pointers.len());
    let fields = PyDict::new(py);
    if set.has_kinds() {
        let kinds: Vec<u8> = set.operations.iter().map(|operation| operation.kind).collect();
        fields.set_item("kinds", kinds.into_pyarray(py).reshape([count, ops])?)?;
    }
    for (name, field) in of_pointers.iter().zip(set.fields.pointers) {
        fields.set_item(name, field.values.into_pyarray(py).reshape([count, ops, nodes])?)?;
    }
    for (name, field) in of_bits.iter().zip(set.fields.bits) {
        fields.set_item(name, field.values.into_pyarray(py).reshape([count, ops, nodes])?)?;
    }
    let operands: Vec<Node> = set.operations.iter().flat_map(|op| [op.u, op.v]).collect();
    Ok((
        set.task,
        set.seed,
        set.split.name(),
        set.priorities.into_pyarray(py).reshape([count, nodes])?,
        operands.into_pyarray(py).reshape([count, ops, 2])?,
        set.answers.into_pyarray(py).reshape([count, ops])?,
        set.masks.into_pyarray(py).reshape([count, ops, nodes])?,
        set.pointers.into_pyarray(py).reshape([count, ops, nodes])?,
        fields,
    ))
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
}

impl Arrays<'_> {
    /// \[count, ops, nodes\]
    pub fn shape(&self) -> PyResult<[usize; 3]> {
        let &[count, nodes] = self.priorities.shape() else { return Err(mismatch("priorities")) };
        let ops = self.answers.shape().get(1).copied().unwrap_or(0);
        for (name, shape, expected) in [
            ("operands", self.operands.shape(), &[count, ops, 2][..]),
            ("answers", self.answers.shape(), &[count, ops]),
            ("masks", self.masks.shape(), &[count, ops, nodes]),
            ("pointers", self.pointers.shape(), &[count, ops, nodes]),
        ] {
            if shape != expected {
                return Err(mismatch(name));
            }
        }
        Ok([count, ops, nodes])
    }

    /// The operations, which numpy holds as plain numbers.
    pub fn operations(&self) -> PyResult<Vec<Operation>> {
        operations(&self.operands, self.kinds.as_ref())
    }

    /// All sequences, borrowed from the arrays and `operations`.
    pub fn sequences<'a>(&'a self, operations: &'a [Operation]) -> PyResult<Vec<Sequence<'a>>> {
        let [count, ops, n] = self.shape()?;
        let (priorities, answers) = (self.priorities.as_slice()?, self.answers.as_slice()?);
        let (masks, pointers) = (self.masks.as_slice()?, self.pointers.as_slice()?);
        Ok((0..count)
            .map(|i| Sequence {
                priorities: &priorities[i * n..][..n],
                operations: &operations[i * ops..][..ops],
                answers: &answers[i * ops..][..ops],
                masks: &masks[i * ops * n..][..ops * n],
                pointers: &pointers[i * ops * n..][..ops * n],
                // No model reads them.
                fields: FieldRows::NONE,
                edges: &[],
            })
            .collect())
    }

    /// A set with memory of its own, every value checked.
    pub fn to_dataset(&self) -> PyResult<Dataset> {
        let [_, ops, nodes] = self.shape()?;
        let set = Dataset {
            task: self.task.clone(),
            seed: self.seed,
            split: self.split.parse().map_err(Error::from)?,
            nodes,
            ops,
            priorities: self.priorities.as_slice()?.to_vec(),
            operations: self.operations()?,
            answers: self.answers.as_slice()?.to_vec(),
            masks: self.masks.as_slice()?.to_vec(),
            pointers: self.pointers.as_slice()?.to_vec(),
            fields: Fields { pointers: fields(&self.fields)?, bits: fields(&self.bits)? },
            // Python's data sets hold no input graphs.
            edges: Vec::new(),
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
    let (pairs, _) = operands.as_slice()?.as_chunks();
    let kinds = match kinds {
        None => vec![0; pairs.len()],
        Some(kinds) => kinds.as_slice()?.to_vec(),
    };
    if kinds.len() != pairs.len() {
        return Err(mismatch("kinds"));
    }
    let pairs = pairs.iter().zip(kinds);
    Ok(pairs.map(|(&[u, v], kind)| Operation::of_kind(kind, u, v)).collect())
}

/// The arrays of a dictionary, which `Dataset` has checked, as fields of these names.
fn fields<T: numpy::Element + Copy>(arrays: &Bound<'_, PyDict>) -> PyResult<Vec<Field<T>>> {
    let read = |(name, array): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let array: PyReadonlyArray3<'_, T> = array.extract()?;
        Ok(Field { name: name.extract()?, values: array.as_slice()?.to_vec() })
    };
    arrays.iter().map(read).collect()
}

fn mismatch(name: &str) -> PyErr {
    PyValueError::new_err(format!("the shape of {name} does not fit the other arrays'"))
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
        let task = until(&task, stop);
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
    let priorities = priorities.as_slice()?;
    let operations = operations(&operands, kinds.as_ref())?;
    let set = interruptible(py, &pool, |stop| {
        let task = until(&task, stop);
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
    let statistics = Statistics::of(&data.to_dataset()?);
    serde_json::to_string(&statistics).map_err(|error| PyValueError::new_err(error.to_string()))
}
