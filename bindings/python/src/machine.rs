//! Machines: trained, certified, compiled and run.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
};

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pgn_lab::{
    TestSets,
    machine::{MachineRun, Mode, suggest},
};
use pgn_machines::{Compiled, Outcome, Store, Trial, programs};
use pgn_runs::Stop;
use pgn_structures::Node;
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use crate::{
    dataset::{Arrays, flat},
    error::{Error, json},
    machine_values::NodeValues,
    node::NodeArg,
    ordinary::{self, DeclaredCode, Told, Watched},
    pool,
    program::{Declared, PythonProgram, Raised},
    rollout,
    work::interruptible,
};

/// A program that is a Python class or was inferred from Python code, made known by its name.
#[pyclass(module = "pgn._native", frozen)]
pub struct Registered(Raised, Option<Watched>);

#[pymethods]
impl Registered {
    #[new]
    fn new(declared: Declared) -> PyResult<Registered> {
        let (program, raised) = PythonProgram::of(declared)?;
        programs::register(Arc::new(program))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Registered(raised, None))
    }

    /// Infers a program from ordinary code.
    #[staticmethod]
    fn infer(py: Python<'_>, code: DeclaredCode) -> PyResult<Registered> {
        Ok(Registered(Raised::default(), Some(ordinary::infer(py, code)?)))
    }

    /// What was inferred, if it was.
    fn inferred(&self) -> Option<Told> {
        self.1.as_ref().map(|one| one.told.clone())
    }

    /// Compares the code with what was inferred: how many operations were tested, and how many of
    /// them differ.
    fn compare(
        &self,
        py: Python<'_>,
        sequences: u64,
        nodes: usize,
        operations: usize,
        seed: u64,
    ) -> PyResult<(u64, u64)> {
        let trial = Trial { sequences, nodes, operations, seed };
        self.1.as_ref().map_or(Ok((0, 0)), |one| one.compare(py, trial))
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

/// The names of the machines that come with the package.
#[pyfunction]
pub fn built_in_machines() -> &'static [&'static str] {
    MachineRun::built_in_names()
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
    /// Where its program, if it is a Python class, leaves what it raises.
    program: Option<Raised>,
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
        let program = program.map(|program| program.get().0.clone());
        Ok(Machine { run: Arc::new(run), program, compiled: None })
    }

    /// Tests the program's invariants, then compares the network with the program on every
    /// consistent view; writes `certificate.json` and returns it.
    fn certify(&self, py: Python<'_>, directory: PathBuf) -> PyResult<String> {
        json(&self.work(py, |_| self.run.certify_in(&directory))?)
    }

    /// Clauses that prove its program, and what the checker has against them if they do not.
    fn suggest(&self, py: Python<'_>) -> PyResult<(Vec<String>, Option<String>)> {
        let found = self.work(py, |_| suggest(self.run.machine().shared()))?;
        Ok((found.clauses, found.refutation.map(|why| why.to_string())))
    }

    /// The machine as decision trees, which its certificate allows.
    fn compile(&self, py: Python<'_>) -> PyResult<Machine> {
        let compiled = self.work(py, |_| self.run.compile(false))?;
        let (run, program) = (Arc::clone(&self.run), self.program.clone());
        Ok(Machine { run, program, compiled: Some(Arc::new(compiled)) })
    }

    /// Leaves and depth of the decision trees, if it is compiled.
    fn size(&self) -> Option<(usize, usize)> {
        self.compiled.as_ref().map(|compiled| {
            let tree = compiled.tree();
            (tree.leaves(), tree.depth())
        })
    }

    /// `config.toml` as JSON.
    fn config(&self) -> PyResult<String> {
        json(self.run.config())
    }

    /// Carries out the operations of a data set.
    fn rollout<'py>(&self, py: Python<'py>, data: Arrays<'py>) -> PyResult<rollout::Parts<'py>> {
        let (set, shape) = (data.to_dataset()?, data.shape()?);
        let rollouts = self.work(py, |stop| {
            let executor = match &self.compiled {
                Some(compiled) => self.run.executor_of(Arc::clone(compiled)),
                None => self.run.executor(Mode::Memoised)?,
            };
            self.run.rollouts(&executor, &set, Stop::when(stop))
        })?;
        rollout::parts(py, rollouts, shape)
    }

    /// Scores on test sets, as JSON; what is not given is the run's.
    fn test(
        &self,
        py: Python<'_>,
        nodes: Option<Vec<usize>>,
        ops: Option<Vec<usize>>,
        count: Option<usize>,
        seed: Option<u64>,
    ) -> PyResult<String> {
        let sets = TestSets { nodes, ops, count, seed };
        json(&self.work(py, |stop| {
            let mode = if self.compiled.is_some() { Mode::Compiled } else { Mode::Memoised };
            self.run.task()?;
            self.run.test(&sets, mode, Stop::when(stop))
        })?)
    }

    /// Random sequences of all operations with the program as the truth, as JSON.
    fn verify(&self, py: Python<'_>, nodes: usize, count: u64, seed: u64) -> PyResult<String> {
        let mode = if self.compiled.is_some() { Mode::Compiled } else { Mode::Memoised };
        json(&self.work(py, |_| self.run.verify(nodes, count, seed, mode))?)
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
        let store = Store::new(signature, flat("keys", &keys)?);
        let values = match values {
            Some(_) if signature.children.is_empty() => {
                return Err(PyValueError::new_err(format!(
                    "nodes of {} have no values",
                    signature.name
                )));
            }
            Some(values) => {
                Some(NodeValues::new(flat("values", &values)?, aggregate, store.len())?)
            }
            None => None,
        };
        let (run, compiled) = (Arc::clone(&self.run), self.compiled.clone());
        Ok(MachineMemory { run, compiled, held: Mutex::new((store, values)) })
    }
}

