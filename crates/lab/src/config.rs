//! The config of a run: every value that its outcome depends on, and nothing else.
//!
//! Defaults are the paper's protocol (section 4). A user's settings come as a TOML table, from a
//! file, from flags or both; [`ConfigOf::resolve`] lays them over the defaults, and what comes
//! out is written to `config.toml` whole, so that a run can be repeated from it alone.
//!
//! Every kind of network has the same config but for its `[network]` table. [`Network`] has
//! what is special about each.

use std::{collections::BTreeMap, path::Path};

use pgn_engine::{Config, MachineSettings};
use pgn_structures::{Sampling, Task};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use pgn_runs::{files, format::FormatVersion, format::versioned, settings, settings::overlay};

use crate::{
    DataConfig, Decay, Error, Result, TestConfig, learner::Network, machine::MACHINE_MODEL,
};

/// The config of one of the paper's models, or of `pgn-exact`.
pub type RunConfig = ConfigOf<Config>;

/// The config of a machine.
pub type MachineConfig = ConfigOf<MachineSettings>;

/// All that determines a run. The number of threads is not in here: it changes nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigOf<N> {
    /// Of the file that it was read from.
    #[serde(default, skip_serializing)]
    pub format_version: FormatVersion,
    /// The data structure to imitate: `dsu`, `lct`, or a user's own.
    pub task: String,
    /// The preset the network started from: `pgn`, `gnn`, ...
    pub model: String,
    /// Where data, initial weights, batches and noise are drawn from.
    pub seed: u64,
    /// Passes over the training set; of a machine, steps of Adam.
    pub epochs: u64,
    /// Stops once so many epochs have gone by without a better validation score; 0 for never, which
    /// is what configs mean that were written without it.
    #[serde(default)]
    pub patience: u64,
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
    /// Epochs from one model that is kept to the next, with the initial one; 0 to keep none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub keep_every: u64,
    /// For models that aim their own pointers in training: the probability that an operation is
    /// teacher-forced, in the first epoch at least.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub teacher_probability: f64,
    /// `teacher_probability` in the last epoch, where it changes; linear in between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_teacher_probability: Option<f64>,
    /// What is trained on.
    pub data: DataConfig,
    /// What is tested on at the end.
    pub test: TestConfig,
    /// The network, as the engine has it.
    pub network: N,
}

