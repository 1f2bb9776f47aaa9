//! A loaded run: what the command line, the viewer and Python ask questions of.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use pgn_engine::{Model, Parameters, Pointers, Rollout, TestLayers};
use pgn_structures::{Dataset, Edge, Operation, Sampling, Task, did_you_mean};

use pgn_runs::{Stop, files, files::is_finished};

use crate::{
    Data, Error, Examples, Result, Results, RunConfig, TestConfig, TestScores,
    analysis::{Analysis, analyse_model},
    collection::find_runs,
    data::{data_set, data_sets},
    evaluate::{Player, counting},
    machine::{MachineRun, Mode},
    results::check_model,
    rollouts::{RolloutArrays, RolloutOf, rollouts},
    story::{Step, story},
};

/// A run with its config, its model and what it is tested on.
///
/// ```
/// # fn example() -> pgn_lab::Result<()> {
/// use pgn_lab::{Run, TestSets};
/// use pgn_runs::Stop;
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
    /// The Python class of the structure, if it is one: `module:class`.
    class: Option<String>,
}

/// Notes in a run directory that its structure is a Python class. The first line of the note is
/// `module:class`; the others are fingerprints, each with a name before it.
pub fn note_class(dir: &Path, note: &str) -> Result<()> {
    Ok(files::write(&dir.join(files::STRUCTURE), note.as_bytes())?)
}

/// The Python class that a run directory's note names. What is no such name is not repeated.
fn class_of(dir: &Path) -> Result<Option<String>> {
    let path = dir.join(files::STRUCTURE);
    let note = match files::read_text(&path) {
        Err(error) if error.is_not_found() => return Ok(None),
        note => note?,
    };
    let class = note.lines().next().unwrap_or_default();
    let is_name = |c: char| c.is_alphanumeric() || "_.:<>-".contains(c);
    match class.len() <= 1000 && class.contains(':') && class.chars().all(is_name) {
        true => Ok(Some(class.to_owned())),
        false => Err(Error::file(&path, "it names no class; expected module:class")),
    }
}

