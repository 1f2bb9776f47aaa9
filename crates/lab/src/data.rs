//! The sequences of a run. All models at one seed see the same ones.

use std::path::Path;

use pgn_engine::{Example, InputGraph, Pointers};
use pgn_structures::{Dataset, Fields, Sampling, Split, Task};

use pgn_runs::files;

use crate::{Error, Examples, Result, RunConfig, TestConfig, streams, teacher::Teacher};

/// Training and validation sequences of a run, and the means to make its test sets.
#[derive(Debug)]
pub struct Data {
    task: Task,
    given: PointerSource,
    /// Whether the run's model reads further pointer fields.
    reads_fields: bool,
    /// Whether it reads the graph that comes with each sequence.
    reads_graphs: bool,
    train: Vec<Examples>,
    validation: Vec<Examples>,
}

/// Whose pointers the run's model is given.
#[derive(Debug)]
enum PointerSource {
    None,
    Truth,
    Teacher(Teacher),
}

impl Data {
    /// Samples or reads what `config` asks for. The teacher, if any, is the one that it names.
    pub(crate) fn new(config: &RunConfig, task: &Task) -> Result<Data> {
        let teacher = config.data.teacher.clone().unwrap_or_default();
        let mut data = Data::without_sequences(config, task, &teacher)?;
        data.train = match &config.data.train {
            Some(path) => data.of_file(path)?,
            None if config.data.transitions.is_some() => Vec::new(),
            None => data.sample(config, Split::Train, config.seed, config.data.sequences)?,
        };
        data.validation = match &config.data.validation {
            Some(path) => data.of_file(path)?,
            None => {
                let count = config.data.validation_sequences;
                data.sample(config, Split::Validation, config.seed, count)?
            }
        };
        Ok(data)
    }

    /// Without training and validation sequences, for evaluation. The teacher, if any, is the copy
    /// in `run`.
    pub fn tests_only(config: &RunConfig, task: &Task, run: &Path) -> Result<Data> {
        Data::without_sequences(config, task, &run.join(files::TEACHER))
    }

    fn without_sequences(config: &RunConfig, task: &Task, teacher: &Path) -> Result<Data> {
        let given = match (config.network.pointers, &config.data.teacher) {
            (Pointers::Given, Some(_)) => {
                let crc32c = config.data.teacher_crc32c;
                PointerSource::Teacher(Teacher::load(teacher, task.name(), crc32c)?)
            }
            (Pointers::Given, None) => PointerSource::Truth,
            _ => PointerSource::None,
        };
        let reads_fields = !config.network.pointer_types.is_empty();
        let known: Vec<&str> = task.schema().extra().map(|(_, name)| name).collect();
        let types = &config.network.pointer_types;
        if let Some(name) = types.iter().find(|name| !known.contains(&name.as_str())) {
            let (task, known) = (task.name(), known.join(", "));
            let expected = if known.is_empty() { "none: it has one pointer" } else { &known };
            return Err(Error::config(
                "network.pointer_types",
                format!(
                    "network.pointer_types names `{name}`, which is no further pointer field of \
                 `{task}`; expected {expected}"
                ),
            ));
        }
        let reads_graphs = config.network.input_graph != InputGraph::None && task.has_input_graph();
        let (train, validation) = (Vec::new(), Vec::new());
        Ok(Data { task: task.clone(), given, reads_fields, reads_graphs, train, validation })
    }

    /// The data structure.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// All training sequences, size by size.
    pub fn train(&self) -> Vec<Example<'_>> {
        self.train.iter().flat_map(Examples::examples).collect()
    }

    /// The validation sets, one for each size.
    pub fn validation(&self) -> &[Examples] {
        &self.validation
    }

    /// Replaces the training sequences by fresh ones, which depend on the run's seed and the
    /// epoch alone.
    pub(crate) fn refresh(&mut self, config: &RunConfig, epoch: u64) -> Result<()> {
        let mut rng = streams::FRESH.rng(config.seed, 0, epoch);
        let seed = u64::from(rng.next_u32()) << 32 | u64::from(rng.next_u32());
        self.train = self.sample(config, Split::Train, seed, config.data.sequences)?;
        Ok(())
    }

    /// The test sets of `test` at `seed`, one at a time, as large ones take much memory.
    pub fn tests<'a>(
        &'a self,
        test: &'a TestConfig,
        seed: u64,
    ) -> impl Iterator<Item = Result<Examples>> + 'a {
        test.nodes.iter().zip(&test.ops).map(move |(&nodes, &ops)| {
            let count = test.sequences;
            let sampling = Sampling { nodes, ops, count, seed, split: Split::Test };
            self.examples(Dataset::sample(&self.task, &sampling)?)
        })
    }

    /// A data-set file.
    pub fn file(&self, path: &Path) -> Result<Examples> {
        self.examples(data_set(path, &self.task)?)
    }

    fn of_file(&self, path: &Path) -> Result<Vec<Examples>> {
        Ok(vec![self.file(path)?])
    }

    /// A data set, with the pointers that the run's model is given on it.
    pub fn examples(&self, mut set: Dataset) -> Result<Examples> {
        if self.reads_graphs && set.edges.is_empty() {
            return Err(Error::request(format!(
                "the model reads the input graph of {}, but the data has no edges and weights",
                self.task.name()
            )));
        }
        if !self.reads_fields {
            // They would triple the memory of a run.
            set.fields = Fields::default();
        } else if set.fields.is_empty() {
            set = set.with_fields(&self.task)?;
        }
        Ok(match &self.given {
            PointerSource::None => set.into(),
            PointerSource::Truth => Examples::oracle(set),
            PointerSource::Teacher(teacher) => {
                let pointers = teacher.pointers(&set)?;
                Examples::recorded(set, pointers)
            }
        })
    }

    /// `total` sequences, divided among the sizes as evenly as can be, the first sizes first.
    fn sample(
        &self,
        config: &RunConfig,
        split: Split,
        seed: u64,
        total: usize,
    ) -> Result<Vec<Examples>> {
        let sizes = config.data.nodes.len();
        let of_size = |(index, (&nodes, &ops)): (usize, (&usize, &usize))| {
            let count = total / sizes + usize::from(index < total % sizes);
            let sampling = Sampling { nodes, ops, count, seed, split };
            self.examples(Dataset::sample(&self.task, &sampling)?)
        };
        config.data.nodes.iter().zip(&config.data.ops).enumerate().map(of_size).collect()
    }
}

/// The data sets of a file: of a CSV, one for each length of its sequences.
pub(crate) fn data_sets(path: &Path, task: &Task) -> Result<Vec<Dataset>> {
    match Dataset::is_csv(path) {
        true => Ok(Dataset::sets_from_csv(&[path], task, None, 0)?),
        false => Ok(vec![data_set(path, task)?]),
    }
}

/// Reads a data-set file and refuses one of another task; a CSV of operations stands for their set.
pub(crate) fn data_set(path: &Path, task: &Task) -> Result<Dataset> {
    if Dataset::is_csv(path) {
        return Ok(Dataset::from_csv(&[path], task, None, 0)?);
    }
    let set = Dataset::load(path)?;
    if set.task != task.name() {
        return Err(Error::file(
            path,
            format!("its task is {}; expected {}", set.task, task.name()),
        ));
    }
    Ok(set)
}