impl<N: Network> ConfigOf<N> {
    /// What is not set otherwise, for a task and a model.
    ///
    /// ```
    /// let config = pgn_lab::RunConfig::defaults("dsu", "pgn", 0)?;
    /// assert_eq!((config.epochs, config.learning_rate, config.batch), (5000, 0.005, 70));
    /// assert_eq!(config.test.nodes, [20, 50, 100, 200]);
    ///
    /// let config = pgn_lab::MachineConfig::defaults("lct", "pgn-machine", 0)?;
    /// assert_eq!((config.epochs, config.network.rounds), (1600, 4));
    /// # Ok::<(), pgn_lab::Error>(())
    /// ```
    pub fn defaults(task: &str, model: &str, seed: u64) -> Result<ConfigOf<N>> {
        let network = N::preset(model)?;
        let test_nodes = vec![20, 50, 100, 200];
        let mut config = ConfigOf {
            format_version: FormatVersion,
            task: task.to_owned(),
            model: model.to_owned(),
            seed,
            epochs: 5000,
            patience: 0,
            learning_rate: 0.005,
            decay: Decay::Constant,
            final_fraction: 0.01,
            clip: 1.0,
            batch: 70,
            evaluate_every: 1,
            keep_every: 0,
            teacher_probability: 0.0,
            final_teacher_probability: None,
            data: DataConfig {
                nodes: vec![20],
                ops: vec![30],
                sequences: 70,
                validation_sequences: 35,
                ..DataConfig::default()
            },
            test: TestConfig {
                ops: test_nodes.iter().copied().map(Sampling::paper_ops).collect(),
                nodes: test_nodes,
                sequences: 35,
            },
            network,
        };
        N::adjust_defaults(&mut config);
        Ok(config)
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
    pub fn resolve(settings: Table) -> Result<ConfigOf<N>> {
        ConfigOf::resolve_for(settings, None)
    }

    /// [`ConfigOf::resolve`] for a structure of the user's own, which the network's features
    /// default to.
    pub fn resolve_for(mut settings: Table, task: Option<&Task>) -> Result<ConfigOf<N>> {
        let task_name = match task {
            Some(task) => task.name().to_owned(),
            None => name_in(&settings, "task")?.unwrap_or_else(|| "dsu".to_owned()),
        };
        let model = name_in(&settings, "model")?.unwrap_or_else(|| N::MODEL.to_owned());
        let mut config = ConfigOf::<N>::defaults(&task_name, &model, 0)?;
        N::adapt(&mut config, task)?;

        let given =
            |table: &str, key: &str| settings.get(table).and_then(|table| table.get(key)).is_some();
        let ops_given = given("data", "ops");
        let test_ops_given = given("test", "ops");
        let batch_given = settings.contains_key("batch");
        let data_given = ["nodes", "ops", "sequences"].map(|key| given("data", key));
        settings.insert("task".into(), task_name.into());

        let mut table = Table::try_from(&config).map_err(|e| Error::config("", e.to_string()))?;
        let defaults = table.clone();
        overlay(&mut table, settings);
        config = table.try_into().map_err(|error: toml::de::Error| {
            let (key, what) = settings::wrong(&error);
            let elsewhere = in_another_table::<N>(defaults, &what);
            Error::config(&key, elsewhere.unwrap_or(what))
        })?;
        if !ops_given {
            config.data.ops = config.data.nodes.iter().copied().map(Sampling::paper_ops).collect();
        }
        if !test_ops_given {
            config.test.ops = config.test.nodes.iter().copied().map(Sampling::paper_ops).collect();
        }
        N::settle(&mut config, task, data_given, batch_given)?;
        config.validate()?;
        Ok(config)
    }

    /// Whether every value makes sense.
    pub fn validate(&self) -> Result<()> {
        let invalid = |key: &str, what: String| Err(Error::config(key, what));
        // TOML's integers are signed.
        for (key, value) in [("seed", self.seed), ("epochs", self.epochs)] {
            if i64::try_from(value).is_err() {
                return invalid(key, format!("{key} is {value}; expected at most {}", i64::MAX));
            }
        }
        // What the engine computes with has 32 bits.
        let fits = |value: f64| value.is_finite() && (value as f32).is_finite();
        if !fits(self.learning_rate) || self.learning_rate as f32 <= 0.0 {
            return invalid(
                "learning_rate",
                format!(
                    "learning_rate is {}; expected a finite number > 0 (32-bit)",
                    self.learning_rate
                ),
            );
        }
        if !(0.0..=1.0).contains(&self.final_fraction) {
            return invalid(
                "final_fraction",
                format!("final_fraction is {}; expected a number from 0 to 1", self.final_fraction),
            );
        }
        if self.decay == Decay::Exponential && self.final_fraction == 0.0 {
            return invalid(
                "final_fraction",
                "final_fraction is 0; exponential decay requires a number > 0".into(),
            );
        }
        if !fits(self.clip) || self.clip < 0.0 || self.clip > 0.0 && self.clip as f32 == 0.0 {
            return invalid(
                "clip",
                format!(
                    "clip is {}; expected a finite number > 0 (32-bit), or 0 for no clipping",
                    self.clip
                ),
            );
        }
        if self.evaluate_every == 0 {
            return invalid("evaluate_every", "evaluate_every is 0; expected at least 1".into());
        }
        check_sizes("data", &self.data.nodes, &self.data.ops)?;
        if !self.test.nodes.is_empty() {
            check_sizes("test", &self.test.nodes, &self.test.ops)?;
            if self.test.sequences == 0 {
                return invalid(
                    "test.sequences",
                    "test.sequences is 0; expected at least 1".into(),
                );
            }
        }
        N::validate(self)
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
    pub fn load(path: &Path) -> Result<ConfigOf<N>> {
        ConfigOf::from_toml(&files::read_text(path)?, path)
    }

    /// From the text of a `config.toml`; `path` is named in errors.
    pub fn from_toml(text: &str, path: &Path) -> Result<ConfigOf<N>> {
        let config: ConfigOf<N> =
            toml::from_str(text).map_err(|error| settings::wrong_in(path, text, &error))?;
        config.validate().map_err(|error| Error::file(path, error.to_string()))?;
        Ok(config)
    }

    /// The first key in which two configs describe different runs, with both values; paths are
    /// compared by what was in the files.
    pub fn difference(&self, other: &ConfigOf<N>) -> Option<(String, String, String)> {
        settings::difference(&self.flat(), &other.flat())
    }

    /// The settings that differ from the defaults for this task, model and seed, by key.
    pub fn departures(&self) -> BTreeMap<String, String> {
        match ConfigOf::<N>::defaults(&self.task, &self.model, self.seed) {
            Ok(defaults) => self.beyond(&defaults),
            Err(_) => self.flat(),
        }
    }

    /// The settings that another config does not have, by key.
    pub fn beyond(&self, other: &ConfigOf<N>) -> BTreeMap<String, String> {
        let other = other.flat();
        let mut beyond = self.flat();
        beyond.retain(|key, value| other.get(key) != Some(value) && !key.ends_with("_crc32c"));
        beyond
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

/// A sentence about an unknown key that exists in another table, if it does.
fn in_another_table<N: Network>(defaults: Table, what: &str) -> Option<String> {
    let (_, key) = settings::unknown(what)?;
    let belongs = |&table: &&str| {
        // Any value: a key of this table is refused for another reason, if at all.
        let inner = Table::from_iter([(key.to_owned(), Value::Boolean(true))]);
        let mut tried = defaults.clone();
        overlay(
            &mut tried,
            match table {
                "" => inner,
                table => Table::from_iter([(table.to_owned(), inner.into())]),
            },
        );
        let tried: std::result::Result<ConfigOf<N>, _> = tried.try_into();
        tried.map_or_else(|error| settings::unknown(&settings::wrong(&error).1).is_none(), |_| true)
    };
    let table = ["", "data", "test", "network"].into_iter().find(belongs)?;
    let place = match table {
        "" => "at the top level, above the first [table]".to_owned(),
        table => format!("in [{table}]"),
    };
    Some(format!("{}; it belongs {place}", what.split_once(", expected")?.0))
}

/// A user's settings in a TOML file, for [`ConfigOf::resolve`]. A teacher is looked for beside the
/// file, where a run keeps its own.
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

/// The error with the file and line of the setting that it is about, if `path` has it and `over`,
/// the settings laid over the file's, does not.
pub fn located(error: Error, path: &Path, over: &Table) -> Error {
    use pgn_engine::Error as Engine;
    use pgn_structures::Error as Structures;
    let what = error.to_string();
    let (key, what) = match &error {
        Error::Runs(pgn_runs::Error::Config { key, what }) => (key.clone(), what.clone()),
        // The network's own settings are named without their table.
        Error::Engine(Engine::InvalidConfig { key, what }) => {
            let colon = if what.starts_with(key) { "" } else { ": " };
            let said = what.strip_prefix(key.as_str()).unwrap_or(what);
            (format!("network.{key}"), format!("network.{key}{colon}{said}"))
        }
        Error::Engine(Engine::UnknownModel { .. }) => ("model".to_owned(), what),
        Error::Structures(Structures::UnknownTask { .. }) => ("task".to_owned(), what),
        _ => return error,
    };
    settings::located(&key, &what, path, over).map_or(error, Error::from)
}

/// The name that a setting gives, which must be text.
fn name_in(settings: &Table, key: &str) -> Result<Option<String>> {
    match settings.get(key) {
        None => Ok(None),
        Some(Value::String(name)) => Ok(Some(name.clone())),
        Some(other) => {
            Err(Error::config(key, format!("{key} is {other}; expected a name in quotes")))
        }
    }
}

/// The config of a run of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyConfig {
    /// One of the paper's models, or `pgn-exact`.
    Model(RunConfig),
    /// A machine.
    Machine(MachineConfig),
}

/// Runs an expression on the config, whichever kind it is.
macro_rules! either {
    ($any:expr, $config:ident => $do:expr) => {
        match $any {
            AnyConfig::Model($config) => $do,
            AnyConfig::Machine($config) => $do,
        }
    };
}
pub(crate) use either;

impl AnyConfig {
    /// [`ConfigOf::resolve`] for the kind that the settings name as their model.
    pub fn resolve(settings: Table) -> Result<AnyConfig> {
        Ok(match name_in(&settings, "model")?.as_deref() {
            Some(MACHINE_MODEL) => AnyConfig::Machine(ConfigOf::resolve(settings)?),
            _ => AnyConfig::Model(ConfigOf::resolve(settings)?),
        })
    }

    /// Reads a `config.toml`.
    pub fn load(path: &Path) -> Result<AnyConfig> {
        let text = files::read_text(path)?;
        Ok(match is_machine(&text) {
            true => AnyConfig::Machine(ConfigOf::from_toml(&text, path)?),
            false => AnyConfig::Model(ConfigOf::from_toml(&text, path)?),
        })
    }

    /// What the run is called in messages: task, model and seed.
    pub fn name(&self) -> String {
        either!(self, config => config.name())
    }

    /// Epochs, or steps of a machine.
    pub fn epochs(&self) -> u64 {
        either!(self, config => config.epochs)
    }

    /// Every value by its dotted key, without paths.
    pub(crate) fn flat(&self) -> BTreeMap<String, String> {
        either!(self, config => config.flat())
    }
}

/// Whether the text of a `config.toml` is that of a machine.
pub(crate) fn is_machine(text: &str) -> bool {
    let table = text.parse::<Table>().ok();
    table.is_some_and(|table| {
        table.get("model").and_then(|model| model.as_str()) == Some(MACHINE_MODEL)
    })
}

fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn check_sizes(table: &str, nodes: &[usize], ops: &[usize]) -> Result<()> {
    let invalid = |key: &str, what: String| Err(Error::config(key, what));
    if nodes.is_empty() {
        return invalid(
            &format!("{table}.nodes"),
            format!("{table}.nodes is empty; expected at least one size"),
        );
    }
    if nodes.len() != ops.len() {
        return invalid(
            &format!("{table}.ops"),
            format!(
                "{table}.ops has {} entries; expected one for each of the {} in {table}.nodes",
                ops.len(),
                nodes.len()
            ),
        );
    }
    if let Some(n) = nodes.iter().find(|&&n| !(2..=1 << 24).contains(&n)) {
        return invalid(
            &format!("{table}.nodes"),
            format!("{table}.nodes holds {n}; expected from 2 to 16777216"),
        );
    }
    if ops.contains(&0) {
        return invalid(
            &format!("{table}.ops"),
            format!("{table}.ops holds 0; expected at least 1"),
        );
    }
    if (1..nodes.len()).any(|i| nodes[..i].contains(&nodes[i])) {
        return invalid(
            &format!("{table}.nodes"),
            format!("{table}.nodes holds a size twice; expected each once"),
        );
    }
    Ok(())
}
