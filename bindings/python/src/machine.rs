//! Machines: trained, certified, compiled and run.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use numpy::PyReadonlyArray1;
use pgn_lab::machine::MachineRun;
use pgn_machines::{Compiled, Outcome, Store, programs};
use pgn_structures::Node;
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{
    error::Error,
    machine_values::NodeValues,
    node::NodeArg,
    pool,
    program::{Declared, PythonProgram, Raised},
    work::interruptible,
};

/// A program that is a Python class, made known by its name.
#[pyclass(module = "pgn._native", frozen)]
pub struct Registered(Raised);

#[pymethods]
impl Registered {
    #[new]
    fn new(declared: Declared) -> PyResult<Registered> {
        let (program, raised) = PythonProgram::of(declared)?;
        programs::register(Arc::new(program))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Registered(raised))
    }

    /// Raises what the program's steps raised where nobody could be told, if they did.
    fn check(&self) -> PyResult<()> {
        self.0.or(Ok(()))
    }
}

/// The outcome, or what the program's steps raised meanwhile.
pub fn raised<T>(program: Option<&Registered>, outcome: PyResult<T>) -> PyResult<T> {
    match program {
        Some(program) => program.0.or(outcome),
        None => outcome,
    }
}

/// The files of a machine that comes with the package: names and contents.
#[pyfunction]
pub fn built_in_machine(name: &str) -> PyResult<Vec<(&'static str, Vec<u8>)>> {
    let files = MachineRun::built_in_files(name).map_err(Error::from)?;
    Ok(files.into_iter().map(|(name, contents)| (name, contents.to_vec())).collect())
}

/// The native half of `pgn.machines.Machine`.
#[pyclass(module = "pgn._native", frozen)]
pub struct Machine {
    run: Arc<MachineRun>,
    compiled: Option<Arc<Compiled>>,
}

#[pymethods]
impl Machine {
    /// Loads a run directory.
    #[new]
    fn new(
        py: Python<'_>,
        run: PathBuf,
        program: Option<&Bound<'_, Registered>>,
    ) -> PyResult<Machine> {
        let loaded = py.detach(|| MachineRun::load(&run));
        let loaded = loaded.map_err(|error| Error::from(error).into());
        let run = raised(program.map(Bound::get), loaded)?;
        Ok(Machine { run: Arc::new(run), compiled: None })
    }

    /// Compares the network with the program on every consistent view; writes `certificate.json`
    /// and returns it.
    fn certify(&self, py: Python<'_>, directory: PathBuf) -> PyResult<String> {
        let pool = pool::shared()?;
        let certificate = interruptible(py, &pool, |_| self.run.certify_in(&directory))?;
        let certificate = certificate.map_err(Error::from)?;
        serde_json::to_string(&certificate)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The same machine as decision trees, which its certificate allows.
    fn compile(&self, py: Python<'_>) -> PyResult<Machine> {
        let compiled = py.detach(|| self.run.compile()).map_err(Error::from)?;
        let run = Arc::clone(&self.run);
        Ok(Machine { run, compiled: Some(Arc::new(compiled)) })
    }

    /// Leaves and depth of the decision trees, if it is compiled.
    fn size(&self) -> Option<(usize, usize)> {
        self.compiled.as_ref().map(|compiled| {
            let tree = compiled.tree();
            (tree.leaves(), tree.depth())
        })
    }

    /// A memory with one node per key and, if given, a value for each, of which sums, minima or
    /// maxima are kept.
    fn start(
        &self,
        keys: PyReadonlyArray1<'_, f32>,
        values: Option<PyReadonlyArray1<'_, f64>>,
        aggregate: &str,
    ) -> PyResult<MachineMemory> {
        let signature = self.run.machine().signature();
        let store = Store::new(signature, keys.as_slice()?);
        let values = match values {
            Some(_) if signature.children.is_empty() => {
                return Err(PyValueError::new_err(format!(
                    "nodes of {} have no values",
                    signature.name
                )));
            }
            Some(values) => Some(NodeValues::new(values.as_slice()?, aggregate, store.len())?),
            None => None,
        };
        let (run, compiled) = (Arc::clone(&self.run), self.compiled.clone());
        Ok(MachineMemory { run, compiled, held: Mutex::new((store, values)) })
    }
}

/// The native half of `pgn.machines.State`.
#[pyclass(module = "pgn._native", frozen)]
pub struct MachineMemory {
    run: Arc<MachineRun>,
    compiled: Option<Arc<Compiled>>,
    held: Mutex<(Store, Option<NodeValues>)>,
}

/// How an operation ended: its kind, the answer, the node or the reason.
type Ended = (&'static str, Option<bool>, Option<Node>, Option<String>, Vec<Node>);

#[pymethods]
impl MachineMemory {
    fn apply(
        &self,
        py: Python<'_>,
        operation: &str,
        nodes: Vec<NodeArg>,
        operand: f64,
    ) -> PyResult<Ended> {
        let machine = self.run.machine();
        let wrong = |error: pgn_machines::Error| PyValueError::new_err(error.to_string());
        let operation = machine.operation(operation).map_err(wrong)?;
        let n = self.len();
        let arguments = nodes.iter().map(|node| node.get(n)).collect::<PyResult<Vec<Node>>>()?;
        if let Some(node) = arguments.iter().find(|&&node| node as usize >= n) {
            return Err(PyValueError::new_err(format!(
                "node {node} is out of range: there are {n} nodes, numbered from 0"
            )));
        }
        let (outcome, visited) = py.detach(|| {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            let (store, values) = &mut *held;
            let net = self.run.net();
            let mut policy = |view: &_| net.predict(view).unwrap_or_default();
            let outcome = match (values, &self.compiled) {
                (Some(values), compiled) => {
                    let call = (operation, &arguments[..], operand);
                    values.run(machine, compiled.as_deref(), store, call, &mut policy)
                }
                (None, Some(compiled)) => compiled.run_recording(store, operation, &arguments),
                (None, None) => machine.run(store, operation, &arguments, &mut policy),
            };
            (outcome, store.visited().nodes().to_vec())
        });
        Ok(match outcome.map_err(wrong)? {
            Outcome::Done => ("done", None, None, None, visited),
            Outcome::Answer(answer) => ("answer", Some(answer), None, None, visited),
            Outcome::Node(node) => ("node", None, node, None, visited),
            Outcome::Refused(reason) => ("refused", None, None, Some(reason), visited),
        })
    }

    fn len(&self) -> usize {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).0.len()
    }

    /// The value of a node, and what is aggregated over its splay tree with the node where it is;
    /// `None` without values.
    fn value(&self, node: NodeArg) -> PyResult<Option<(f64, f64, Option<Node>)>> {
        let node = node.get(self.len())?;
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(held.1.as_ref().and_then(|values| values.of(node)))
    }

    /// A pointer field of every node; nil as `None`.
    fn pointers(&self, field: &str) -> PyResult<Vec<Option<Node>>> {
        let names = &self.run.machine().signature().pointers;
        let Some(index) = names.iter().position(|name| name == field) else {
            return Err(PyValueError::new_err(format!(
                "there is no pointer field {field:?}; expected one of {}",
                names.join(", ")
            )));
        };
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let store = &held.0;
        Ok((0..store.len() as Node).map(|node| store.pointer(node, index)).collect())
    }
}
