//! A queue of runs with fixed indices, each in a directory of its own.
//!
//! To train many runs, make a list of them; [`work`](crate::work()) goes through it. Nothing is
//! stored but the run directories: the state of an entry is read from its directory.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use serde::Serialize;
use toml::{Table, Value};

use crate::{
    Backend, Error, Lease, Result,
    files::{self, is_finished},
};

/// Runs under one directory, in the order in which they are begun.
#[derive(Clone, Debug)]
pub struct Queue<B> {
    backend: B,
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
    /// All other settings, as [`Backend::resolve`] takes them.
    #[serde(skip)]
    pub settings: Table,
}

/// How far an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum EntryState {
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
    /// Its directory holds a run with other settings.
    Other,
}

impl<B: Backend> Queue<B> {
    /// A queue of these entries, whose indices are set to their places.
    ///
    /// Refuses an empty queue, two entries in one directory, an entry that depends on a later one,
    /// and settings that make no sense, so that a mistake is told before anything is trained.
    pub fn new(
        backend: B,
        out: &Path,
        mut entries: Vec<Entry>,
    ) -> std::result::Result<Queue<B>, B::Error> {
        index(&mut entries)?;
        let queue = Queue { backend, out: out.to_owned(), entries };
        for entry in queue.entries.iter().filter(|entry| entry.depends_on.is_none()) {
            queue.config(entry)?;
        }
        Ok(queue)
    }

    /// Who trains its runs.
    pub fn backend(&self) -> &B {
        &self.backend
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
            Error::request(format!(
                "there is no entry {index} in this queue; expected from 0 to {}",
                self.entries.len() - 1
            ))
        })
    }

    /// The config of an entry. What it depends on must be finished first.
    pub fn config(&self, entry: &Entry) -> std::result::Result<B::Config, B::Error> {
        self.backend.resolve(self.settings(entry)?)
    }

    /// The settings of an entry, those that tell it from the others included.
    fn settings(&self, entry: &Entry) -> Result<Table> {
        let mut settings = entry.settings.clone();
        settings.insert("task".into(), entry.task.clone().into());
        settings.insert("model".into(), entry.model.clone().into());
        let seed = i64::try_from(entry.seed).map_err(|_| {
            Error::config("seed", format!("seed is {}; that is too large", entry.seed))
        })?;
        settings.insert("seed".into(), seed.into());
        if let Some(teacher) = entry.depends_on {
            let data = settings.entry("data").or_insert_with(|| Table::new().into());
            if let Value::Table(data) = data {
                let path = self.entries[teacher].directory.display().to_string();
                data.insert("teacher".into(), path.into());
            }
        }
        Ok(settings)
    }

    /// The entry that this one still waits for.
    pub fn waits_for(&self, entry: &Entry) -> Option<&Entry> {
        let teacher = &self.entries[entry.depends_on?];
        (self.state(teacher) != EntryState::Finished).then_some(teacher)
    }

    /// The epochs of an entry; known before what it depends on is finished.
    pub fn epochs(&self, entry: &Entry) -> std::result::Result<u64, B::Error> {
        match entry.settings.get("epochs") {
            Some(Value::Integer(epochs)) => Ok(u64::try_from(*epochs).unwrap_or(0)),
            _ => self.backend.default_epochs(&entry.task, &entry.model),
        }
    }

    /// How far an entry is.
    pub fn state(&self, entry: &Entry) -> EntryState {
        let directory = &entry.directory;
        let finished = is_finished(directory);
        if !finished && Lease::is_held(directory) {
            EntryState::Running
        } else if (finished || directory.join(files::CONFIG).exists()) && self.is_other(entry) {
            EntryState::Other
        } else if finished {
            EntryState::Finished
        } else {
            match self.backend.epochs_done(directory) {
                Some(epoch) => EntryState::Stopped { epoch },
                None => EntryState::Waiting,
            }
        }
    }

    /// Whether the directory of an entry holds another run. Without its teacher, whose files a
    /// config notes, nobody can tell.
    fn is_other(&self, entry: &Entry) -> bool {
        self.config(entry).is_ok_and(|config| !self.backend.is_of(&config, &entry.directory))
    }

    /// The entries that are finished, and how many directories hold other runs.
    pub fn finished(&self) -> (Vec<&Entry>, usize) {
        let mut others = 0;
        let finished = self.entries.iter().filter(|entry| {
            let state = self.state(entry);
            others += usize::from(state == EntryState::Other);
            state == EntryState::Finished
        });
        (finished.collect(), others)
    }
}

/// Numbers the entries by their places, and refuses lists that cannot be a queue.
fn index(entries: &mut [Entry]) -> Result<()> {
    if entries.is_empty() {
        return Err(Error::request("there are no runs in this queue"));
    }
    let mut directories = HashSet::new();
    for (index, entry) in entries.iter_mut().enumerate() {
        entry.index = index;
        if !directories.insert(&entry.directory) {
            return Err(Error::request(format!("{} is asked for twice", entry.name())));
        }
        if entry.depends_on.is_some_and(|teacher| teacher >= index) {
            return Err(Error::request(format!(
                "{} depends on a later run of the queue",
                entry.name()
            )));
        }
        if let Some(key) = ["task", "model", "seed"].iter().find(|key| entry.sets(key)) {
            return Err(Error::config(key, format!("{key} is set, but a queue has several")));
        }
    }
    Ok(())
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

    fn sets(&self, key: &str) -> bool {
        self.settings.contains_key(key)
    }
}

impl EntryState {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            EntryState::Waiting => "waiting",
            EntryState::Running => "running",
            EntryState::Stopped { .. } => "stopped",
            EntryState::Finished => "finished",
            EntryState::Other => "other",
        }
    }

    /// Whether there is work to do that nobody is at.
    pub fn is_todo(self) -> bool {
        matches!(self, EntryState::Waiting | EntryState::Stopped { .. })
    }
}

impl std::fmt::Display for EntryState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EntryState::Stopped { epoch } => f.pad(&format!("stopped at epoch {epoch}")),
            EntryState::Other => f.pad("holds another run"),
            state => f.pad(state.name()),
        }
    }
}
