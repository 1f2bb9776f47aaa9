//! The config of a run: every value that its outcome depends on, and nothing else.
//!
//! Defaults are the paper's protocol (section 4). A user's settings come as a TOML table, from a
//! file, from flags or both; [`RunConfig::resolve`] lays them over the defaults, and what comes
//! out is written to `config.toml` whole, so that a run can be repeated from it alone.

use std::{collections::BTreeMap, path::Path};

use pgn_engine::{Config, PointerSource, Pointers, Preset};
use pgn_structures::{Sampling, Task};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::{
    DataConfig, Decay, Error, FormatVersion, Result, TestConfig, Transitions, files,
    format::versioned, overlay, settings,
};

/// All that determines a run. The number of threads is not in here: it changes nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Of the file that it was read from.
    #[serde(default, skip_serializing)]
    pub format_version: FormatVersion,
    /// The data structure to imitate: `dsu`, `lct`, or a user's own.
    pub task: String,
    /// The preset the network started from: `pgn`, `gnn`, ...
    pub model: String,
    /// Where data, initial weights, batches and noise are drawn from.
    pub seed: u64,
    /// Passes over the training set.
    pub epochs: u64,
    /// Adam's learning rate, in the first epoch at least.
    pub learning_rate: f64,
    /// How it falls.
    pub decay: Decay,
    /// What is left of it in the last epoch, as a fraction; of no effect where it is constant.
    pub final_fraction: f64,
    /// The norm that gradients are clipped to; 0 for no clipping.
    pub clip: f64,
    /// Sequences per Adam step.
    pub batch: usize,
    /// Epochs from one evaluation on the validation set to the next.
    pub evaluate_every: u64,
    /// For models that aim their own pointers in training: the probability that an operation is
    /// teacher-forced, in the first epoch at least.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub teacher_probability: f64,
    /// The same in the last epoch, where it changes; linear in between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_teacher_probability: Option<f64>,
    /// What is trained on.
    pub data: DataConfig,
    /// What is tested on at the end.
    pub test: TestConfig,
    /// The network, as the engine has it.
    pub network: Config,
}

impl RunConfig {
    /// What is not set: the paper's protocol for one of its models.
    ///
    /// ```
    /// let config = pgn_lab::RunConfig::defaults("dsu", "pgn", 0)?;
    /// assert_eq!((config.epochs, config.learning_rate, config.batch), (5000, 0.005, 70));
    /// assert_eq!(config.test.nodes, [20, 50, 100, 200]);
    /// # Ok::<(), pgn_lab::Error>(())
    /// ```
    ///
    /// For [`Config::EXACT`], which the paper does not have: 1,500 Adam steps on 64 transitions
    /// each, n = 20.
    pub fn defaults(task: &str, model: &str, seed: u64) -> Result<RunConfig> {
        let mut config = RunConfig::of_the_paper(task, model, seed)?;
        if config.network.iterated().is_some() {
            config.epochs = 1500;
            config.learning_rate = 0.003;
            config.decay = Decay::Cosine;
            config.batch = 64;
            config.evaluate_every = 50;
            config.data.sequences = 64;
            config.data.transitions = Some(Transitions { forests: 0.5, depth: 1.0 });
        }
        Ok(config)
    }

    fn of_the_paper(task: &str, model: &str, seed: u64) -> Result<RunConfig> {
        let test_nodes = vec![20, 50, 100, 200];
        Ok(RunConfig {
            format_version: FormatVersion,
            task: task.to_owned(),
            model: model.to_owned(),
            seed,
            epochs: 5000,
            learning_rate: 0.005,
            decay: Decay::Constant,
            final_fraction: 0.01,
            clip: 1.0,
            batch: 70,
            evaluate_every: 1,
            teacher_probability: 0.0,
            final_teacher_probability: None,
            data: DataConfig {
                nodes: vec![20],
                ops: vec![30],
                sequences: 70,
                validation_sequences: 35,
                stream: false,
                transitions: None,
                train: None,
                train_crc32c: None,
                validation: None,
                validation_crc32c: None,
                teacher: None,
                teacher_crc32c: None,
            },
            test: TestConfig {
                ops: test_nodes.iter().copied().map(Sampling::paper_ops).collect(),
                nodes: test_nodes,
                sequences: 35,
            },
            network: Config::preset(model)?,
        })
    }