impl Machine {
    /// Does some work on threads, until Ctrl-C; what the steps of a Python program raise comes
    /// first.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Arc<AtomicBool>) -> pgn_lab::Result<T> + Send,
    ) -> PyResult<T> {
        let pool = pool::for_task(self.program.is_some())?;
        let done = interruptible(py, &pool, work)?.map_err(|error| Error::from(error).into());
        self.program.as_ref().map_or_else(Raised::default, Clone::clone).or(done)
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
        let (outcome, visited) = py.detach(|| {
            let mut held = self.held();
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
        self.held().0.len()
    }

    fn copy(&self) -> MachineMemory {
        let held = Mutex::new(self.held().clone());
        MachineMemory { run: Arc::clone(&self.run), compiled: self.compiled.clone(), held }
    }

    /// The value of a node, and what is aggregated over its splay tree with the node where it is;
    /// `None` without values.
    fn value(&self, node: NodeArg) -> PyResult<Option<(f64, f64, Option<Node>)>> {
        let node = node.get(self.len())?;
        Ok(self.held().1.as_ref().and_then(|values| values.of(node)))
    }

    /// The learned pointers, nil as the node itself.
    fn pointers<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<Node>> {
        let (held, program) = (self.held(), self.run.machine().program());
        let nodes = 0..held.0.len() as Node;
        nodes.map(|node| program.node_pointer(&held.0, node)).collect::<Vec<_>>().into_pyarray(py)
    }

    /// Every pointer field by name, nil as the node itself; then every bit.
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        let (held, signature) = (self.held(), self.run.machine().signature());
        let (store, nodes) = (&held.0, 0..held.0.len() as Node);
        let (fields, bits) = (PyDict::new(py), PyDict::new(py));
        for (field, name) in signature.pointers.iter().enumerate() {
            let row = nodes.clone().map(|node| store.pointer(node, field).unwrap_or(node));
            fields.set_item(name, row.collect::<Vec<_>>().into_pyarray(py))?;
        }
        for (bit, name) in signature.bits.iter().enumerate() {
            let row = nodes.clone().map(|node| u8::from(store.bit(node, bit)));
            bits.set_item(name, row.collect::<Vec<_>>().into_pyarray(py))?;
        }
        Ok((fields, bits))
    }
}

impl MachineMemory {
    fn held(&self) -> MutexGuard<'_, (Store, Option<NodeValues>)> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
