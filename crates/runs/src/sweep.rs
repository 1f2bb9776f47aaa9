//! Sweeps: a config with lists of values, turned into a queue of runs.
//!
//! ```toml
//! epochs = 1000                      # as in a run's config.toml: the same for every run
//!
//! [sweep]                            # each key with a list of values; all combinations are run
//! task = ["dsu", "lct"]
//! model = ["pgn", "pgn-ptrs"]
//! seed = [0, 1, 2]
//! learning_rate = [0.005, 0.002]
//! data.nodes = [[20], [10, 20, 30]]
//!
//! [[condition]]                      # settings that go together, under a name
//! name = "constant"
//!
//! [[condition]]
//! name = "cosine"
//! decay = "cosine"
//!
//! [[exclude]]                        # combinations that are left out
//! task = "lct"
//! learning_rate = 0.002
//! ```

use std::path::Path;

use pgn_structures::Task;
use toml::{Table, Value};

use crate::{
    Backend, Entry, Error, Queue, Result, files,
    settings::{overlay, wrong},
};

/// What a sweep file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Settings that all runs share.
    settings: Table,
    tasks: Vec<String>,
    models: Vec<String>,
    seeds: Vec<u64>,
    /// Other keys, dotted, with their values.
    axes: Vec<(String, Vec<Value>)>,
    /// Settings that go together, by name; a single one without a name if there are none.
    conditions: Vec<(Option<String>, Table)>,
    exclude: Vec<Table>,
}

/// The most runs of one sweep: an array job of Slurm has no more tasks unless its site says so.
const MOST: usize = 100_000;

impl Sweep {
    /// Reads a sweep file.
    pub fn load(path: &Path) -> Result<Sweep> {
        Sweep::parse(&files::read_text(path)?).map_err(|error| match error {
            Error::Config { what, .. } => Error::file(path, what),
            other => other,
        })
    }

