//! `config.toml` of a machine run: every value, resolved.

use std::path::Path;

use pgn_engine::MachineSettings;
use pgn_machines::{Machine, programs};
use pgn_structures::{Sampling, did_you_mean};
use serde::{Deserialize, Serialize};
use toml::Table;

use super::MACHINE_MODEL;
use crate::{Error, FormatVersion, Result, TestConfig, files, overlay, settings};

/// How a machine is trained. The default is what is committed and certified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineConfig {
    /// Of the file that it was read from.
    #[serde(default, skip_serializing)]
    pub format_version: FormatVersion,
    /// The program.
    pub task: String,
    /// Always `pgn-machine`.
    pub model: String,
    /// Traces, initial weights and batches are drawn from it.
    pub seed: u64,
    /// Steps of Adam.
    pub epochs: u64,
    /// The learning rate of the first step; it falls to 0 by half a cosine.
    pub learning_rate: f64,
    /// Views per step.
    pub batch: usize,
    /// Every so many steps metrics are written, and the views are found that are not yet right by
    /// a clear margin; up to a quarter of every batch repeats those.
    pub evaluate_every: u64,
    /// What it is trained on.
    pub data: MachineData,
    /// What it is tested on.
    pub test: TestConfig,
    /// The network.
    pub network: MachineSettings,
}

/// What a machine is trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineData {
    /// Nodes per traced sequence; several sizes share the sequences.
    pub nodes: Vec<usize>,
    /// Operations per traced sequence, one number for each size.
    pub ops: Vec<usize>,
    /// Traced sequences.
    pub sequences: usize,
    /// Whether to train on all consistent views too, met or not.
    pub consistent: bool,
}

impl MachineConfig {
    /// The default for a program.
    pub fn new(task: &str, seed: u64) -> MachineConfig {
        let test = vec![20, 50, 100, 200];
        MachineConfig {
            format_version: FormatVersion,
            task: task.to_owned(),
            model: MACHINE_MODEL.to_owned(),
            seed,
            epochs: 800,
            learning_rate: 0.01,
            batch: 64,
            evaluate_every: 20,
            data: MachineData {
                nodes: vec![20],
                ops: vec![Sampling::paper_ops(20)],
                sequences: 70,
                consistent: true,
            },
            test: TestConfig {
                ops: test.iter().copied().map(Sampling::paper_ops).collect(),
                nodes: test,
                sequences: 35,
            },
            network: MachineSettings::default(),
        }
    }

    /// The defaults with a user's settings laid over them.
    pub fn resolve(settings: Table) -> Result<MachineConfig> {
        let text = |key: &str| settings.get(key).and_then(|value| value.as_str());
        let seed = settings.get("seed").and_then(|value| value.as_integer()).unwrap_or(0);
        let defaults = MachineConfig::new(text("task").unwrap_or("dsu"), seed as u64);
        let mut table = Table::try_from(&defaults).map_err(|e| Error::Config(e.to_string()))?;
        for part in ["data", "test"] {
            let given = settings.get(part).and_then(|value| value.as_table());
            // The paper's number of operations for sizes without one.
            if let Some(given) = given
                && !given.contains_key("ops")
                && let Some(nodes) = given.get("nodes").and_then(|nodes| nodes.as_array())
            {
                let ops = nodes
                    .iter()
                    .filter_map(|n| n.as_integer())
                    .map(|n| toml::Value::Integer(Sampling::paper_ops(n.max(0) as usize) as i64));
                if let Some(table) = table.get_mut(part).and_then(|table| table.as_table_mut()) {
                    table.insert("ops".to_owned(), ops.collect::<Vec<_>>().into());
                }
            }
        }
        overlay(&mut table, settings);
        let config: MachineConfig = table
            .try_into()
            .map_err(|error: toml::de::Error| Error::Config(settings::wrong(&error)))?;
        config.validate()?;
        Ok(config)
    }

    /// Whether every value makes sense.
    pub fn validate(&self) -> Result<()> {
        let invalid = |what: String| Err(Error::Config(what));
        self.network.check()?;
        if self.model != MACHINE_MODEL {
            return invalid(format!("model is {}; expected {MACHINE_MODEL}", self.model));
        }
        if i64::try_from(self.seed).is_err() || i64::try_from(self.epochs).is_err() {
            return invalid(format!("seed and epochs must be at most {}", i64::MAX));
        }
        if !(self.learning_rate.is_finite() && self.learning_rate > 0.0) {
            return invalid(format!(
                "learning_rate is {}; expected a finite number above 0",
                self.learning_rate
            ));
        }
        if self.batch == 0 || self.evaluate_every == 0 {
            return invalid("batch and evaluate_every must be at least 1".into());
        }
        for (part, nodes, ops) in
            [("data", &self.data.nodes, &self.data.ops), ("test", &self.test.nodes, &self.test.ops)]
        {
            if nodes.len() != ops.len() {
                return invalid(format!(
                    "{part}.ops has {} entries; expected one for each of the {} in {part}.nodes",
                    ops.len(),
                    nodes.len()
                ));
            }
            if let Some(n) = nodes.iter().find(|&&n| !(2..=Sampling::MAX_NODES).contains(&n)) {
                return invalid(format!(
                    "{part}.nodes holds {n}; expected from 2 to {}",
                    Sampling::MAX_NODES
                ));
            }
        }
        if !self.data.consistent && (self.data.sequences == 0 || self.data.nodes.is_empty()) {
            return invalid(
                "data.sequences or data.nodes is empty and data.consistent is false: there is \
                 nothing to train on"
                    .into(),
            );
        }
        self.machine().map(drop)
    }

    /// The program with its lenses.
    pub fn machine(&self) -> Result<Machine> {
        let Some(program) = programs::named(&self.task) else {
            return Err(Error::Config(format!(
                "there is no program '{}' for model {MACHINE_MODEL}; expected one of {}{}",
                self.task,
                programs::NAMES.join(", "),
                did_you_mean(&self.task, programs::NAMES)
            )));
        };
        Ok(Machine::new(program)?)
    }

    /// Every value by its dotted key.
    pub(crate) fn flat(&self) -> std::collections::BTreeMap<String, String> {
        settings::flat(toml::Value::try_from(self).ok())
    }

    /// What it is called in messages.
    pub fn name(&self) -> String {
        format!("{} {} seed {}", self.task, self.model, self.seed)
    }

    /// The text of `config.toml`.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_else(|_| unreachable!("every field has a TOML form"))
    }

    /// From the text of a `config.toml`; `path` is named in errors.
    pub fn from_toml(text: &str, path: &Path) -> Result<MachineConfig> {
        let config: MachineConfig =
            toml::from_str(text).map_err(|error| settings::wrong_in(path, text, &error))?;
        config.validate().map_err(|error| Error::file(path, error.to_string()))?;
        Ok(config)
    }

    /// Whether a run directory is that of a machine: its config says so.
    pub fn is_in(run: &Path) -> bool {
        let text = files::read_text(&run.join(files::CONFIG)).unwrap_or_default();
        let model = text.parse::<Table>().ok().and_then(|table| {
            table.get("model").and_then(|model| model.as_str()).map(str::to_owned)
        });
        model.as_deref() == Some(MACHINE_MODEL)
    }

    /// Reads a `config.toml`.
    pub fn load(path: &Path) -> Result<MachineConfig> {
        MachineConfig::from_toml(&files::read_text(path)?, path)
    }
}
