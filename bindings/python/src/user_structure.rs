//! Structures that are Python classes, and tasks made of them.
//!
//! What Python code raises travels as the cause of the structure's error, and is raised again at
//! the end ([`crate::error`]). Where the trait has no way to fail, it is kept until the next
//! operation is applied.

use std::{cell::RefCell, sync::Arc};

use numpy::{PyArray1, PyReadonlyArray1};
use pgn_structures::{
    Error as StructureError, Feature, Node, Operation, PointerStructure, Rng, Schema, Task, Visited,
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyString, PyTuple},
};

use crate::{
    error::Error,
    rng,
    structures::{DisjointSet, LinkCutTree, RootedForest},
};

/// A built-in task by its name, or a Python class. The package's own classes are the built-in
/// tasks that they are named after.
pub fn task(task: &Bound<'_, PyAny>) -> PyResult<Task> {
    if let Ok(name) = task.cast::<PyString>() {
        return Ok(Task::named(&name.to_cow()?).map_err(Error::from)?);
    }
    if let Ok(recorded) = task.cast::<Recorded>() {
        let name = recorded.get().name.clone();
        return Ok(Task::new(move || Absent(name.clone())));
    }
    let py = task.py();
    for (built_in, name) in [
        (py.get_type::<DisjointSet>(), DisjointSet::NAME),
        (py.get_type::<LinkCutTree>(), LinkCutTree::NAME),
        (py.get_type::<RootedForest>(), RootedForest::NAME),
    ] {
        if task.is(&built_in) {
            return Ok(Task::named(name).map_err(Error::from)?);
        }
    }
    let class = Arc::new(Class::of(task)?);
    Ok(Task::new(move || Own {
        class: Arc::clone(&class),
        instance: None,
        nodes: 0,
        done: 0,
        pointers: Vec::new(),
        before: Vec::new(),
        failure: RefCell::new(None),
    }))
}

/// The built-in tasks: name, and what each is in a line.
#[pyfunction]
pub fn tasks() -> Vec<(String, String)> {
    Task::all().map(|task| (task.name().to_owned(), task.summary().to_owned())).collect()
}

/// A task of which there are recorded sequences but no structure: a model learns from them, and
/// nothing can be sampled.
#[pyclass(module = "pgn._native", frozen)]
pub struct Recorded {
    #[pyo3(get)]
    name: String,
}

#[pymethods]
impl Recorded {
    #[new]
    fn new(name: String) -> Recorded {
        Recorded { name }
    }
}

/// Stands where a structure would.
struct Absent(String);

impl PointerStructure for Absent {
    fn name(&self) -> &str {
        &self.0
    }

    fn reset(&mut self, _: &[f32]) {}

    fn apply(&mut self, _: Operation, _: &mut Visited) -> pgn_structures::Result<bool> {
        let trouble = "is known by recorded sequences alone; give its class to sample others";
        Err(StructureError::structure(&self.0, trouble))
    }

    fn pointer(&self, node: Node) -> Node {
        node
    }
}

/// Whether a task runs Python code, which may itself call this package: it must not be waited for
/// on the threads that such a call needs.
pub fn is_python(task: &Bound<'_, PyAny>) -> bool {
    !task.is_instance_of::<PyString>()
}

/// A Python class whose instances are structures.
struct Class {
    class: Py<PyAny>,
    name: String,
    features: Vec<Feature>,
    schema: Schema,
    samples: bool,
    starts: bool,
}

impl Class {
    fn of(class: &Bound<'_, PyAny>) -> PyResult<Class> {
        if !class.is_callable() || !class.hasattr("apply")? {
            return Err(PyTypeError::new_err(format!(
                "task is {}; expected the name of a task or a class with a method apply(u, v)",
                class.repr()?
            )));
        }
        let name = match class.getattr_opt("name")? {
            Some(name) => name,
            None => class.getattr("__name__")?,
        };
        let name: String = name.extract()?;
        if Task::names().any(|built_in| built_in == name) {
            return Err(PyValueError::new_err(format!(
                "the structure {} is named `{name}`, as a built-in task is; choose another name",
                class.repr()?
            )));
        }
        let features = match class.getattr_opt("features")? {
            None => Feature::PAPER.to_vec(),
            Some(names) => {
                let Ok(names) = names.extract::<Vec<String>>() else {
                    return Err(PyValueError::new_err(format!(
                        "the structure `{name}` has features {}; expected a list of names",
                        names.repr()?
                    )));
                };
                if names.is_empty() {
                    return Err(PyValueError::new_err(format!(
                        "the structure `{name}` has no features; expected at least one"
                    )));
                }
                names.iter().map(feature).collect::<PyResult<_>>()?
            }
        };
        let names = |attribute| -> PyResult<Vec<String>> {
            class.getattr_opt(attribute)?.map_or(Ok(Vec::new()), |names| names.extract())
        };
        let (fields, bits) = (names("fields")?, names("bits")?);
        let pointers: Vec<&str> =
            [POINTERS].into_iter().chain(fields.iter().map(String::as_str)).collect();
        let bits: Vec<&str> = bits.iter().map(String::as_str).collect();
        Ok(Class {
            samples: class.hasattr("sample")?,
            starts: class.hasattr("start_from")?,
            class: class.clone().unbind(),
            schema: Schema::new(&pointers, &bits),
            name,
            features,
        })
    }
}