    /// Reads the text of a sweep file.
    ///
    /// ```
    /// let sweep = pgn_runs::Sweep::parse(
    ///     "epochs = 10\n[sweep]\ntask = ['dsu']\nmodel = ['pgn', 'gnn']\nseed = '0-4'\n",
    /// )?;
    /// # Ok::<(), pgn_runs::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Sweep> {
        let parsed = text.parse::<Table>().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            Error::config("", format!("line {line}: {}", wrong(&error).1))
        })?;
        let mut settings = parsed;
        let mut axes = Vec::new();
        match settings.remove("sweep") {
            None => {}
            Some(Value::Table(table)) => flatten("", table, &mut axes)?,
            Some(_) => return invalid("sweep is no table; expected [sweep] with lists of values"),
        }
        let mut take = |key: &str| -> Result<Option<Vec<Value>>> {
            let axis = axes.iter().position(|(name, _)| name == key).map(|at| axes.remove(at).1);
            match (axis, settings.remove(key)) {
                (Some(_), Some(_)) => {
                    invalid(format!("{key} is set inside and outside of [sweep]; expected once"))
                }
                (axis, fixed) => Ok(axis.or(fixed.map(|value| vec![value]))),
            }
        };
        let tasks = names("task", take("task")?)?;
        let models = names("model", take("model")?)?;
        let seeds = seeds(take("seed")?)?;
        if let Some((key, _)) = axes.iter().find(|(key, _)| lookup(&settings, key).is_some()) {
            return invalid(format!("{key} is set inside and outside of [sweep]; expected once"));
        }
        let mut conditions = Vec::new();
        for mut condition in tables("condition", settings.remove("condition"))? {
            let name = match condition.remove("name") {
                Some(Value::String(name)) if is_plain(&name) => name,
                Some(name) => {
                    return invalid(format!(
                        "a condition's name is {name}; expected letters, digits, '-', '_' and '.'"
                    ));
                }
                None => return invalid("a condition has no name; expected name = \"…\""),
            };
            if conditions.iter().any(|(other, _)| other == &Some(name.clone())) {
                return invalid(format!("two conditions are named {name}; expected each once"));
            }
            conditions.push((Some(name), condition));
        }
        if conditions.is_empty() {
            conditions.push((None, Table::new()));
        }
        let exclude = tables("exclude", settings.remove("exclude"))?;
        Ok(Sweep { settings, tasks, models, seeds, axes, conditions, exclude })
    }

    /// The runs under `out`: seed by seed, so that a queue that is cut short has whole seeds. Each
    /// is in `TASK/MODEL/CONDITION/KEY=VALUE,…/seed-S`, where parts that do not vary are left out.
    ///
    /// A `pgn-ptrs` is given the pointers of the `pgn` with the same other settings, which is added
    /// where it is missing.
    pub fn queue<B: Backend>(
        &self,
        backend: B,
        out: &Path,
    ) -> std::result::Result<Queue<B>, B::Error> {
        let entries = self.entries(&backend, out)?;
        Queue::new(backend, out, entries)
    }

    fn entries(&self, backend: &impl Backend, out: &Path) -> Result<Vec<Entry>> {
        let variants = self.variants()?;
        let runs = [self.seeds.len(), self.tasks.len(), variants.len(), self.models.len()]
            .into_iter()
            .try_fold(1usize, |product, count| product.checked_mul(count));
        if runs.is_none_or(|runs| runs > MOST) {
            return invalid(format!("the sweep has more than {MOST} runs"));
        }
        let mut models = self.models.clone();
        // A student's teacher comes before it.
        models.retain(|model| backend.teacher_of(model).is_none());
        for student in &self.models {
            let Some(teacher) = backend.teacher_of(student) else { continue };
            if !models.iter().any(|model| model == teacher) {
                models.push(teacher.to_owned());
            }
            models.push(student.clone());
        }
        let mut entries: Vec<Entry> = Vec::new();
        for &seed in &self.seeds {
            for task in &self.tasks {
                for (variant, settings) in &variants {
                    let first = entries.len();
                    for model in &models {
                        if self.is_excluded(task, model, seed, settings) {
                            continue;
                        }
                        let mut directory = out.join(task).join(model);
                        directory.extend(
                            variant
                                .as_deref()
                                .map(|variant| variant.split(' '))
                                .into_iter()
                                .flatten(),
                        );
                        let index = entries.len();
                        let mut depends_on = None;
                        if let Some(teacher) = backend.teacher_of(model) {
                            let is_teacher = |entry: &Entry| entry.model == teacher;
                            depends_on =
                                entries[first..].iter().position(is_teacher).map(|at| first + at);
                            if depends_on.is_none() {
                                return invalid(format!(
                                    "model {model} learns from the {teacher} of the same \
                                     settings, which is excluded"
                                ));
                            }
                        }
                        entries.push(Entry {
                            index,
                            task: task.clone(),
                            model: model.clone(),
                            seed,
                            variant: variant.clone(),
                            directory: directory.join(format!("seed-{seed}")),
                            depends_on,
                            settings: settings.clone(),
                        });
                    }
                }
            }
        }
        Ok(entries)
    }

    /// Every combination of conditions and values: what it is called, and its settings.
    fn variants(&self) -> Result<Vec<(Option<String>, Table)>> {
        let mut variants: Vec<(Vec<String>, Table)> = self
            .conditions
            .iter()
            .map(|(name, condition)| {
                let mut settings = self.settings.clone();
                overlay(&mut settings, condition.clone());
                (name.iter().cloned().collect(), settings)
            })
            .collect();
        let named = self.conditions[0].0.is_some();
        for (key, values) in &self.axes {
            if let Some((name, _)) =
                self.conditions.iter().find(|(_, condition)| lookup(condition, key).is_some())
            {
                let name = name.as_deref().unwrap_or_default();
                return invalid(format!("{key} is set in [sweep] and in condition {name}"));
            }
            if variants.len().saturating_mul(values.len()) > MOST {
                return invalid(format!("the sweep has more than {MOST} runs"));
            }
            variants = variants
                .into_iter()
                .flat_map(|(labels, settings)| {
                    values.iter().map(move |value| {
                        let (mut labels, mut settings) = (labels.clone(), settings.clone());
                        labels.push(format!("{key}={}", label(value)));
                        overlay(&mut settings, nested(key, value.clone()));
                        (labels, settings)
                    })
                })
                .collect();
        }
        variants
            .into_iter()
            .map(|(labels, settings)| {
                let (condition, values) = labels.split_at(usize::from(named));
                let values = values.join(",");
                let parts: Vec<&str> = condition
                    .iter()
                    .map(String::as_str)
                    .chain([&*values])
                    .filter(|part| !part.is_empty())
                    .collect();
                if values.len() > 200 {
                    return invalid(format!(
                        "{values} is too long for the name of a folder; give such settings a name \
                         as [[condition]]"
                    ));
                }
                Ok(((!parts.is_empty()).then(|| parts.join(" ")), settings))
            })
            .collect()
    }

    fn is_excluded(&self, task: &str, model: &str, seed: u64, settings: &Table) -> bool {
        let mut all = settings.clone();
        all.insert("task".into(), task.into());
        all.insert("model".into(), model.into());
        all.insert("seed".into(), Value::Integer(i64::try_from(seed).unwrap_or(i64::MAX)));
        self.exclude.iter().any(|exclude| contains(&all, exclude))
    }
}