    /// Lays a user's settings over the defaults of their task and model, reads the files they
    /// name, and checks every value.
    ///
    /// ```
    /// use pgn_lab::RunConfig;
    /// let settings = toml::toml! { task = "lct"  model = "gnn"  data = { nodes = [10, 30] } };
    /// let config = RunConfig::resolve(settings)?;
    /// assert_eq!(config.data.ops, [15, 45]);
    /// assert_eq!(config.epochs, 5000);
    ///
    /// let typo = RunConfig::resolve(toml::toml! { epoch = 100 });
    /// assert!(typo.unwrap_err().to_string().contains("unknown field `epoch`"));
    /// # Ok::<(), pgn_lab::Error>(())
    /// ```
    pub fn resolve(settings: Table) -> Result<RunConfig> {
        RunConfig::resolve_for(settings, None)
    }

    /// The same for a structure of the user's own, which the network's features default to.
    pub fn resolve_for(mut settings: Table, task: Option<&Task>) -> Result<RunConfig> {
        let name = |key: &str, default: &str| match settings.get(key) {
            None => Ok(default.to_owned()),
            Some(Value::String(name)) => Ok(name.clone()),
            Some(other) => {
                Err(Error::Config(format!("{key} is {other}; expected a name in quotes")))
            }
        };
        let task = match task {
            Some(task) => task.clone(),
            None => {
                pgn_machines::programs::build_in_tasks();
                Task::named(&name("task", "dsu")?)?
            }
        };
        let mut config = RunConfig::defaults(task.name(), &name("model", "pgn")?, 0)?;
        config.network.features = task.features().to_vec();

        let given =
            |table: &str, key: &str| settings.get(table).and_then(|table| table.get(key)).is_some();
        let ops_given = given("data", "ops");
        let test_ops_given = given("test", "ops");
        let batch_given = settings.contains_key("batch");
        let data_keys = ["nodes", "ops", "sequences"].map(|key| given("data", key));
        settings.insert("task".into(), task.name().into());

        let mut table = Table::try_from(&config).map_err(|e| Error::Config(e.to_string()))?;
        overlay(&mut table, settings);
        config = table
            .try_into()
            .map_err(|error: toml::de::Error| Error::Config(settings::wrong(&error)))?;
        if !ops_given {
            config.data.ops = config.data.nodes.iter().copied().map(Sampling::paper_ops).collect();
        }
        if !test_ops_given {
            config.test.ops = config.test.nodes.iter().copied().map(Sampling::paper_ops).collect();
        }
        config.read_files(&task, data_keys)?;
        if !batch_given {
            config.batch = config.data.sequences;
        }
        config.validate()?;
        Ok(config)
    }

    /// Notes the sizes and checksums of the files that the config names.
    fn read_files(&mut self, task: &Task, given: [bool; 3]) -> Result<()> {
        let data = &mut self.data;
        if let Some(path) = &data.train {
            let set = files::data_set(path, task)?;
            note_checksum(path, &mut data.train_crc32c)?;
            let held = (vec![set.nodes], vec![set.ops], set.count());
            let asked = [data.nodes == held.0, data.ops == held.1, data.sequences == held.2];
            if given.iter().zip(asked).any(|(given, equal)| *given && !equal) {
                return Err(Error::Config(format!(
                    "{} holds {} sequences of {} nodes and {} operations; leave data.nodes, \
                     data.ops and data.sequences to the file",
                    path.display(),
                    held.2,
                    set.nodes,
                    set.ops
                )));
            }
            (data.nodes, data.ops, data.sequences) = held;
        }
        if let Some(path) = &data.validation {
            data.validation_sequences = files::data_set(path, task)?.count();
            note_checksum(path, &mut data.validation_crc32c)?;
        }
        if let Some(path) = &data.teacher {
            note_checksum(&path.join(files::MODEL), &mut data.teacher_crc32c)?;
        }
        Ok(())
    }

