//! The paper's grid of runs: tasks × models × seeds, as a queue with fixed indices.

use std::path::{Path, PathBuf};

use pgn_engine::Config;
use serde::Serialize;
use toml::{Table, Value};

use crate::{Checkpoint, Error, Result, RunConfig, RunDir, files, is_finished};

/// A grid of runs under one directory.
#[derive(Clone, Debug)]
pub struct Grid {
    out: PathBuf,
    settings: Table,
    entries: Vec<Entry>,
}

/// One run of a grid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its place in the queue, from 0.
    pub index: usize,
    /// The data structure.
    pub task: String,
    /// The model.
    pub model: String,
    /// The seed.
    pub seed: u64,
    /// The run directory.
    pub directory: PathBuf,
    /// The entry that must be finished before: the teacher of a `pgn-ptrs`.
    pub depends_on: Option<usize>,
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

/// Which runs there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The data structures.
    pub tasks: Vec<String>,
    /// The models. `pgn` is added where `pgn-ptrs` is, as its teacher.
    pub models: Vec<String>,
    /// The seeds.
    pub seeds: Vec<u64>,
}

impl Selection {
    /// The whole of the paper: ten models, two tasks, five seeds.
    pub fn full() -> Selection {
        Selection {
            tasks: ["dsu", "lct"].map(str::to_owned).into(),
            models: Config::PRESETS.map(str::to_owned).into(),
            seeds: (0..5).collect(),
        }
    }

    /// For the impatient: DSU, four models, one seed.
    pub fn quick() -> Selection {
        Selection {
            tasks: vec!["dsu".to_owned()],
            models: ["gnn", "deepsets", "pgn-nm", "pgn"].map(str::to_owned).into(),
            seeds: vec![0],
        }
    }
}

impl Grid {
    /// Lays out the runs of `selection` under `out`, seed by seed, so that a queue that is cut
    /// short has whole seeds. `settings` are those of [`RunConfig::resolve`], for every run.
    ///
    /// ```
    /// use pgn_lab::{Grid, Selection};
    /// let grid = Grid::new("runs".as_ref(), &Selection::full(), toml::Table::new())?;
    /// assert_eq!(grid.entries().len(), 100);
    /// let student = grid.entries().iter().find(|entry| entry.model == "pgn-ptrs").unwrap();
    /// assert_eq!(grid.entries()[student.depends_on.unwrap()].model, "pgn");
    /// # Ok::<(), pgn_lab::Error>(())
    /// ```
    pub fn new(out: &Path, selection: &Selection, settings: Table) -> Result<Grid> {
        for key in ["task", "model", "seed"] {
            if settings.contains_key(key) {
                return Err(Error::Config(format!("{key} is set, but a grid has several")));
            }
        }
        let mut models = selection.models.clone();
        if let Some(student) = models.iter().position(|model| model == "pgn-ptrs")
            && !models[..student].iter().any(|model| model == "pgn")
        {
            models.retain(|model| model != "pgn");
            let student = student.min(models.len() - 1);
            models.insert(student, "pgn".to_owned());
        }
        let mut entries: Vec<Entry> = Vec::new();
        for &seed in &selection.seeds {
            for task in &selection.tasks {
                for model in &models {
                    let directory = out.join(task).join(model).join(format!("seed-{seed}"));
                    if entries.iter().any(|entry| entry.directory == directory) {
                        return Err(Error::Request(format!(
                            "{task} {model} seed {seed} is asked for twice"
                        )));
                    }
                    let teacher = |entry: &&Entry| {
                        (&entry.task, &*entry.model, entry.seed) == (task, "pgn", seed)
                    };
                    let depends_on = match model.as_str() {
                        "pgn-ptrs" => entries.iter().find(teacher).map(|entry| entry.index),
                        _ => None,
                    };
                    entries.push(Entry {
                        index: entries.len(),
                        task: task.clone(),
                        model: model.clone(),
                        seed,
                        directory,
                        depends_on,
                    });
                }
            }
        }
        if entries.is_empty() {
            return Err(Error::Request("there are no runs in this grid".into()));
        }
        let grid = Grid { out: out.to_owned(), settings, entries };
        // One mistake in the settings is told before anything is trained.
        for entry in grid.entries.iter().filter(|entry| entry.depends_on.is_none()) {
            grid.config(entry)?;
        }
        Ok(grid)
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

    /// The config of an entry. A teacher must be finished first.
    pub fn config(&self, entry: &Entry) -> Result<RunConfig> {
        let mut settings = self.settings.clone();
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
        RunConfig::resolve(settings)
    }

    /// The epochs that every run takes.
    pub fn epochs(&self) -> Result<u64> {
        let first = self.entries.iter().find(|entry| entry.depends_on.is_none());
        first.map_or(Ok(0), |entry| Ok(self.config(entry)?.epochs))
    }
}

impl Entry {
    /// What the entry is called in messages.
    pub fn name(&self) -> String {
        format!("{} {} seed {}", self.task, self.model, self.seed)
    }

    /// How far it is.
    pub fn state(&self) -> State {
        if is_finished(&self.directory) {
            State::Finished
        } else if RunDir::is_claimed(&self.directory) {
            State::Running
        } else {
            match Checkpoint::epoch_of(&self.directory.join(files::CHECKPOINT)) {
                Some(epoch) => State::Stopped { epoch },
                None => State::Waiting,
            }
        }
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

    fn models(models: &[&str]) -> Selection {
        let models = models.iter().map(|&model| model.to_owned()).collect();
        Selection { models, ..Selection::quick() }
    }

    #[test]
    fn a_teacher_always_comes_before_its_student() {
        for names in [
            &["pgn-ptrs"][..],
            &["pgn-ptrs", "pgn"],
            &["gnn", "pgn-ptrs"],
            &["pgn", "pgn-ptrs"],
            &["pgn-ptrs", "gnn", "pgn"],
        ] {
            let grid = Grid::new(Path::new("x"), &models(names), Table::new()).unwrap();
            let student = grid.entries.iter().find(|entry| entry.model == "pgn-ptrs").unwrap();
            let teacher = student.depends_on.unwrap();
            assert!(teacher < student.index, "{names:?}");
            assert_eq!(grid.entries[teacher].model, "pgn");
            assert_eq!(grid.entries.iter().filter(|entry| entry.model == "pgn").count(), 1);
        }
    }

    #[test]
    fn nonsense_is_refused_before_anything_is_trained() {
        let unknown = Grid::new(Path::new("x"), &models(&["gnn", "gmm"]), Table::new());
        assert!(unknown.unwrap_err().to_string().contains("there is no model 'gmm'"));
        let twice = Grid::new(Path::new("x"), &models(&["gnn", "gnn"]), Table::new());
        assert!(twice.unwrap_err().to_string().contains("asked for twice"));
        let settings = toml::toml! { learning_rate = -1.0 };
        assert!(Grid::new(Path::new("x"), &models(&["gnn"]), settings).is_err());
        assert!(Grid::new(Path::new("x"), &models(&[]), Table::new()).is_err());
    }
}
