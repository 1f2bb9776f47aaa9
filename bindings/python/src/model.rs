//! A trained model and what it is asked.

use std::path::PathBuf;

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1};
use pgn_engine::Example;
use pgn_lab::{
    Counting, Error as LabError, Run, RunConfig, Shape, Stop, TestScores, TestSets, Verdict,
    analysis::{BeyondCounting, Credit, PointerStudy},
    evaluate_examples, execution, rollouts, verify_all, verify_shape,
};
use pgn_structures::Task;
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use crate::{
    dataset::Arrays,
    error::Error,
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
            Some(own) if own.name() != name => Err(LabError::File {
                path: run.clone(),
                trouble: format!("its task is {name}; expected {}", own.name()),
            }),
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
        let [sequences, ops, nodes] = data.shape()?;
        let (model, config) = (self.run.model(), self.run.config());
        let scores = self.over(py, &data, |examples, stop| {
            let rule = match Task::named(&config.task) {
                Ok(task) => Some(Counting::of_seed(&task, config.seed)?),
                Err(_) => None,
            };
            let iterated = model.config().iterated().is_some();
            Ok(TestScores {
                nodes,
                ops,
                sequences,
                scores: evaluate_examples(model, examples, stop)?,
                counting_f1: rule
                    .map(|rule| rule.scores(examples.iter().map(|example| example.sequence)).f1),
                execution: iterated.then(|| execution(model, examples, stop)).transpose()?,
            })
        })?;
        json(&scores)
    }

    /// Free rollouts of a data set.
    fn rollout<'py>(&self, py: Python<'py>, data: Arrays<'py>) -> PyResult<Parts<'py>> {
        let rollouts =
            self.over(py, &data, |examples, stop| rollouts(self.run.model(), examples, stop))?;
        rollout::parts(py, rollouts, data.shape()?)
    }

    /// What the model does beyond its scores, as JSON: on a data set, or on the run's own.
    fn analyse(&self, py: Python<'_>, data: Option<Arrays<'_>>) -> PyResult<String> {
        self.check_task()?;
        let pool = pool::for_task(self.python)?;
        let Some(data) = data else {
            let analysis = interruptible(py, &pool, |_| self.run.analyse())?;
            return json(&analysis.map_err(Error::from)?);
        };
        let set = data.to_dataset()?;
        let analysis = interruptible(py, &pool, |_| -> Result<_, LabError> {
            let (model, examples) = (self.run.model(), self.run.data()?.examples(set)?);
            let pointers = match model.config().owns_pointers() {
                true => vec![PointerStudy::of(model, &examples)?],
                false => Vec::new(),
            };
            let config = self.run.config();
            Ok(pgn_lab::analysis::Analysis {
                task: config.task.clone(),
                model: config.model.clone(),
                seed: config.seed,
                epochs: config.epochs,
                departures: config.departures(),
                beyond: vec![BeyondCounting::of(model, &examples)?],
                credit: vec![Credit::of(model, &examples)?],
                pointers,
                chains: Vec::new(),
            })
        })?;
        json(&analysis.map_err(Error::from)?)
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
        let pool = pool::for_task(self.python)?;
        let verdicts = interruptible(py, &pool, |stop| -> Result<Vec<Verdict>, LabError> {
            let (model, task, stop) = (self.run.model(), self.run.task()?, Stop::when(stop));
            let mut verdicts = Vec::new();
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
        })?;
        json(&verdicts.map_err(Error::from)?)
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
        let pool = pool::for_task(self.python)?;
        let scores = interruptible(py, &pool, |stop| self.run.test(&sets, Stop::when(stop)))?;
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
    /// Computes something over all sequences of a data set, until Ctrl-C.
    fn over<T: Send>(
        &self,
        py: Python<'_>,
        data: &Arrays<'_>,
        compute: impl FnOnce(&[Example<'_>], Stop<'_>) -> Result<T, LabError> + Send,
    ) -> PyResult<T> {
        let pool = pool::for_task(self.python)?;
        let value = if self.run.config().data.teacher.is_some() {
            self.check_task()?;
            let set = data.to_dataset()?;
            interruptible(py, &pool, |stop| {
                let set = self.run.data()?.examples(set)?;
                compute(&set.examples().collect::<Vec<_>>(), Stop::when(stop))
            })?
        } else {
            let operations = data.operations()?;
            let of = |sequence| Example::oracle(self.run.model().config(), sequence);
            let examples: Vec<_> = data.sequences(&operations)?.into_iter().map(of).collect();
            interruptible(py, &pool, |stop| compute(&examples, Stop::when(stop)))?
        };
        Ok(value.map_err(Error::from)?)
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

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
