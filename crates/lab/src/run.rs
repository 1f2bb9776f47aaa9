//! A loaded run: what the command line, the viewer and Python ask questions of.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use pgn_engine::{Model, Parameters};
use pgn_structures::{Dataset, Operation, Sampling, Task};

use crate::{
    Data, Error, Result, RunConfig, Step, Stop, TestConfig, TestScores,
    analysis::{Analysis, analyse_model},
    files, story,
    test::{test, test_set},
    write_rollouts,
};

/// A run with its config, its model and what it is tested on.
///
/// ```
/// # fn example() -> pgn_lab::Result<()> {
/// use pgn_lab::{Run, Stop, TestSets};
///
/// let run = Run::load("runs/dsu-pgn".as_ref())?;
/// let sizes = TestSets { nodes: Some(vec![500]), ..TestSets::default() };
/// for test in run.test(&sizes, Stop::NEVER)? {
///     println!("{}: F₁ {:.3} at n = {}", run.name(), test.scores.f1, test.nodes);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Run {
    config: RunConfig,
    model: Arc<Model>,
    /// `None` for a structure that is neither built in nor given: its model still answers.
    data: Option<Data>,
}

/// Which test sets to score a run on; whatever is `None` is as in the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestSets {
    /// Nodes per sequence, one test set for each.
    pub nodes: Option<Vec<usize>>,
    /// Operations per sequence, one number for each size; the paper's 1.5 n if only `nodes` are
    /// given.
    pub ops: Option<Vec<usize>>,
    /// Sequences in each test set.
    pub count: Option<usize>,
    /// The seed that they are drawn from.
    pub seed: Option<u64>,
}

impl Run {
    /// Loads a run directory. A structure that is not built in can be given to
    /// [`Run::load_with`].
    pub fn load(dir: &Path) -> Result<Run> {
        Run::load_with(dir, |name| Ok(Task::named(name).ok()))
    }

    /// The same, with a way to find the data structure by the name that the config has.
    pub fn load_with(dir: &Path, find: impl FnOnce(&str) -> Result<Option<Task>>) -> Result<Run> {
        let config = RunConfig::load(&dir.join(files::CONFIG))?;
        let task = find(&config.task)?;
        let path = dir.join(files::MODEL);
        if !path.exists() {
            let how = if dir.join(files::CHECKPOINT).exists() {
                "its run is not finished: start the same `pgn train` again to go on"
            } else {
                "there is no trained model here"
            };
            return Err(Error::file(&path, how));
        }
        let parameters = Parameters::load(&config.network, &path)?;
        let model = Model::from_parameters(config.network.clone(), parameters)?;
        let data = match task {
            Some(task) => Some(Data::tests_only(&config, &task, dir)?),
            None => None,
        };
        Ok(Run { config, model: Arc::new(model), data })
    }

    /// A run whose files are at hand.
    pub fn new(config: RunConfig, model: Model, task: &Task) -> Result<Run> {
        let data = Data::tests_only(&config, task, Path::new(""))?;
        Ok(Run { config, model: Arc::new(model), data: Some(data) })
    }

    /// Every setting.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The trained model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// What it is called in messages: task, model and seed.
    pub fn name(&self) -> String {
        self.config.name()
    }

    /// The means to make test sets.
    pub fn data(&self) -> Result<&Data> {
        match &self.data {
            Some(data) => Ok(data),
            // Says which structures there are.
            None => Err(Task::named(&self.config.task).err().map_or_else(
                || Error::Request(format!("the structure {} was not given", self.config.task)),
                Error::from,
            )),
        }
    }

    /// The data structure.
    pub fn task(&self) -> Result<&Task> {
        Ok(self.data()?.task())
    }

    /// The scores on test sets: the run's own unless others are asked for.
    pub fn test(&self, sets: &TestSets, stop: Stop<'_>) -> Result<Vec<TestScores>> {
        let seed = sets.seed.unwrap_or(self.config.seed);
        let sets = sets.of(&self.config.test)?;
        test(&self.model, self.data()?, &sets, (self.config.seed, seed), stop)
    }

    /// The scores on data-set files.
    pub fn test_files(&self, paths: &[PathBuf], stop: Stop<'_>) -> Result<Vec<TestScores>> {
        let data = self.data()?;
        let rule = data.counting(self.config.seed)?;
        let one = |path: &PathBuf| test_set(&self.model, &data.file(path)?, rule.as_ref(), stop);
        paths.iter().map(one).collect()
    }

    /// Rolls the model out freely on every sequence of a data-set file, and writes a rollout file.
    pub fn write_rollouts(&self, data: &Path, out: &Path) -> Result<()> {
        write_rollouts(&self.model, &self.config, &self.data()?.file(data)?, out)
    }

    /// What the model does on operations, step by step, next to the truth.
    pub fn story(&self, priorities: &[f32], operations: &[Operation]) -> Result<Vec<Step>> {
        let data = self.data()?;
        let truth =
            Dataset::from_operations(data.task(), priorities.len(), priorities, operations)?;
        story(&self.model, data.examples(truth)?.example(0))
    }

    /// What the model does beyond its scores, on the run's own test sets.
    pub fn analyse(&self) -> Result<Analysis> {
        analyse_model(&self.config, &self.model, self.data()?)
    }
}

impl TestSets {
    /// With what is not given taken from a run's own.
    pub fn of(&self, own: &TestConfig) -> Result<TestConfig> {
        let mut test = own.clone();
        if let Some(nodes) = &self.nodes {
            test.ops = nodes.iter().copied().map(Sampling::paper_ops).collect();
            test.nodes.clone_from(nodes);
        }
        if let Some(ops) = &self.ops {
            if ops.len() != test.nodes.len() {
                return Err(Error::Request(format!(
                    "ops has {} numbers; expected one for each of the {} in nodes",
                    ops.len(),
                    test.nodes.len()
                )));
            }
            test.ops.clone_from(ops);
        }
        test.sequences = self.count.unwrap_or(test.sequences);
        Ok(test)
    }
}
