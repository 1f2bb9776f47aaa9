//! A trained model and what it is asked.

use std::{path::PathBuf, sync::Arc};

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1};
use pgn_engine::Example;
use pgn_lab::{
    Data, Error as LabError, Examples, RunConfig, Stop, TestConfig, TestScores, evaluate_examples,
    evaluate_set, evaluate_streams, load_run,
};
use pgn_structures::{Sampling, Task};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use crate::{
    dataset::Arrays,
    error::Error,
    own, pool,
    rollout::{self, Parts},
    state::State,
};

/// The native half of `pgn.Model`.
#[pyclass(module = "pgn._native", frozen)]
pub struct Model {
    config: RunConfig,
    model: Arc<pgn_engine::Model>,
    task: Option<Data>,
}

#[pymethods]
impl Model {
    /// Loads a run directory. `task` is for runs of a structure that is a Python class.
    #[new]
    #[pyo3(signature = (run, task=None))]
    fn new(run: PathBuf, task: Option<&Bound<'_, PyAny>>) -> PyResult<Model> {
        let (config, model) = load_run(&run).map_err(Error::from)?;
        let task = match task {
            Some(task) => Some(own::task(task)?),
            // A structure this program does not have: its model still answers.
            None => Task::named(&config.task).ok(),
        };
        if let Some(task) = &task
            && task.name() != config.task
        {
            let error = format!("its task is {}; expected {}", config.task, task.name());
            return Err(PyValueError::new_err(format!("{}: {error}", run.display())));
        }
        let task = match task {
            Some(task) => Some(Data::tests_only(&config, &task, &run).map_err(Error::from)?),
            None => None,
        };
        Ok(Model { config, model: Arc::new(model), task })
    }

    /// `config.toml` as JSON.
    fn config(&self) -> PyResult<String> {
        json(&self.config)
    }

    /// The weights by name.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let weights = PyDict::new(py);
        let parameters = self.model.parameters();
        for tensor in parameters.tensors() {
            let values = parameters.get(tensor.name).unwrap_or_default();
            let array: Bound<'_, PyArrayDyn<f32>> =
                PyArray1::from_slice(py, values).reshape(tensor.shape.clone())?;
            weights.set_item(tensor.name, array)?;
        }
        Ok(weights)
    }

    /// Scores on a data set, as JSON.
    fn evaluate(&self, py: Python<'_>, data: Arrays<'_>) -> PyResult<String> {
        let scores = self.over(py, &data, |examples| {
            evaluate_examples(&self.model, examples, Stop::NEVER).map_err(Error::from)
        })?;
        json(&scores)
    }

    /// Free rollouts of a data set.
    fn rollout<'py>(&self, py: Python<'py>, data: Arrays<'py>) -> PyResult<Parts<'py>> {
        let rollouts =
            self.over(py, &data, |examples| self.model.rollouts(examples).map_err(Error::from))?;
        rollout::parts(py, rollouts, data.shape()?)
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
        let data = self.task()?;
        let mut test = self.config.test.clone();
        if let Some(nodes) = nodes {
            let ops = nodes.iter().copied().map(Sampling::paper_ops).collect();
            test = TestConfig { ops, nodes, ..test };
        }
        if let Some(ops) = ops {
            if ops.len() != test.nodes.len() {
                return Err(PyValueError::new_err(format!(
                    "ops has {} numbers; expected one for each of the {} in nodes",
                    ops.len(),
                    test.nodes.len()
                )));
            }
            test.ops = ops;
        }
        test.sequences = count.unwrap_or(test.sequences);
        let seed = seed.unwrap_or(self.config.seed);
        let pool = pool::shared()?;
        let scores = py.detach(|| {
            pool.install(|| -> Result<Vec<TestScores>, LabError> {
                if self.model.config().iterated().is_some() {
                    return evaluate_streams(&self.model, data.task(), &test, seed, Stop::NEVER);
                }
                let score =
                    |set: Result<Examples, LabError>| evaluate_set(&self.model, &set?, Stop::NEVER);
                data.tests(&test, seed).map(score).collect()
            })
        });
        json(&scores.map_err(Error::from)?)
    }

    /// A fresh structure, one node per priority.
    fn start(&self, priorities: PyReadonlyArray1<'_, f32>) -> PyResult<State> {
        let state = self.model.start_with(priorities.as_slice()?).map_err(Error::from)?;
        Ok(State(state, self.model.config().k))
    }
}

impl Model {
    /// Computes something over all sequences of a data set, without the interpreter's lock.
    fn over<T: Send>(
        &self,
        py: Python<'_>,
        data: &Arrays<'_>,
        compute: impl FnOnce(&[Example<'_>]) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let pool = pool::shared()?;
        if self.config.data.teacher.is_some() {
            let teacher = self.task()?;
            let set = data.to_dataset()?;
            let value = py.detach(|| {
                pool.install(|| {
                    let set = teacher.examples(set)?;
                    compute(&set.examples().collect::<Vec<_>>())
                })
            });
            return Ok(value?);
        }
        let operations = data.operations()?;
        let of = |sequence| Example::oracle(self.model.config(), sequence);
        let examples: Vec<_> = data.sequences(&operations)?.into_iter().map(of).collect();
        Ok(py.detach(|| pool.install(|| compute(&examples)))?)
    }

    fn task(&self) -> PyResult<&Data> {
        self.task.as_ref().ok_or_else(|| {
            PyValueError::new_err(format!(
                "the structure `{}` is not built in; give its class to pgn.load as task",
                self.config.task
            ))
        })
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
    Ok(config.to_toml())
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
