//! Structures that are Python classes, and tasks made of them.
//!
//! An exception in Python code that a thread of ours called has nobody to go to: it is kept, the
//! structure shows pointers that are out of range, which ends whatever was going on with an error,
//! and the exception takes that error's place.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyReadonlyArray1};
use pgn_structures::{Feature, Node, Operation, PointerStructure, Rng, Task, Visited};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyString, PyTuple},
};

use crate::{error::Error, rng};

/// A pointer that no node can have.
const NOWHERE: Node = Node::MAX;

/// A task, and where its exceptions are if it is a Python class.
pub struct OwnTask {
    /// The task.
    pub task: Task,
    class: Option<Arc<Class>>,
}

impl OwnTask {
    /// A built-in task by its name, or a Python class.
    pub fn of(task: &Bound<'_, PyAny>) -> PyResult<OwnTask> {
        if let Ok(name) = task.cast::<PyString>() {
            return Ok(OwnTask::named(&name.to_cow()?)?);
        }
        let class = Arc::new(Class::of(task)?);
        let shared = Arc::clone(&class);
        let make = move || Own { class: Arc::clone(&shared), instance: None, nodes: 0 };
        Ok(OwnTask { task: Task::new(make), class: Some(class) })
    }

    /// A built-in task.
    pub fn named(name: &str) -> Result<OwnTask, Error> {
        Ok(OwnTask { task: Task::named(name)?, class: None })
    }

    /// The task's exception if there was one, else the outcome as it is.
    pub fn settle<T, E: Into<PyErr>>(&self, outcome: Result<T, E>) -> PyResult<T> {
        match self.class.as_ref().and_then(|class| class.exception().take()) {
            Some(exception) => Err(exception),
            None => outcome.map_err(Into::into),
        }
    }
}

/// A Python class whose instances are structures.
struct Class {
    class: Py<PyAny>,
    name: String,
    features: Vec<Feature>,
    samples: bool,
    starts: bool,
    exception: Mutex<Option<PyErr>>,
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
        let features = match class.getattr_opt("features")? {
            None => Feature::PAPER.to_vec(),
            Some(names) => {
                let names: Vec<String> = names.extract()?;
                names.iter().map(feature).collect::<PyResult<_>>()?
            }
        };
        Ok(Class {
            samples: class.hasattr("sample")?,
            starts: class.hasattr("start_from")?,
            class: class.clone().unbind(),
            name,
            features,
            exception: Mutex::new(None),
        })
    }

    fn exception(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.exception.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
}

impl Own {
    /// Runs Python code on the instance; `None` if it raised, now or earlier.
    fn with<T>(&self, run: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        let instance = self.instance.as_ref()?;
        Python::attach(|py| match run(py, instance.bind(py)) {
            Ok(value) => Some(value),
            Err(exception) => {
                self.class.exception().get_or_insert(exception);
                None
            }
        })
    }

    fn wrong(&self, what: String) -> PyErr {
        PyValueError::new_err(format!("the structure `{}` {what}", self.class.name))
    }

    /// Calls `apply`, which returns the answer and the nodes it visited.
    fn call(
        &self,
        instance: &Bound<'_, PyAny>,
        Operation { u, v }: Operation,
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
        for node in nodes {
            let node = node?;
            match node.extract::<Node>() {
                Ok(node) if (node as usize) < self.nodes => visited.insert(node),
                _ => {
                    let (found, n) = (node.repr()?, self.nodes);
                    return Err(self.wrong(format!("visited {found}; expected a node below {n}")));
                }
            }
        }
        pair.get_item(0)?.is_truthy()
    }

    /// Reads the attribute `pointers`, one number per node.
    fn read(&self, instance: &Bound<'_, PyAny>, row: &mut [Node]) -> PyResult<()> {
        let pointers = instance.getattr("pointers")?;
        let n = self.nodes;
        let wrong = |what: String| self.wrong(format!("{what}, of {n} nodes"));
        if pointers.len()? != n {
            return Err(wrong(format!("has {} pointers", pointers.len()?)));
        }
        if let Ok(array) = pointers.extract::<PyReadonlyArray1<'_, Node>>()
            && let Ok(slice) = array.as_slice()
        {
            row.copy_from_slice(slice);
        } else {
            for ((node, place), pointer) in row.iter_mut().enumerate().zip(pointers.try_iter()?) {
                let pointer = pointer?;
                // Whatever is no node at all is as wrong as one that is not there.
                *place = match pointer.extract::<Node>() {
                    Ok(pointer) => pointer,
                    Err(_) => {
                        let found = pointer.repr()?;
                        return Err(wrong(format!("made node {node} point to {found}")));
                    }
                };
            }
        }
        match row.iter().position(|&pointer| pointer as usize >= n) {
            None => Ok(()),
            Some(node) => Err(wrong(format!("made node {node} point to {}", row[node]))),
        }
    }
}

impl PointerStructure for Own {
    fn name(&self) -> &str {
        &self.class.name
    }

    fn features(&self) -> &[Feature] {
        &self.class.features
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.nodes = priorities.len();
        self.instance = Python::attach(|py| {
            match self.class.class.call1(py, (PyArray1::from_slice(py, priorities),)) {
                Ok(instance) => Some(instance),
                Err(exception) => {
                    self.class.exception().get_or_insert(exception);
                    None
                }
            }
        });
    }

    fn sample(&self, nodes: Node, rng: &mut Rng) -> Operation {
        if !self.class.samples {
            return Operation::sample(nodes, rng);
        }
        let drawn = self.with(|py, instance| {
            let lent = Bound::new(py, rng::Rng::of(rng))?;
            let (u, v) = instance.call_method1("sample", (&lent,))?.extract()?;
            *rng = lent.get().get();
            Ok(Operation { u, v })
        });
        // Refused by whoever asked.
        drawn.unwrap_or(Operation { u: NOWHERE, v: NOWHERE })
    }

    fn apply(&mut self, operation: Operation, visited: &mut Visited) -> bool {
        let answer = self.with(|_, instance| self.call(instance, operation, visited));
        if answer.is_none() {
            self.instance = None;
        }
        answer.unwrap_or(false)
    }

    fn pointer(&self, node: Node) -> Node {
        let mut row = vec![0; self.nodes];
        self.pointers(&mut row);
        row.get(node as usize).copied().unwrap_or(NOWHERE)
    }

    fn pointers(&self, row: &mut [Node]) {
        if self.with(|_, instance| self.read(instance, row)).is_none() {
            row.fill(NOWHERE);
        }
    }

    fn start_from(&mut self, pointers: &[Node]) -> bool {
        self.class.starts
            && self
                .with(|py, instance| {
                    let pointers = PyArray1::from_slice(py, pointers);
                    instance.call_method1("start_from", (pointers,)).map(drop)
                })
                .is_some()
    }
}