/// The attribute that holds the learned pointers, and the name of that field.
const POINTERS: &str = "pointers";

fn feature(name: &String) -> PyResult<Feature> {
    serde_json::from_value(name.as_str().into()).map_err(|_| {
        PyValueError::new_err(format!(
            "there is no feature {name}; expected priority, operated, first, second or \
             self-pointing"
        ))
    })
}

/// One instance, as a thread of ours uses it.
struct Own {
    class: Arc<Class>,
    /// `None` before the first reset and after an exception.
    instance: Option<Py<PyAny>>,
    nodes: usize,
    /// Operations since the last reset.
    done: usize,
    /// Where the nodes pointed when the instance was last used, and before its last operation.
    pointers: Vec<Node>,
    before: Vec<Node>,
    /// What was raised where nothing can be returned; ends the next operation.
    failure: RefCell<Option<PyErr>>,
}

impl Own {
    /// Runs Python code on the instance.
    fn with<T>(
        &self,
        run: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> PyResult<T> {
        match &self.instance {
            Some(instance) => Python::attach(|py| run(py, instance.bind(py))),
            None => Err(self.wrong("is used after it failed".to_owned())),
        }
    }

    fn wrong(&self, what: String) -> PyErr {
        PyValueError::new_err(format!("the structure `{}` {what}", self.class.name))
    }

    fn failed(&self, exception: PyErr) -> StructureError {
        StructureError::failed(&self.class.name, exception)
    }

    /// Keeps what was raised for the next operation; an earlier exception comes first.
    fn keep(&self, outcome: PyResult<()>) {
        if let Err(exception) = outcome {
            self.failure.borrow_mut().get_or_insert(exception);
        }
    }

    /// Calls `apply`, which returns the answer and the nodes it visited.
    fn call(
        &self,
        instance: &Bound<'_, PyAny>,
        Operation { u, v, .. }: Operation,
        visited: &mut Visited,
    ) -> PyResult<bool> {
        let returned = instance.call_method1("apply", (u, v))?;
        let expected = || -> PyResult<PyErr> {
            let found = returned.repr()?;
            Ok(self.wrong(format!("returned {found} from apply; expected (answer, visited nodes)")))
        };
        let Ok(pair) = returned.cast::<PyTuple>() else { return Err(expected()?) };
        if pair.len() != 2 {
            return Err(expected()?);
        }
        let Ok(nodes) = pair.get_item(1)?.try_iter() else { return Err(expected()?) };
        let n = self.nodes;
        for node in nodes {
            let node = node?;
            match node.extract::<Node>() {
                Ok(node) if (node as usize) < n => visited.insert(node),
                _ => {
                    let found = node.repr()?;
                    return Err(self.wrong(format!("visited {found}; expected a node below {n}")));
                }
            }
        }
        if visited.nodes().is_empty() {
            return Err(self.wrong(self.at("visited no node; expected u and v at least", u, v)));
        }
        let answer = pair.get_item(0)?;
        let number = || answer.extract::<i64>().ok().filter(|number| (0..2).contains(number));
        match answer.extract::<bool>().ok().or_else(|| number().map(|number| number == 1)) {
            Some(answer) => Ok(answer),
            None => {
                let what = format!("answered {}; expected 0 or 1", answer.repr()?);
                Err(self.wrong(self.at(&what, u, v)))
            }
        }
    }

    /// What went wrong, and in which operation.
    fn at(&self, what: &str, u: Node, v: Node) -> String {
        format!("{what} (operation {}, u = {u}, v = {v})", self.done)
    }

    /// Refuses a pointer that moved without its node being visited: no model could learn it.
    fn check_moves(&self, Operation { u, v, .. }: Operation, visited: &Visited) -> PyResult<()> {
        let pairs = self.before.iter().zip(&self.pointers);
        for (node, (before, after)) in (0..).zip(pairs) {
            if before != after && !visited.contains(node) {
                let what = format!(
                    "moved the pointer of node {node} from {before} to {after} without visiting it"
                );
                return Err(self.wrong(self.at(&what, u, v)));
            }
        }
        Ok(())
    }

    /// Reads an attribute that has one node for each node.
    fn read(&self, instance: &Bound<'_, PyAny>, attribute: &str, row: &mut [Node]) -> PyResult<()> {
        let pointers = instance.getattr(attribute)?;
        let n = row.len();
        let wrong = |what: String| self.wrong(format!("{what}, of {n} nodes"));
        let aims = |node: usize, at: &str| match attribute {
            POINTERS => wrong(format!("made node {node} point to {at}")),
            field => wrong(format!("made `{field}` of node {node} {at}")),
        };
        if pointers.len()? != n {
            return Err(wrong(format!("has {} {attribute}", pointers.len()?)));
        }
        if let Ok(array) = pointers.extract::<PyReadonlyArray1<'_, Node>>()
            && let Ok(slice) = array.as_slice()
        {
            row.copy_from_slice(slice);
        } else {
            let mut all = pointers.try_iter()?;
            for (node, place) in row.iter_mut().enumerate() {
                let Some(pointer) = all.next() else {
                    return Err(wrong(format!("has {n} {attribute} by len(), but lists {node}")));
                };
                let pointer = pointer?;
                // Whatever is no node at all is as wrong as one that is not there.
                *place = match pointer.extract::<Node>() {
                    Ok(pointer) => pointer,
                    Err(_) => return Err(aims(node, &pointer.repr()?.to_string())),
                };
            }
        }
        match row.iter().position(|&pointer| pointer as usize >= n) {
            None => Ok(()),
            Some(node) => Err(aims(node, &row[node].to_string())),
        }
    }

    /// Runs Python code on the instance, then reads the pointers.
    fn step<T>(
        &mut self,
        run: impl FnOnce(&Own, Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> PyResult<T> {
        let mut pointers = std::mem::take(&mut self.pointers);
        let outcome = self.with(|py, instance| {
            let value = run(self, py, instance)?;
            self.read(instance, POINTERS, &mut pointers)?;
            Ok(value)
        });
        self.pointers = pointers;
        if outcome.is_err() {
            self.instance = None;
        }
        outcome
    }
}

impl PointerStructure for Own {
    fn name(&self) -> &str {
        &self.class.name
    }

    fn schema(&self) -> Schema {
        self.class.schema.clone()
    }

    fn features(&self) -> &[Feature] {
        &self.class.features
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.failure.replace(None);
        self.nodes = priorities.len();
        self.done = 0;
        self.pointers = (0..self.nodes as Node).collect();
        let made = Python::attach(|py| {
            self.class.class.call1(py, (PyArray1::from_slice(py, priorities),))
        });
        let outcome = made.and_then(|instance| {
            self.instance = Some(instance);
            self.step(|_, _, _| Ok(()))?;
            match (0..).zip(&self.pointers).find(|(node, pointer)| node != *pointer) {
                None => Ok(()),
                Some((node, pointer)) => Err(self.wrong(format!(
                    "starts with node {node} pointing to {pointer}; expected every node to point \
                     to itself"
                ))),
            }
        });
        self.keep(outcome);
    }

    fn sample(&self, nodes: Node, rng: &mut Rng) -> Operation {
        // After an exception any operation will do: it is never carried out.
        if !self.class.samples || self.failure.borrow().is_some() {
            return Operation::sample(nodes, rng);
        }
        let drawn = self.with(|py, instance| {
            let lent = Bound::new(py, rng::Rng::of(rng))?;
            let (u, v) = instance.call_method1("sample", (&lent,))?.extract()?;
            *rng = lent.get().get();
            Ok(Operation::new(u, v))
        });
        drawn.unwrap_or_else(|exception| {
            self.keep(Err(exception));
            Operation::sample(nodes, rng)
        })
    }

    fn apply(
        &mut self,
        operation: Operation,
        visited: &mut Visited,
    ) -> pgn_structures::Result<bool> {
        if let Some(exception) = self.failure.take() {
            self.instance = None;
            return Err(self.failed(exception));
        }
        self.before.clone_from(&self.pointers);
        let answer = self.step(|own, _, instance| own.call(instance, operation, visited));
        let checked = answer.and_then(|answer| {
            self.check_moves(operation, visited)?;
            Ok(answer)
        });
        self.done += 1;
        checked.map_err(|exception| self.failed(exception))
    }

    fn pointer(&self, node: Node) -> Node {
        self.pointers[node as usize]
    }

    fn pointers(&self, row: &mut [Node]) {
        row.copy_from_slice(&self.pointers);
    }

    fn pointer_field(&self, field: usize, row: &mut [Node]) -> pgn_structures::Result<()> {
        let name = &self.class.schema.pointers()[field];
        let read = self.with(|_, instance| self.read(instance, name, row));
        read.map_err(|exception| self.failed(exception))
    }

    fn bit_field(&self, bit: usize, row: &mut [u8]) -> pgn_structures::Result<()> {
        let (name, n) = (&self.class.schema.bits()[bit], row.len());
        let read = self.with(|_, instance| {
            let bits = instance.getattr(name.as_str())?;
            if bits.len()? != n {
                return Err(self.wrong(format!("has {} {name}, of {n} nodes", bits.len()?)));
            }
            for (place, bit) in row.iter_mut().zip(bits.try_iter()?) {
                *place = u8::from(bit?.is_truthy()?);
            }
            Ok(())
        });
        read.map_err(|exception| self.failed(exception))
    }

    fn start_from(&mut self, pointers: &[Node]) -> bool {
        if !self.class.starts {
            return false;
        }
        let outcome = self.step(|_, py, instance| {
            let pointers = PyArray1::from_slice(py, pointers);
            instance.call_method1("start_from", (pointers,)).map(drop)
        });
        let expected = outcome.and_then(|()| match self.pointers == pointers {
            true => Ok(()),
            false => Err(self.wrong("does not have the pointers that start_from gave it".into())),
        });
        self.keep(expected);
        true
    }
}
