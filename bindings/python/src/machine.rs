//! Machines: trained, certified, compiled and run.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::AtomicBool,
        mpsc::{RecvTimeoutError, channel},
    },
    time::Duration,
};

use numpy::PyReadonlyArray1;
use pgn_lab::machine::{
    MachineConfig, MachineOutcome, MachineProgress, MachineRun, MachineSession, train_machine,
};
use pgn_machines::{Compiled, Outcome, Store, programs};
use pgn_structures::Node;
use pyo3::{
    exceptions::{PyRuntimeError, PyValueError},
    prelude::*,
};

use crate::{
    error::Error,
    node::NodeArg,
    pool,
    program::{Declared, PythonProgram, Raised},
    work::{LISTEN, interruptible},
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
}

fn raised<T>(program: Option<&Registered>, outcome: PyResult<T>) -> PyResult<T> {
    match program {
        Some(program) => program.0.or(outcome),
        None => outcome,
    }
}

/// Trains a machine in the directory `out`. `observe` is told step, steps, loss, right views and
/// views after every evaluated step; an answer that is true, an exception and Ctrl-C end the run
/// with a checkpoint. Returns the step after which such an answer ended it, if one did.
#[pyfunction]
pub fn train_machine_in(
    py: Python<'_>,
    settings: &str,
    out: PathBuf,
    threads: Option<usize>,
    program: Option<&Bound<'_, Registered>>,
    observe: &Bound<'_, PyAny>,
) -> PyResult<Option<u64>> {
    let program = program.map(Bound::get);
    let table: toml::Table = serde_json::from_str(settings)
        .map_err(|error| PyValueError::new_err(format!("invalid run config: {error}")))?;
    let pool = pool::of(threads)?;
    let config = py.detach(|| MachineConfig::resolve(table));
    let config = raised(program, config.map_err(|error| Error::from(error).into()))?;
    let stop = AtomicBool::new(false);
    let (tell, mut told) = channel::<MachineProgress>();
    let mut exception = None;
    let outcome = std::thread::scope(|scope| {
        let (config, out, pool, stop) = (&config, &out, &pool, &stop);
        let worker = scope.spawn(move || {
            pool.install(move || {
                let mut observe = move |progress: MachineProgress| {
                    let _ = tell.send(progress);
                };
                let checkpoint_every = Duration::from_secs(30);
                let session = MachineSession { checkpoint_every, stop, observe: &mut observe };
                train_machine(config, out, session)
            })
        });
        loop {
            let heard;
            (told, heard) = py.detach(move || {
                let heard = told.recv_timeout(LISTEN);
                (told, heard)
            });
            let enough = match heard {
                Ok(MachineProgress { step, steps, losses, right, of }) if exception.is_none() => {
                    let told = observe.call1((step, steps, losses.total, right, of));
                    told.and_then(|answer| answer.is_truthy())
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => Ok(false),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            match enough.and_then(|enough| py.check_signals().map(|()| enough)) {
                Ok(false) => {}
                Ok(true) => stop.store(true, std::sync::atomic::Ordering::Relaxed),
                Err(error) => {
                    exception.get_or_insert(error);
                    stop.store(true, std::sync::atomic::Ordering::Relaxed);
                }
            }
        }
        py.detach(|| worker.join())
    });
    let outcome = outcome.map_err(|_| PyRuntimeError::new_err("training ended unexpectedly"))?;
    let outcome = raised(program, outcome.map_err(|error| Error::from(error).into()))?;
    match (exception, outcome) {
        (Some(error), _) => Err(error),
        (None, MachineOutcome::Stopped { step }) => Ok(Some(step)),
        (None, _) => Ok(None),
    }
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

    /// A memory with one node per key.
    fn start(&self, keys: PyReadonlyArray1<'_, f32>) -> PyResult<MachineMemory> {
        let store = Store::new(self.run.machine().signature(), keys.as_slice()?);
        let (run, compiled) = (Arc::clone(&self.run), self.compiled.clone());
        Ok(MachineMemory { run, compiled, store: Mutex::new(store) })
    }
}

/// The native half of `pgn.machines.State`.
#[pyclass(module = "pgn._native", frozen)]
pub struct MachineMemory {
    run: Arc<MachineRun>,
    compiled: Option<Arc<Compiled>>,
    store: Mutex<Store>,
}

/// How an operation ended: its kind, the answer, the node or the reason.
type Ended = (&'static str, Option<bool>, Option<Node>, Option<String>, Vec<Node>);

#[pymethods]
impl MachineMemory {
    fn apply(&self, py: Python<'_>, operation: &str, nodes: Vec<NodeArg>) -> PyResult<Ended> {
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
            let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
            let outcome = match &self.compiled {
                Some(compiled) => compiled.run_recording(&mut store, operation, &arguments),
                None => {
                    let net = self.run.net();
                    let mut policy = |view: &_| net.predict(view).unwrap_or_default();
                    machine.run(&mut store, operation, &arguments, &mut policy)
                }
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
        self.store.lock().unwrap_or_else(PoisonError::into_inner).len()
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
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((0..store.len() as Node).map(|node| store.pointer(node, index)).collect())
    }
}
