//! A queue of runs with fixed indices, each in a directory of its own.
//!
//! To train many runs, make a list of them; [`work`](crate::work()) goes through it. Nothing is
//! stored but the run directories: the state of an entry is read from its directory.

use std::path::{Path, PathBuf};

use serde::Serialize;
use toml::{Table, Value};

use crate::{AnyConfig, Checkpoint, Error, Result, RunDir, files, is_finished};

/// Runs under one directory, in the order in which they are begun.
#[derive(Clone, Debug)]
pub struct Queue {
    out: PathBuf,
    entries: Vec<Entry>,
}

/// One run of a queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Its place in the queue, from 0.
    pub index: usize,
    /// The data structure.
    pub task: String,
    /// The model.
    pub model: String,
    /// The seed.
    pub seed: u64,
    /// What else tells it from the others: a condition, settings; `None` where nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The run directory.
    pub directory: PathBuf,
    /// The entry that must be finished before: the run whose pointers this one is given.
    pub depends_on: Option<usize>,
    /// All other settings, as [`AnyConfig::resolve`] takes them.
    #[serde(skip)]
    pub settings: Table,
}

/// How far an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum State {
    /// Nothing has been done.
    Waiting,
    /// A process is at it.
    Running,
    /// It was stopped after a checkpoint.
    Stopped {
        /// Epochs done.
        epoch: u64,
    },
    /// Done.
    Finished,
}

impl Queue {
    /// A queue of these entries, whose indices are set to their places.
    ///
    /// Refuses an empty queue, two entries in one directory, an entry that depends on a later one,
    /// and settings that make no sense, so that a mistake is told before anything is trained.
    pub fn new(out: &Path, mut entries: Vec<Entry>) -> Result<Queue> {
        if entries.is_empty() {
            return Err(Error::Request("there are no runs in this queue".into()));
        }
        for index in 0..entries.len() {
            entries[index].index = index;
            let entry = &entries[index];
            if entries[..index].iter().any(|other| other.directory == entry.directory) {
                return Err(Error::Request(format!("{} is asked for twice", entry.name())));
            }
            if entry.depends_on.is_some_and(|teacher| teacher >= index) {
                return Err(Error::Request(format!(
                    "{} depends on a later run of the queue",
                    entry.name()
                )));
            }
            if let Some(key) = ["task", "model", "seed"].iter().find(|key| entry.sets(key)) {
                return Err(Error::Config(format!("{key} is set, but a queue has several")));
            }
        }
        let queue = Queue { out: out.to_owned(), entries };
        for entry in queue.entries.iter().filter(|entry| entry.depends_on.is_none()) {
            queue.config(entry)?;
        }
        Ok(queue)
    }

    /// The directory that all runs are under.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// The runs, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Entry number `index`.
    pub fn entry(&self, index: usize) -> Result<&Entry> {
        self.entries.get(index).ok_or_else(|| {
            Error::Request(format!(
                "there is no entry {index} in this queue; expected from 0 to {}",
                self.entries.len() - 1
            ))
        })
    }

    /// The config of an entry. What it depends on must be finished first.
    pub fn config(&self, entry: &Entry) -> Result<AnyConfig> {
        let mut settings = entry.settings.clone();
        settings.insert("task".into(), entry.task.clone().into());
        settings.insert("model".into(), entry.model.clone().into());
        let seed = i64::try_from(entry.seed)
            .map_err(|_| Error::Config(format!("seed is {}; that is too large", entry.seed)))?;
        settings.insert("seed".into(), seed.into());
        if let Some(teacher) = entry.depends_on {
            let data = settings.entry("data").or_insert_with(|| Table::new().into());
            if let Value::Table(data) = data {
                let path = self.entries[teacher].directory.display().to_string();
                data.insert("teacher".into(), path.into());
            }
        }
        AnyConfig::resolve(settings)
    }

    /// The entry that this one still waits for.
    pub fn waits_for(&self, entry: &Entry) -> Option<&Entry> {
        let teacher = &self.entries[entry.depends_on?];
        (!is_finished(&teacher.directory)).then_some(teacher)
    }

    /// The epochs of an entry; known before what it depends on is finished.
    pub fn epochs(&self, entry: &Entry) -> Result<u64> {
        match entry.settings.get("epochs") {
            Some(Value::Integer(epochs)) => Ok(u64::try_from(*epochs).unwrap_or(0)),
            _ => AnyConfig::default_epochs(&entry.task, &entry.model),
        }
    }
}

impl Entry {
    /// What the entry is called in messages.
    pub fn name(&self) -> String {
        let Entry { task, model, seed, .. } = self;
        match &self.variant {
            None => format!("{task} {model} seed {seed}"),
            Some(variant) => format!("{task} {model} {variant} seed {seed}"),
        }
    }

    /// How far it is.
    pub fn state(&self) -> State {
        if is_finished(&self.directory) {
            State::Finished
        } else if RunDir::is_held(&self.directory) {
            State::Running
        } else {
            match Checkpoint::epoch_of(&self.directory.join(files::CHECKPOINT)) {
                Some(epoch) => State::Stopped { epoch },
                None => State::Waiting,
            }
        }
    }

    fn sets(&self, key: &str) -> bool {
        self.settings.contains_key(key)
    }
}

impl State {
    /// Whether there is work to do that nobody is at.
    pub fn is_todo(self) -> bool {
        matches!(self, State::Waiting | State::Stopped { .. })
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            State::Waiting => f.pad("waiting"),
            State::Running => f.pad("running"),
            State::Stopped { epoch } => f.pad(&format!("stopped at epoch {epoch}")),
            State::Finished => f.pad("finished"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(directory: &str, settings: Table) -> Entry {
        Entry {
            index: 0,
            task: "dsu".into(),
            model: "gnn".into(),
            seed: 0,
            variant: None,
            directory: directory.into(),
            depends_on: None,
            settings,
        }
    }

    #[test]
    fn entries_may_differ_in_any_setting() {
        let settings = [toml::toml! { epochs = 3 }, toml::toml! { clip = 2.0 }];
        let entries: Vec<Entry> =
            settings.into_iter().zip(["a", "b"]).map(|(s, dir)| entry(dir, s)).collect();
        let queue = Queue::new(Path::new("x"), entries).unwrap();
        let [a, b] = [0, 1].map(|index| queue.entry(index).unwrap());
        assert_eq!((a.index, b.index), (0, 1));
        assert_eq!((queue.epochs(a).unwrap(), queue.epochs(b).unwrap()), (3, 5000));
        assert!(matches!(queue.config(b), Ok(AnyConfig::Model(config)) if config.clip == 2.0));
        assert!(queue.entry(2).is_err());
    }

    #[test]
    fn mistakes_are_told_before_anything_is_trained() {
        let refused = |entries: Vec<Entry>, words: &str| {
            let sentence = Queue::new(Path::new("x"), entries).unwrap_err().to_string();
            assert!(sentence.contains(words), "{sentence}");
        };
        let empty = Table::new;
        refused(vec![], "no runs");
        refused(vec![entry("a", empty()), entry("a", empty())], "asked for twice");
        refused(vec![entry("a", toml::toml! { seed = 1 })], "seed is set");
        refused(vec![entry("a", toml::toml! { learning_rate = -1.0 })], "learning_rate is -1");
        refused(vec![Entry { depends_on: Some(0), ..entry("a", empty()) }], "a later run");
    }
}