fn invalid<T>(what: impl Into<String>) -> Result<T> {
    Err(Error::config("", what))
}

/// The lists in `[sweep]` by their dotted keys.
fn flatten(prefix: &str, table: Table, axes: &mut Vec<(String, Vec<Value>)>) -> Result<()> {
    for (key, value) in table {
        let key = format!("{prefix}{key}");
        match value {
            Value::Table(table) => flatten(&format!("{key}."), table, axes)?,
            Value::Array(values) if values.is_empty() => {
                return invalid(format!("sweep.{key} is empty; expected at least one value"));
            }
            Value::Array(values) => {
                let mut seen = std::collections::HashSet::new();
                for value in &values {
                    if !seen.insert(value.to_string()) {
                        return invalid(format!(
                            "sweep.{key} holds {value} twice; expected each once"
                        ));
                    }
                    if !is_plain(&label(value)) {
                        return invalid(format!(
                            "sweep.{key} holds {value}, which cannot be part of a folder's name; \
                             give it a name as [[condition]]"
                        ));
                    }
                }
                axes.push((key, values));
            }
            // Seeds may be a range.
            Value::String(text) if key == "seed" => axes.push((key, vec![Value::String(text)])),
            value => {
                return invalid(format!("sweep.{key} is {value}; expected a list of values"));
            }
        }
    }
    Ok(())
}

fn names(key: &str, values: Option<Vec<Value>>) -> Result<Vec<String>> {
    let Some(values) = values else {
        return invalid(format!("{key} is missing; expected sweep.{key} = [\"…\"]"));
    };
    values
        .into_iter()
        .map(|value| match value {
            Value::String(name) if key == "task" => Ok(Task::named(&name)?.name().to_owned()),
            Value::String(name) => Ok(name),
            value => invalid(format!("{key} is {value}; expected a name")),
        })
        .collect()
}

/// A list of numbers, or text as in `"0-4,7"`; seed 0 if there is nothing.
fn seeds(values: Option<Vec<Value>>) -> Result<Vec<u64>> {
    let mut seeds = Vec::new();
    for value in values.unwrap_or_else(|| vec![Value::Integer(0)]) {
        match value {
            Value::Integer(seed) if seed >= 0 => seeds.push(seed.unsigned_abs()),
            Value::String(text) => match crate::indices::parse(&text) {
                Ok(indices) => seeds.extend(indices.into_iter().map(|seed| seed as u64)),
                Err(what) => return invalid(format!("seed is \"{text}\"; {what}")),
            },
            value => {
                return invalid(format!("seed is {value}; expected numbers from 0, or \"0-4\""));
            }
        }
    }
    Ok(seeds)
}

fn tables(key: &str, value: Option<Value>) -> Result<Vec<Table>> {
    let table = |value| match value {
        Value::Table(table) => Ok(table),
        value => invalid(format!("{key} holds {value}; expected [[{key}]] with settings")),
    };
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(values)) => values.into_iter().map(table).collect(),
        Some(value) => invalid(format!("{key} is {value}; expected [[{key}]]")),
    }
}

/// The value at a dotted key.
fn lookup<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((first, rest)) => lookup(table.get(first)?.as_table()?, rest),
    }
}

/// A table with one value at a dotted key.
fn nested(key: &str, value: Value) -> Table {
    let (key, value) = match key.split_once('.') {
        None => (key, value),
        Some((first, rest)) => (first, nested(rest, value).into()),
    };
    Table::from_iter([(key.to_owned(), value)])
}

/// Whether all of `part` is in `whole`.
fn contains(whole: &Table, part: &Table) -> bool {
    part.iter().all(|(key, value)| match (whole.get(key), value) {
        (Some(Value::Table(whole)), Value::Table(part)) => contains(whole, part),
        (found, value) => found == Some(value),
    })
}

/// A value as part of a folder's name: lists are joined by `+`.
fn label(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(label).collect::<Vec<_>>().join("+"),
        value => value.to_string(),
    }
}

fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    !name.is_empty() && name.len() <= 100 && !name.starts_with('.') && name.chars().all(plain)
}