    /// A user's settings in a TOML file, for [`RunConfig::resolve`]. A teacher is looked for
    /// beside the file, where a run keeps its own.
    pub fn read_settings(path: &Path) -> Result<Table> {
        let text = files::read_text(path)?;
        let parsed = text.parse::<Table>();
        let mut settings = parsed.map_err(|error| settings::wrong_in(path, &text, &error))?;
        let teacher = settings.get_mut("data").and_then(|data| data.get_mut("teacher"));
        if let (Some(Value::String(teacher)), Some(folder)) = (teacher, path.parent()) {
            *teacher = folder.join(&*teacher).display().to_string();
        }
        Ok(settings)
    }

    /// Whether every value makes sense.
    pub fn validate(&self) -> Result<()> {
        let invalid = |what: String| Err(Error::Config(what));
        self.network.validate()?;
        // TOML's integers are signed.
        for (key, value) in [("seed", self.seed), ("epochs", self.epochs)] {
            if i64::try_from(value).is_err() {
                return invalid(format!("{key} is {value}; expected at most {}", i64::MAX));
            }
        }
        // What the engine computes with has 32 bits.
        let fits = |value: f64| value.is_finite() && (value as f32).is_finite();
        if !fits(self.learning_rate) || self.learning_rate as f32 <= 0.0 {
            return invalid(format!(
                "learning_rate is {}; expected a finite number > 0 (32-bit)",
                self.learning_rate
            ));
        }
        if !(0.0..=1.0).contains(&self.final_fraction) {
            return invalid(format!(
                "final_fraction is {}; expected a number from 0 to 1",
                self.final_fraction
            ));
        }
        if self.decay == Decay::Exponential && self.final_fraction == 0.0 {
            return invalid("final_fraction is 0; exponential decay requires a number > 0".into());
        }
        if !fits(self.clip) || self.clip < 0.0 || self.clip > 0.0 && self.clip as f32 == 0.0 {
            return invalid(format!(
                "clip is {}; expected a finite number > 0 (32-bit), or 0 for no clipping",
                self.clip
            ));
        }
        for (key, probability) in [
            ("teacher_probability", Some(self.teacher_probability)),
            ("final_teacher_probability", self.final_teacher_probability),
        ] {
            let probability = probability.unwrap_or(0.0);
            if !(0.0..=1.0).contains(&probability) {
                return invalid(format!("{key} is {probability}; expected a number from 0 to 1"));
            }
            if probability > 0.0 && !self.network.aims_in_training() {
                return invalid(format!(
                    "{key} is {probability}, which requires network.forcing = \"own\" or \"free\""
                ));
            }
        }
        if self.evaluate_every == 0 {
            return invalid("evaluate_every is 0; expected at least 1".into());
        }
        let DataConfig { nodes, ops, sequences, validation_sequences, .. } = &self.data;
        check_sizes("data", nodes, ops)?;
        for (key, count) in
            [("sequences", sequences), ("validation_sequences", validation_sequences)]
        {
            if *count < nodes.len() || *count > u32::MAX as usize {
                return invalid(format!(
                    "data.{key} is {count}; expected at least one for each of the {} sizes, at \
                     most {}",
                    nodes.len(),
                    u32::MAX
                ));
            }
        }
        if self.batch == 0 || self.batch > self.data.sequences {
            return invalid(format!(
                "batch is {}; expected from 1 to the number of training sequences, {}",
                self.batch, self.data.sequences
            ));
        }
        if let Some(curriculum) = self.data.curriculum() {
            curriculum.check()?;
            if self.network.iterated().is_none() {
                return invalid(format!(
                    "data.transitions is set, but model {} carries latents from one operation to \
                     the next: it must be trained on whole sequences",
                    self.model
                ));
            }
            if self.data.train.is_some() {
                return invalid(
                    "data.transitions samples fresh transitions; it cannot go with data.train"
                        .into(),
                );
            }
        }
        if self.data.stream && self.data.train.is_some() {
            return invalid(
                "data.stream samples fresh sequences; it cannot go with data.train".into(),
            );
        }
        if !self.test.nodes.is_empty() {
            check_sizes("test", &self.test.nodes, &self.test.ops)?;
            if self.test.sequences == 0 {
                return invalid("test.sequences is 0; expected at least 1".into());
            }
        }
        let given = Preset::named(&self.model).ok().map(|preset| preset.given);
        match (given, &self.data.teacher) {
            (Some(PointerSource::Teacher(_)), None) => invalid(format!(
                "model {} is given a trained model's pointers; name its run directory as \
                 data.teacher (--teacher DIR)",
                self.model
            )),
            (_, Some(_)) if self.network.pointers != Pointers::Given => invalid(format!(
                "data.teacher is set, but model {} is not given pointers",
                self.model
            )),
            (_, Some(_)) if !self.network.pointer_types.is_empty() => invalid(
                "data.teacher gives one pointer per node; expected no network.pointer_types".into(),
            ),
            _ => Ok(()),
        }
    }

