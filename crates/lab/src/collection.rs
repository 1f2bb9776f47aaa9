//! The results of many runs, gathered from their directories or from `runs.json`.

use std::path::{Path, PathBuf};

use pgn_structures::Task;
use serde::{Deserialize, Serialize};

use crate::{Counting, Error, Result, Results, Scores, TestScores, files, is_finished};

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
    /// use pgn_lab::Spread;
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
    /// none, reads `runs.json`.
    pub fn load(dir: &Path) -> Result<Collection> {
        let runs = finished_runs(dir)?;
        if runs.is_empty() {
            let path = dir.join(RUNS);
            if !path.exists() {
                return Err(Error::Request(format!(
                    "{} has no finished runs in it, and no {RUNS}",
                    dir.display()
                )));
            }
            return files::read_json(&path);
        }
        Collection::gather(&runs)
    }

    /// The results in these run directories.
    pub fn gather(runs: &[PathBuf]) -> Result<Collection> {
        let mut runs: Vec<Results> =
            runs.iter().map(|run| Results::load(run)).collect::<Result<_>>()?;
        runs.sort_by(|a, b| (&a.task, &a.model, a.seed).cmp(&(&b.task, &b.model, b.seed)));
        Ok(Collection { runs })
    }

    /// Writes `runs.json`.
    pub fn save(&self, dir: &Path) -> Result<()> {
        files::write_json(&dir.join(RUNS), self)
    }

    /// The runs of a model on a task.
    pub fn of<'a>(&'a self, task: &'a str, model: &'a str) -> impl Iterator<Item = &'a Results> {
        self.runs.iter().filter(move |run| run.task == task && run.model == model)
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
        let runs = self.one_of_each_seed(task);
        let scores: Vec<f64> =
            runs.iter().filter_map(|run| Some(run.at(nodes)?.f1_always_1)).collect();
        Spread::of(&scores)
    }

    /// F₁ of [`Counting`] on the same test sets; not on those of models with an iterated processor,
    /// which may be too large to be held in memory.
    pub fn counting(&self, task: &str, nodes: usize) -> Option<Spread> {
        let structure = Task::named(task).ok()?;
        let score = |run: &&Results| {
            let held = |test: &&TestScores| test.nodes == nodes && test.execution.is_none();
            let test = run.test.iter().find(held)?;
            let rule = Counting::of_seed(&structure, run.seed).ok()?;
            let scores = rule.test(&structure, run.seed, nodes, test.ops, test.sequences);
            Some(scores.ok()?.f1)
        };
        Spread::of(&self.one_of_each_seed(task).iter().filter_map(score).collect::<Vec<_>>())
    }

    /// One run of each seed: all models at one seed have the same test sets.
    fn one_of_each_seed(&self, task: &str) -> Vec<&Results> {
        let mut runs: Vec<&Results> = self.runs.iter().filter(|run| run.task == task).collect();
        runs.sort_by_key(|run| run.seed);
        runs.dedup_by_key(|run| run.seed);
        runs
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
            return Err(Error::Request(format!("{} has no finished run in it", path.display())));
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
