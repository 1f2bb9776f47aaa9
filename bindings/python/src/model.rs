//! A trained model and what it is asked.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pgn_lab::{
    Error as LabError, Run, RunConfig, TestSets,
    verify::{Shape, Verdict, verify_all, verify_shape},
};
use pgn_runs::Stop;
use pgn_structures::{Edge, Node, Task};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use crate::{
    dataset::{Arrays, flat},
    error::{Error, json},
    pool,
    rollout::{self, Parts},
    state::State,
    user_structure,
    work::interruptible,
};

/// The native half of `pgn.Model`.
#[pyclass(module = "pgn._native", frozen)]
pub struct Model {
    run: Run,
    /// Whether the structure is a Python class.
    python: bool,
}

#[pymethods]
impl Model {
    /// Loads a run directory. `task` is for runs of a structure that is a Python class.
    #[new]
    #[pyo3(signature = (run, task=None))]
    fn new(run: PathBuf, task: Option<&Bound<'_, PyAny>>) -> PyResult<Model> {
        let python = task.is_some_and(user_structure::is_python);
        let own = task.map(user_structure::task).transpose()?;
        let find = |name: &str| match own {
            Some(own) if own.name() != name => {
                Err(LabError::file(&run, format!("its task is {name}; expected {}", own.name())))
            }
            Some(own) => Ok(Some(own)),
            // A structure this program does not have: its model still answers.
            None => Ok(Task::named(name).ok()),
        };
        Ok(Model { run: Run::load_with(&run, find).map_err(Error::from)?, python })
    }

    /// `config.toml` as JSON.
    fn config(&self) -> PyResult<String> {
        json(self.run.config())
    }

    /// The weights by name.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let weights = PyDict::new(py);
        let parameters = self.run.model().parameters();
        for tensor in parameters.tensors() {
            let values = parameters.get(tensor.name).unwrap_or_default();
            let array: Bound<'_, PyArrayDyn<f32>> =
                PyArray1::from_slice(py, values).reshape(tensor.shape.clone())?;
            weights.set_item(tensor.name, array)?;
        }
        Ok(weights)
    }

    /// Scores on a data set, as JSON: those of a test set.
    fn evaluate(&self, py: Python<'_>, data: Arrays<'_>) -> PyResult<String> {
        let set = data.to_dataset()?;
        json(&self.work(py, |stop| self.run.evaluate(set, Stop::when(stop)))?)
    }

    /// Free rollouts of a data set.
    fn rollout<'py>(&self, py: Python<'py>, data: Arrays<'py>) -> PyResult<Parts<'py>> {
        let (set, shape) = (data.to_dataset()?, data.shape()?);
        let rollouts = self.work(py, |stop| self.run.rollouts(set, Stop::when(stop)))?;
        rollout::parts(py, rollouts, shape)
    }

    /// What the model does beyond its scores, as JSON: on a data set, or on the run's own.
    fn analyse(&self, py: Python<'_>, data: Option<Arrays<'_>>) -> PyResult<String> {
        self.check_task()?;
        let set = data.map(|data| data.to_dataset()).transpose()?;
        json(&self.work(py, |_| match set {
            Some(set) => self.run.analyse_set(set),
            None => self.run.analyse(),
        })?)
    }

    /// Every forest of up to `nodes` nodes and shapes of up to `depth` nodes, as JSON.
    fn verify(
        &self,
        py: Python<'_>,
        nodes: usize,
        depth: usize,
        pairs: u64,
        seed: u64,
    ) -> PyResult<String> {
        self.check_task()?;
        json(&self.work(py, |stop| {
            let (model, task, stop) = (self.run.model(), self.run.task()?, Stop::when(stop));
            let mut verdicts: Vec<Verdict> = Vec::new();
            for nodes in 2..=nodes {
                stop.check()?;
                verdicts.push(verify_all(model, task, nodes)?);
            }
            for shape in Shape::ALL {
                let mut nodes = 16;
                while nodes <= depth {
                    stop.check()?;
                    verdicts.push(verify_shape(model, task, shape, nodes, pairs, seed)?);
                    nodes *= 2;
                }
            }
            Ok(verdicts)
        })?)
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
        self.check_task()?;
        let sets = TestSets { nodes, ops, count, seed };
        json(&self.work(py, |stop| self.run.test(&sets, Stop::when(stop)))?)
    }

    /// A fresh structure, one node per priority, with the edges of its input graph.
    fn start(
        &self,
        priorities: PyReadonlyArray1<'_, f32>,
        edges: PyReadonlyArray2<'_, Node>,
    ) -> PyResult<State> {
        let model = self.run.model();
        let mut state = model.start_with(flat("priorities", &priorities)?).map_err(Error::from)?;
        let (edges, _) = flat("edges", &edges)?.as_chunks();
        let edges: Vec<Edge> = edges.iter().map(|&[u, v]| Edge { u, v, weight: 0.0 }).collect();
        state.set_input_graph(&edges).map_err(Error::from)?;
        Ok(State::new(state, model.config().k))
    }
}

impl Model {
    /// Does some work on threads, until Ctrl-C.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, LabError> + Send,
    ) -> PyResult<T> {
        let pool = pool::for_task(self.python)?;
        Ok(interruptible(py, &pool, work)?.map_err(Error::from)?)
    }

    /// Refuses a structure that this program does not have and that was not given.
    fn check_task(&self) -> PyResult<()> {
        match self.run.task() {
            Ok(_) => Ok(()),
            Err(_) => Err(PyValueError::new_err(format!(
                "the structure `{}` is not built in; give its class to pgn.load as task",
                self.run.config().task
            ))),
        }
    }
}

/// A config with other paths to its training and validation sets.
#[pyfunction]
pub fn with_paths(
    config: PathBuf,
    train: Option<PathBuf>,
    validation: Option<PathBuf>,
) -> PyResult<String> {
    let mut config = RunConfig::load(&config).map_err(Error::from)?;
    config.data.train = train.or(config.data.train);
    config.data.validation = validation.or(config.data.validation);
    Ok(config.file_text())
}
