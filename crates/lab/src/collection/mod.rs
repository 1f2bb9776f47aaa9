//! The results of many runs, gathered from their directories or from `runs.json`, in groups and
//! tables.

mod group;
mod sweep_tables;
mod table;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use pgn_structures::Task;
use serde::{Deserialize, Serialize};

use pgn_runs::{files, files::is_finished};

use crate::{Error, Result, Results, Scores, TestScores, TrivialRules};

pub use group::{Group, OfRun, chosen, groups};
pub use sweep_tables::sweep_tables;
pub use table::{Table, title};

/// All runs of a grid as one JSON file.
pub const RUNS: &str = "runs.json";

/// The results of many runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Collection {
    /// By task, model and seed, in this order.
    pub runs: Vec<Results>,
}

/// Mean and spread of a score over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation (divided by count − 1); `None` for a single run.
    pub std: Option<f64>,
    /// How many runs.
    pub count: usize,
}

impl Spread {
    /// Of some values; `None` if there are none.
    ///
    /// ```
    /// use pgn_lab::collection::Spread;
    /// let spread = Spread::of(&[2.0, 4.0, 6.0]).unwrap();
    /// assert_eq!((spread.mean, spread.std, spread.count), (4.0, Some(2.0), 3));
    /// assert_eq!(Spread::of(&[1.0]).unwrap().std, None);
    /// ```
    pub fn of(values: &[f64]) -> Option<Spread> {
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let std = (count > 1).then(|| (squares / (count - 1) as f64).sqrt());
        Some(Spread { mean, std, count })
    }
}

impl Collection {
    /// Gathers every finished run under `dir`, laid out as task/model/seed-S; where there is
    /// none, reads `runs.json`, and without it finds runs in any layout.
    pub fn load(dir: &Path) -> Result<Collection> {
        let mut runs = finished_runs(dir)?;
        if runs.is_empty() {
            let path = dir.join(RUNS);
            if path.exists() {
                return Ok(files::read_json(&path)?);
            }
            walk(dir, DEEPEST, &mut runs)?;
        }
        if runs.is_empty() {
            let dir = dir.display();
            return Err(Error::request(format!("{dir} has no finished runs in it, and no {RUNS}")));
        }
        Collection::gather(&runs)
    }

    /// The results in these run directories.
    pub fn gather(runs: &[PathBuf]) -> Result<Collection> {
        let mut runs: Vec<Results> =
            runs.iter().map(|run| Results::load(run)).collect::<Result<_>>()?;
        // Checksums say something about a directory, not about a row of a table.
        runs.iter_mut().for_each(|run| run.files.clear());
        runs.sort_by(|a, b| (&a.task, &a.model, a.seed).cmp(&(&b.task, &b.model, b.seed)));
        Ok(Collection { runs })
    }

    /// Writes `runs.json`.
    pub fn save(&self, dir: &Path) -> Result<()> {
        Ok(files::write_json(&dir.join(RUNS), self)?)
    }

    /// The runs of a model on a task that differ in nothing but their seed: of several groups of
    /// settings the one that speaks for the model, see [`chosen`].
    pub fn of(&self, task: &str, model: &str) -> impl Iterator<Item = &Results> {
        chosen(&self.runs, task, model).into_iter()
    }