    /// What the run is called in messages: task, model and seed.
    pub fn name(&self) -> String {
        format!("{} {} seed {}", self.task, self.model, self.seed)
    }

    /// The text of a new `config.toml`: the settings, and the version of the format.
    pub fn file_text(&self) -> String {
        versioned(&self.to_toml())
    }

    /// The settings as TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_else(|_| unreachable!("every field has a TOML form"))
    }

    /// Reads a `config.toml`.
    pub fn load(path: &Path) -> Result<RunConfig> {
        let text = files::read_text(path)?;
        let config: RunConfig =
            toml::from_str(&text).map_err(|error| settings::wrong_in(path, &text, &error))?;
        config.validate().map_err(|error| Error::file(path, error.to_string()))?;
        Ok(config)
    }

    /// The first key in which two configs describe different runs, with both values; paths are
    /// compared by what was in the files.
    pub fn difference(&self, other: &RunConfig) -> Option<(String, String, String)> {
        settings::difference(&self.flat(), &other.flat())
    }

    /// The settings that differ from the defaults for this task, model and seed, by key.
    pub fn departures(&self) -> BTreeMap<String, String> {
        let defaults = RunConfig::defaults(&self.task, &self.model, self.seed);
        let defaults = defaults.map_or(BTreeMap::new(), |defaults| defaults.flat());
        let mut departures = self.flat();
        departures
            .retain(|key, value| defaults.get(key) != Some(value) && !key.ends_with("_crc32c"));
        departures
    }

    /// Every value by its dotted key, without paths: what was in the files is compared.
    pub(crate) fn flat(&self) -> BTreeMap<String, String> {
        let mut config = self.clone();
        config.data.train = None;
        config.data.validation = None;
        config.data.teacher = None;
        settings::flat(Value::try_from(&config).ok())
    }
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

fn check_sizes(table: &str, nodes: &[usize], ops: &[usize]) -> Result<()> {
    let invalid = |what: String| Err(Error::Config(what));
    if nodes.is_empty() {
        return invalid(format!("{table}.nodes is empty; expected at least one size"));
    }
    if nodes.len() != ops.len() {
        return invalid(format!(
            "{table}.ops has {} entries; expected one for each of the {} in {table}.nodes",
            ops.len(),
            nodes.len()
        ));
    }
    if let Some(n) = nodes.iter().find(|&&n| !(2..=1 << 24).contains(&n)) {
        return invalid(format!("{table}.nodes holds {n}; expected from 2 to 16777216"));
    }
    if ops.contains(&0) {
        return invalid(format!("{table}.ops holds 0; expected at least 1"));
    }
    if (1..nodes.len()).any(|i| nodes[..i].contains(&nodes[i])) {
        return invalid(format!("{table}.nodes holds a size twice; expected each once"));
    }
    Ok(())
}

/// Notes the checksum of a file, or refuses one that is not the noted one.
fn note_checksum(path: &Path, noted: &mut Option<u32>) -> Result<()> {
    let found = crc32c::crc32c(&files::read(path)?);
    match *noted {
        Some(expected) if expected != found => Err(Error::file(
            path,
            format!("its checksum is {found}, but the config was made with {expected}"),
        )),
        _ => {
            *noted = Some(found);
            Ok(())
        }
    }
}