/// Refuses a run directory whose note has other fingerprints, where both are known. Unless
/// `strictly`, the source may be another.
pub fn check_class(dir: &Path, note: &str, strictly: bool) -> Result<()> {
    let Ok(there) = files::read_text(&dir.join(files::STRUCTURE)) else { return Ok(()) };
    let mut lines = there.lines().zip(note.lines());
    let class = lines.next().map_or("", |(class, _)| class);
    let differ = |(there, here): &(&str, &str)| {
        there != here
            && !there.ends_with(" unknown")
            && !here.ends_with(" unknown")
            && (strictly || !here.starts_with("source "))
    };
    match lines.find(differ) {
        None => Ok(()),
        Some((_, here)) => Err(Error::request(format!(
            "{} holds a run of another version of {class} (it has other {}): choose another \
             directory, or go back to that version",
            dir.display(),
            here.split(' ').next().unwrap_or_default()
        ))),
    }
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
        pgn_machines::programs::build_in_tasks();
        Run::load_with(dir, |name| Ok(Task::named(name).ok()))
    }

    /// [`Run::load`] with a way to find the data structure by the name that the config has.
    pub fn load_with(dir: &Path, find: impl FnOnce(&str) -> Result<Option<Task>>) -> Result<Run> {
        Run::load_at(dir, None, find)
    }

    /// [`Run::load_with`], with the weights that were kept at an epoch if one is given.
    pub fn load_at(
        dir: &Path,
        epoch: Option<u64>,
        find: impl FnOnce(&str) -> Result<Option<Task>>,
    ) -> Result<Run> {
        check_is_run(dir)?;
        let config = RunConfig::load(&dir.join(files::CONFIG))?;
        let task = find(&config.task)?;
        let name = epoch.map_or(files::MODEL.to_owned(), files::kept_name);
        let path = dir.join(&name);
        if epoch.is_none() && !path.exists() {
            let how = if dir.join(files::CHECKPOINT).exists() {
                "its run is not finished: start the same `pgn train` again to resume"
            } else {
                "there is no trained model here"
            };
            return Err(Error::file(&path, how));
        }
        check_model(dir, &name)?;
        if is_finished(dir) {
            Results::load(dir)?.check_file(dir, "teacher/config.toml")?;
        }
        let parameters = Parameters::from_bytes(&config.network, &files::read(&path)?, &path)?;
        let model = Model::from_parameters(config.network.clone(), parameters)?;
        let data = match task {
            Some(task) => Some(Data::tests_only(&config, &task, dir)?),
            None => None,
        };
        let class = class_of(dir)?;
        Ok(Run { config, model: Arc::new(model), data, class })
    }

    /// A run whose files are at hand.
    pub fn new(config: RunConfig, model: Model, task: &Task) -> Result<Run> {
        let data = Data::tests_only(&config, task, Path::new(""))?;
        Ok(Run { config, model: Arc::new(model), data: Some(data), class: None })
    }

    /// Changes the number of layers in rollouts, whatever it was trained with.
    pub fn set_test_layers(&mut self, layers: TestLayers) -> Result<()> {
        self.config.network.test_layers = layers;
        let parameters = self.model.parameters().clone();
        self.model = Arc::new(Model::from_parameters(self.config.network.clone(), parameters)?);
        Ok(())
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
        match (&self.data, &self.class) {
            (Some(data), _) => Ok(data),
            (None, Some(class)) => Err(Error::request(format!(
                "the structure `{}` is the Python class {class}; give --structure {class} to the \
                 `pgn` of the Python package, or task= to `pgn.load`",
                self.config.task
            ))),
            // Says which structures there are.
            (None, None) => Err(Task::named(&self.config.task).err().map_or_else(
                || Error::request(format!("the structure {} was not given", self.config.task)),
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
        let (sets, data) = (sets.of(&self.config.test)?, self.data()?);
        Player::Model(&self.model).test(data.task(), Some(data), &sets, seed, stop)
    }

    /// The sequences of a data set, with all that the model reads on them. Of a structure that is
    /// not known, they are all that there is.
    pub fn examples(&self, set: Dataset) -> Result<Examples> {
        match (&self.data, &self.config.data.teacher) {
            (None, None) if self.config.network.pointers == Pointers::Given => {
                Ok(Examples::oracle(set))
            }
            (None, None) => Ok(set.into()),
            _ => self.data()?.examples(set),
        }
    }

    /// The scores on a data set.
    pub fn evaluate(&self, set: Dataset, stop: Stop<'_>) -> Result<TestScores> {
        let examples = self.examples(set)?;
        let data = self.data.as_ref();
        let rule = data.map(|data| counting(data.task(), examples.set.seed)).transpose()?.flatten();
        Player::Model(&self.model).score_set(&examples, rule.as_ref(), stop)
    }

    /// Free rollouts of a data set, unless told to stop.
    pub fn rollouts(&self, set: Dataset, stop: Stop<'_>) -> Result<Vec<Rollout>> {
        let examples = self.examples(set)?;
        rollouts(&self.model, &examples.examples().collect::<Vec<_>>(), stop)
    }

    /// What the model does beyond its scores, on the run's own test sets.
    pub fn analyse(&self) -> Result<Analysis> {
        analyse_model(&self.config, &self.model, self.data()?)
    }

    /// What the model does beyond its scores, on a data set.
    pub fn analyse_set(&self, set: Dataset) -> Result<Analysis> {
        let mut analysis = Analysis::empty(&self.config);
        analysis.add(&self.model, &self.examples(set)?)?;
        Ok(analysis)
    }
}

/// A run of any kind: a trained model or a machine.
pub enum AnyRun {
    /// One of the paper's models, or `pgn-exact`.
    Model(Box<Run>),
    /// A machine.
    Machine(Box<MachineRun>),
}

impl AnyRun {
    /// Loads a run directory, or the built-in machine of this name if there is no such directory.
    pub fn open(place: &Path) -> Result<AnyRun> {
        Ok(match MachineRun::is_at(place) {
            true => AnyRun::Machine(Box::new(MachineRun::open(place)?)),
            false => AnyRun::Model(Box::new(Run::load(place)?)),
        })
    }

    /// What it is called in messages: task, model and seed.
    pub fn name(&self) -> String {
        match self {
            AnyRun::Model(run) => run.name(),
            AnyRun::Machine(run) => run.name(),
        }
    }

    /// Its task, model and seed.
    pub fn key(&self) -> (&str, &str, u64) {
        match self {
            AnyRun::Model(run) => (&run.config.task, &run.config.model, run.config.seed),
            AnyRun::Machine(run) => {
                let config = run.config();
                (&config.task, &config.model, config.seed)
            }
        }
    }

    /// The data structure.
    pub fn task(&self) -> Result<Task> {
        match self {
            AnyRun::Model(run) => run.task().cloned(),
            AnyRun::Machine(run) => run.task(),
        }
    }

    /// Free rollouts of a data set. `mode` is that of a machine, here and below.
    pub fn rollouts(&self, set: Dataset, mode: Mode, stop: Stop<'_>) -> Result<Vec<Rollout>> {
        match self {
            AnyRun::Model(run) => run.rollouts(set, stop),
            AnyRun::Machine(run) => run.rollouts(&run.executor(mode)?, &set, stop),
        }
    }

    /// The scores on test sets: the run's own unless others are asked for.
    pub fn test(&self, sets: &TestSets, mode: Mode, stop: Stop<'_>) -> Result<Vec<TestScores>> {
        match self {
            AnyRun::Model(run) => run.test(sets, stop),
            AnyRun::Machine(run) => run.task().and_then(|_| run.test(sets, mode, stop)),
        }
    }

    /// The scores on data-set files, and on operations in CSV files: a set for each length of their
    /// sequences.
    pub fn test_files(
        &self,
        paths: &[PathBuf],
        mode: Mode,
        stop: Stop<'_>,
    ) -> Result<Vec<TestScores>> {
        let task = self.task()?;
        let one = |set: Dataset| match self {
            AnyRun::Model(run) => run.evaluate(set, stop),
            AnyRun::Machine(run) => run.evaluate(&set, mode, stop),
        };
        let sets: Vec<_> =
            paths.iter().map(|path| data_sets(path, &task)).collect::<Result<_>>()?;
        sets.into_iter().flatten().map(one).collect()
    }

    /// Rolls out every sequence of a data-set file, and writes a rollout file: of a machine the
    /// same bytes in every mode.
    pub fn write_rollouts(&self, data: &Path, out: &Path, mode: Mode) -> Result<()> {
        let set = data_set(data, &self.task()?)?;
        let (ops, nodes) = (set.ops, set.nodes);
        let (task, model, seed) = self.key();
        let rollouts = self.rollouts(set, mode, Stop::NEVER)?;
        RolloutArrays::join(rollouts).save(&RolloutOf { task, model, seed, ops, nodes }, out)
    }

    /// What it does on operations, step by step, next to the truth.
    pub fn story(
        &self,
        priorities: &[f32],
        operations: &[Operation],
        mode: Mode,
    ) -> Result<Vec<Step>> {
        let task = self.task()?;
        let mut truth = Dataset::from_operations(&task, priorities.len(), priorities, operations)?;
        if task.has_input_graph() {
            truth.edges = Edge::of_operations(operations);
        }
        let rollouts = self.rollouts(truth.clone(), mode, Stop::NEVER)?;
        Ok(story(truth.sequence(0), &rollouts[0]))
    }
}

/// Refuses what is not a run directory, and says what is there instead.
pub(crate) fn check_is_run(dir: &Path) -> Result<()> {
    let path = dir.join(files::CONFIG);
    if path.exists() {
        return Ok(());
    }
    let why = match dir.is_dir() {
        false => {
            let names = MachineRun::built_in_names().iter().copied();
            let name = dir.to_str().unwrap_or_default();
            // A machine of that very name is not what was asked for.
            let hint = did_you_mean(name, names.filter(|&known| known != name));
            let dir = dir.display();
            format!("there is no run directory {dir}, and no built-in machine of that name{hint}")
        }
        true => format!("{} is not a run directory; {}", dir.display(), runs_below(dir)),
    };
    Err(Error::io("read", &path)(std::io::Error::new(std::io::ErrorKind::NotFound, why)))
}

/// What to choose in place of a folder.
fn runs_below(dir: &Path) -> String {
    const SHOWN: usize = 5;
    let below = find_runs(&[dir.to_owned()]).unwrap_or_default();
    if below.is_empty() {
        return "no finished run is below it".to_owned();
    }
    let mut names: Vec<String> =
        below.iter().take(SHOWN).map(|run| run.display().to_string()).collect();
    if below.len() > SHOWN {
        names.push(format!("and {} more", below.len() - SHOWN));
    }
    format!("choose one of those below it: {}", names.join(", "))
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
                return Err(Error::request(format!(
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
