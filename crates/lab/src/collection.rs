//! The results of many runs, gathered from their directories or from `runs.json`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use pgn_structures::Task;
use serde::{Deserialize, Serialize};

use crate::{
    Counting, Error, Group, Result, Results, Scores, TestScores, chosen, files, groups, is_finished,
};

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
            return files::read_json::<Collection>(&path)?.complete();
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
        Collection { runs }.complete()
    }

    /// Writes `runs.json`.
    pub fn save(&self, dir: &Path) -> Result<()> {
        files::write_json(&dir.join(RUNS), self)
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

    /// F₁ of [`Counting`] on the same test sets, where it was measured.
    pub fn counting(&self, task: &str, nodes: usize) -> Option<Spread> {
        self.of_seeds(task, nodes, |test| test.counting_f1)
    }

    /// A number that depends on the test set alone: all models at one seed have the same, so that
    /// one run of each seed is enough.
    fn of_seeds(
        &self,
        task: &str,
        nodes: usize,
        number: fn(&TestScores) -> Option<f64>,
    ) -> Option<Spread> {
        let mut of_seed: BTreeMap<u64, f64> = BTreeMap::new();
        for run in self.runs.iter().filter(|run| run.task == task) {
            let test = run.test.iter().find(|test| test.nodes == nodes);
            if let Some(number) = test.and_then(number) {
                of_seed.entry(run.seed).or_insert(number);
            }
        }
        Spread::of(&of_seed.into_values().collect::<Vec<_>>())
    }

    /// Measures [`Counting`] where results have none: runs before it was part of them. Not on the
    /// test sets of models with an iterated processor, which may be too large to be held in
    /// memory, and not for structures that are not built in.
    fn complete(mut self) -> Result<Collection> {
        // All models at one seed have the same test sets: each is measured once.
        let mut rules: BTreeMap<(String, u64), Counting> = BTreeMap::new();
        let mut measured: BTreeMap<(String, u64, [usize; 3]), f64> = BTreeMap::new();
        for run in &mut self.runs {
            let Ok(task) = Task::named(&run.task) else { continue };
            if !task.is_built_in() {
                continue;
            }
            let lacking =
                |test: &&mut TestScores| test.counting_f1.is_none() && test.execution.is_none();
            for test in run.test.iter_mut().filter(lacking) {
                let sizes = [test.nodes, test.ops, test.sequences];
                let key = (run.task.clone(), run.seed, sizes);
                if !measured.contains_key(&key) {
                    let of_seed = (run.task.clone(), run.seed);
                    if !rules.contains_key(&of_seed) {
                        rules.insert(of_seed.clone(), Counting::of_seed(&task, run.seed)?);
                    }
                    let [nodes, ops, count] = sizes;
                    let scores = rules[&of_seed].test(&task, run.seed, nodes, ops, count)?;
                    measured.insert(key.clone(), scores.f1);
                }
                test.counting_f1 = measured.get(&key).copied();
            }
        }
        Ok(self)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunConfig;

    fn results(seed: u64, test: Vec<TestScores>) -> Results {
        let config = RunConfig::defaults("dsu", "pgn", seed).unwrap();
        Results { task: config.task, model: config.model, seed, test, ..Results::default() }
    }

    fn gathered(runs: &[Results]) -> Result<Collection> {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> =
            (0..runs.len()).map(|index| dir.path().join(index.to_string())).collect();
        for (path, run) in paths.iter().zip(runs) {
            files::make_dir(path)?;
            files::write_json(&path.join(files::RESULTS), run)?;
        }
        Collection::gather(&paths)
    }

    fn set(nodes: usize) -> TestScores {
        TestScores { nodes, ops: 2 * nodes, sequences: 3, ..TestScores::default() }
    }

    #[test]
    fn counting_is_measured_when_runs_are_gathered_and_never_later() {
        let runs = gathered(&[results(0, vec![set(8)]), results(1, vec![set(8)])]).unwrap();
        let dsu = Task::named("dsu").unwrap();
        let expected = [0, 1].map(|seed| {
            Counting::of_seed(&dsu, seed).unwrap().test(&dsu, seed, 8, 16, 3).unwrap().f1
        });
        assert_eq!(runs.counting("dsu", 8), Spread::of(&expected));

        // What results have is taken as it is, and not measured again.
        let known = TestScores { counting_f1: Some(0.125), ..set(8) };
        let runs = gathered(&[results(0, vec![known])]).unwrap();
        assert_eq!(runs.counting("dsu", 8).unwrap().mean, 0.125);
        assert_eq!(Collection { runs: vec![results(0, vec![set(8)])] }.counting("dsu", 8), None);
    }

    #[test]
    fn a_test_set_that_cannot_be_made_is_an_error_when_runs_are_gathered() {
        let sentence = gathered(&[results(0, vec![set(1)])]).unwrap_err().to_string();
        assert!(sentence.contains('1') && !sentence.contains('\n'), "{sentence}");
    }
}
