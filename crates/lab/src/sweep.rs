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

use pgn_engine::Preset;
use pgn_structures::Task;
use toml::{Table, Value};

use crate::{Entry, Error, Queue, Result, files, overlay};

/// What a sweep file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The same for every run.
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
            Error::Config(what) => Error::file(path, what),
            other => other,
        })
    }

    /// Reads the text of a sweep file.
    ///
    /// ```
    /// let sweep = pgn_lab::Sweep::parse(
    ///     "epochs = 10\n[sweep]\ntask = ['dsu']\nmodel = ['pgn', 'gnn']\nseed = '0-4'\n",
    /// )?;
    /// let queue = sweep.queue("runs".as_ref())?;
    /// assert_eq!(queue.entries().len(), 10);
    /// assert_eq!(queue.entries()[0].directory, std::path::Path::new("runs/dsu/pgn/seed-0"));
    /// # Ok::<(), pgn_lab::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Sweep> {
        let parsed = text.parse::<Table>().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            Error::Config(format!("line {line}: {}", crate::settings::wrong(&error)))
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
    pub fn queue(&self, out: &Path) -> Result<Queue> {
        let variants = self.variants()?;
        let runs = [self.seeds.len(), self.tasks.len(), variants.len(), self.models.len()]
            .into_iter()
            .try_fold(1usize, |product, count| product.checked_mul(count));
        if runs.is_none_or(|runs| runs > MOST) {
            return invalid(format!("the sweep has more than {MOST} runs"));
        }
        let mut models = self.models.clone();
        // A student's teacher comes before it.
        models.retain(|model| Preset::teacher_of(model).is_none());
        for student in &self.models {
            let Some(teacher) = Preset::teacher_of(student) else { continue };
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
                        if let Some(teacher) = Preset::teacher_of(model) {
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
        Queue::new(out, entries)
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
    Err(Error::Config(what.into()))
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
                for (at, value) in values.iter().enumerate() {
                    if values[..at].contains(value) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyConfig, RunConfig};

    fn model(queue: &Queue, entry: usize) -> RunConfig {
        match queue.config(&queue.entries()[entry]).unwrap() {
            AnyConfig::Model(config) => config,
            other => panic!("{other:?}"),
        }
    }

    fn directories(text: &str) -> Vec<String> {
        let queue = Sweep::parse(text).unwrap().queue(Path::new("x")).unwrap();
        queue.entries().iter().map(|entry| entry.directory.display().to_string()).collect()
    }

    #[test]
    fn all_combinations_seed_by_seed() {
        let text = "epochs = 3\ntask = 'dsu'\n[sweep]\nmodel = ['gnn', 'deepsets']\nseed = '0-1'\n\
                    clip = [1.0, 5.0]\n[[condition]]\nname = 'a'\n[[condition]]\nname = 'b'\n\
                    decay = 'cosine'\n[[exclude]]\nclip = 5.0\nmodel = 'gnn'\n";
        let found = directories(text);
        assert_eq!(found.len(), 12);
        assert_eq!(
            found[..6],
            [
                "x/dsu/gnn/a/clip=1.0/seed-0",
                "x/dsu/deepsets/a/clip=1.0/seed-0",
                "x/dsu/deepsets/a/clip=5.0/seed-0",
                "x/dsu/gnn/b/clip=1.0/seed-0",
                "x/dsu/deepsets/b/clip=1.0/seed-0",
                "x/dsu/deepsets/b/clip=5.0/seed-0",
            ]
        );
        let queue = Sweep::parse(text).unwrap().queue(Path::new("x")).unwrap();
        let config = model(&queue, 5);
        assert_eq!((config.clip, config.epochs, config.decay), (5.0, 3, crate::Decay::Cosine));
        assert_eq!(queue.entries()[5].name(), "dsu deepsets b clip=5.0 seed 0");
    }

    #[test]
    fn lists_may_be_values() {
        let text = "task = 'dsu'\nmodel = 'gnn'\n[sweep]\ndata.nodes = [[20], [10, 20]]\n";
        let found = directories(text);
        assert_eq!(found, ["x/dsu/gnn/data.nodes=20/seed-0", "x/dsu/gnn/data.nodes=10+20/seed-0"]);
        let queue = Sweep::parse(text).unwrap().queue(Path::new("x")).unwrap();
        assert_eq!(model(&queue, 1).data.nodes, [10, 20]);
    }

    #[test]
    fn a_student_follows_the_teacher_with_its_settings() {
        let text = "task = 'dsu'\n[sweep]\nmodel = ['pgn-ptrs', 'gnn']\nclip = [1.0, 5.0]\n";
        let queue = Sweep::parse(text).unwrap().queue(Path::new("x")).unwrap();
        let models: Vec<&str> = queue.entries().iter().map(|entry| &*entry.model).collect();
        assert_eq!(models, ["gnn", "pgn", "pgn-ptrs", "gnn", "pgn", "pgn-ptrs"]);
        for student in [&queue.entries()[2], &queue.entries()[5]] {
            let teacher = &queue.entries()[student.depends_on.unwrap()];
            assert_eq!((&*teacher.model, &teacher.variant), ("pgn", &student.variant));
            assert!(teacher.index < student.index);
        }
        let free = text.replace("pgn-ptrs", "pgn-ptrs-free");
        let queue = Sweep::parse(&free).unwrap().queue(Path::new("x")).unwrap();
        let student = &queue.entries()[2];
        assert_eq!(queue.entries()[student.depends_on.unwrap()].model, "pgn-free");
        let none = format!("{text}[[exclude]]\nmodel = 'pgn'\n");
        assert!(Sweep::parse(&none).unwrap().queue(Path::new("x")).is_err());
    }

    #[test]
    fn mistakes_are_told_in_one_sentence() {
        for (text, words) in [
            ("[sweep]\nmodel = ['pgn']", "task is missing"),
            ("task = 'dsu'", "model is missing"),
            ("task = 'dsu'\nmodel = 'pgn'\n[sweep]\nclip = 1.0", "expected a list of values"),
            ("task = 'dsu'\nmodel = 'pgn'\n[sweep]\nclip = []", "sweep.clip is empty"),
            ("task = 'dsu'\nmodel = 'pgn'\n[sweep]\nclip = [1.0, 1.0]", "holds 1.0 twice"),
            (
                "task = 'dsu'\nmodel = 'pgn'\nclip = 2.0\n[sweep]\nclip = [1.0]",
                "inside and outside",
            ),
            ("task = 'dsu'\nmodel = 'pgn'\n[sweep]\ntask = ['lct']", "inside and outside"),
            ("task = 'dsu'\nmodel = 'pgn'\nseed = -1", "expected numbers from 0"),
            ("task = 'dsu'\nmodel = 'pgn'\nseed = '3-1'", "seed is \"3-1\""),
            ("task = 'dsu'\nmodel = 'pgn'\n[[condition]]\nclip = 1.0", "has no name"),
            ("task = 'dsu'\nmodel = 'pgn'\n[[condition]]\nname = '../x'", "expected letters"),
            ("task = 'dsu'\nmodel = 'pgn'\n[sweep]\ndata.train = ['a/b']", "folder's name"),
            ("task = 'dsu'\nmodel = 'pgn'\nclip = ", "line 3"),
            ("task = 'dsu'\nmodel = 'pgm'", "there is no model 'pgm'"),
            ("task = 'dsu'\nmodel = 'pgn'\n[sweep]\nclop = [1]", "clop"),
            ("task = 'dsu'\nmodel = 'pgn'\n[sweep]\nseed = '0-99999999'", "99999999"),
        ] {
            let sweep = Sweep::parse(text).and_then(|sweep| sweep.queue(Path::new("x")));
            let sentence = sweep.unwrap_err().to_string();
            assert!(sentence.contains(words) && !sentence.contains('\n'), "{text:?}: {sentence}");
        }
    }
}