    /// All groups of runs on a task, by model.
    pub fn groups(&self, task: &str) -> Vec<Group<'_, Results>> {
        groups(&self.runs, task)
    }

    /// Mean and spread of a score over the seeds.
    pub fn spread(
        &self,
        task: &str,
        model: &str,
        nodes: usize,
        score: impl Fn(&Scores) -> Option<f64>,
    ) -> Option<Spread> {
        let scores = self.of(task, model).filter_map(|run| score(run.at(nodes)?));
        Spread::of(&scores.collect::<Vec<_>>())
    }

    /// Mean and spread of F₁.
    pub fn f1(&self, task: &str, model: &str, nodes: usize) -> Option<Spread> {
        self.spread(task, model, nodes, |scores| Some(scores.f1))
    }

    /// F₁ of answering 1 always, over the seeds that there are runs of.
    pub fn always_1(&self, task: &str, nodes: usize) -> Option<Spread> {
        self.of_seeds(task, nodes, |test| Some(test.scores.f1_always_1))
    }

    /// F₁ of [`Counting`](crate::Counting) on the same test sets, where it was measured.
    pub fn counting(&self, task: &str, nodes: usize) -> Option<Spread> {
        self.of_seeds(task, nodes, |test| test.counting_f1)
    }

    /// What a rule of [`TrivialRules`] scores on the same test sets, where it was measured.
    pub fn trivial(
        &self,
        task: &str,
        nodes: usize,
        rule: fn(&TrivialRules) -> f64,
    ) -> Option<Spread> {
        self.of_seeds(task, nodes, |test| test.trivial.as_ref().map(rule))
    }

    /// A number that depends on the test set alone: all models at one seed have the same, so that
    /// one run of each seed is enough.
    fn of_seeds(
        &self,
        task: &str,
        nodes: usize,
        number: impl Fn(&TestScores) -> Option<f64>,
    ) -> Option<Spread> {
        let mut of_seed: BTreeMap<u64, f64> = BTreeMap::new();
        for run in self.runs.iter().filter(|run| run.task == task) {
            let test = run.test.iter().find(|test| test.nodes == nodes);
            if let Some(number) = test.and_then(&number) {
                of_seed.entry(run.seed).or_insert(number);
            }
        }
        Spread::of(&of_seed.into_values().collect::<Vec<_>>())
    }

    /// The tasks there are runs of, in the order of [`Task::names`].
    pub fn tasks(&self) -> Vec<&str> {
        in_order(self.runs.iter().map(|run| &*run.task))
    }

    /// The test sizes, ascending.
    pub fn sizes(&self) -> Vec<usize> {
        let all = self.runs.iter().flat_map(|run| run.test.iter().map(|test| test.nodes));
        let mut sizes: Vec<usize> = all.collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

/// Each task once: the built-in ones in the order of [`Task::names`], then the others.
pub(crate) fn in_order<'a>(tasks: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen: Vec<&str> = Vec::new();
    for task in tasks {
        if !seen.contains(&task) {
            seen.push(task);
        }
    }
    let place = |task: &str| Task::names().position(|name| name == task).unwrap_or(usize::MAX);
    seen.sort_by_key(|task| place(task));
    seen
}

/// The directories of finished runs under `dir`, laid out as task/model/seed-S.
pub fn finished_runs(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut runs = Vec::new();
    for task in folders(dir)? {
        for model in folders(&task)? {
            runs.extend(folders(&model)?.into_iter().filter(|run| is_finished(run)));
        }
    }
    Ok(runs)
}

/// The finished runs that `paths` name: run directories, or folders with runs in them, however
/// deep. Each is listed once, in the order of `paths`, then by name.
///
/// Refuses a path in which there is none.
pub fn find_runs(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut runs: Vec<PathBuf> = Vec::new();
    for path in paths {
        let mut found = Vec::new();
        walk(path, DEEPEST, &mut found)?;
        if found.is_empty() {
            return Err(Error::request(format!("{} has no finished run in it", path.display())));
        }
        runs.extend(found);
    }
    let mut seen = std::collections::BTreeSet::new();
    runs.retain(|run| seen.insert(std::fs::canonicalize(run).unwrap_or_else(|_| run.clone())));
    Ok(runs)
}

/// How deep below a folder runs are looked for.
const DEEPEST: usize = 8;

fn walk(dir: &Path, deeper: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    if is_finished(dir) {
        // What is inside a run, such as its teacher, is no run of its own.
        found.push(dir.to_owned());
    } else if deeper > 0 {
        for folder in folders(dir)? {
            walk(&folder, deeper - 1, found)?;
        }
    }
    Ok(())
}

/// The folders in a folder, by name.
fn folders(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(dir).map_err(Error::io("read", dir))?;
    let mut folders: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}
