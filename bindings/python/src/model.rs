//! A trained model and what it is asked.

use std::path::PathBuf;

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1};
use pgn_engine::Example;
use pgn_lab::{Error as LabError, Run, RunConfig, Stop, TestSets, evaluate_examples};
use pgn_structures::Task;
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
    run: Run,
}

#[pymethods]
impl Model {
    /// Loads a run directory. `task` is for runs of a structure that is a Python class.
    #[new]
    #[pyo3(signature = (run, task=None))]
    fn new(run: PathBuf, task: Option<&Bound<'_, PyAny>>) -> PyResult<Model> {
        let own = task.map(own::task).transpose()?;
        let find = |name: &str| match own {
            Some(own) if own.name() != name => Err(LabError::File {
                path: run.clone(),
                trouble: format!("its task is {name}; expected {}", own.name()),
            }),
            Some(own) => Ok(Some(own)),
            // A structure this program does not have: its model still answers.
            None => Ok(Task::named(name).ok()),
        };
        Ok(Model { run: Run::load_with(&run, find).map_err(Error::from)? })
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

    /// Scores on a data set, as JSON.
    fn evaluate(&self, py: Python<'_>, data: Arrays<'_>) -> PyResult<String> {
        let scores = self.over(py, &data, |examples| {
            evaluate_examples(self.run.model(), examples, Stop::NEVER).map_err(Error::from)
        })?;
        json(&scores)
    }

    /// Free rollouts of a data set.
    fn rollout<'py>(&self, py: Python<'py>, data: Arrays<'py>) -> PyResult<Parts<'py>> {
        let rollouts = self
            .over(py, &data, |examples| self.run.model().rollouts(examples).map_err(Error::from))?;
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
        self.check_task()?;
        let sets = TestSets { nodes, ops, count, seed };
        let pool = pool::shared()?;
        let scores = py.detach(|| pool.install(|| self.run.test(&sets, Stop::NEVER)));
        json(&scores.map_err(Error::from)?)
    }

    /// A fresh structure, one node per priority.
    fn start(&self, priorities: PyReadonlyArray1<'_, f32>) -> PyResult<State> {
        let model = self.run.model();
        let state = model.start_with(priorities.as_slice()?).map_err(Error::from)?;
        Ok(State::new(state, model.config().k))
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
        if self.run.config().data.teacher.is_some() {
            self.check_task()?;
            let set = data.to_dataset()?;
            let value = py.detach(|| {
                pool.install(|| {
                    let set = self.run.data()?.examples(set)?;
                    compute(&set.examples().collect::<Vec<_>>())
                })
            });
            return Ok(value?);
        }
        let operations = data.operations()?;
        let of = |sequence| Example::oracle(self.run.model().config(), sequence);
        let examples: Vec<_> = data.sequences(&operations)?.into_iter().map(of).collect();
        Ok(py.detach(|| pool.install(|| compute(&examples)))?)
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
    Ok(config.to_toml())
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
