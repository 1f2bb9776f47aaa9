//! Runs that differ in nothing but their seed: what a mean over seeds may be taken of.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Results, Scores, analysis::Analysis, collection::Spread};

/// Something that is known about one run.
pub trait OfRun {
    /// The data structure.
    fn task(&self) -> &str;
    /// The model.
    fn model(&self) -> &str;
    /// The seed.
    fn seed(&self) -> u64;
    /// Epochs trained.
    fn epochs(&self) -> u64;
    /// Settings that differ from the defaults, by key.
    fn departures(&self) -> &BTreeMap<String, String>;
}

/// Runs of one model on one task that differ in nothing but their seed.
#[derive(Clone, Debug)]
pub struct Group<'a, T> {
    /// The model.
    pub model: &'a str,
    /// The settings in which it differs from the other groups of its model and task, such as
    /// `epochs = 300`; empty if there is no other.
    pub settings: Vec<String>,
    /// One for each seed, in the order of seeds.
    pub runs: Vec<&'a T>,
}

impl<T> Group<'_, T> {
    /// What tables call it, with names and settings in backticks.
    pub fn name(&self) -> String {
        let mut name = format!("`{}`", self.model);
        for setting in &self.settings {
            name += &format!(", `{setting}`");
        }
        name
    }
}

impl Group<'_, Results> {
    /// Mean and spread of a score over the seeds.
    pub fn spread(&self, nodes: usize, score: impl Fn(&Scores) -> Option<f64>) -> Option<Spread> {
        let scores = self.runs.iter().filter_map(|run| score(run.at(nodes)?));
        Spread::of(&scores.collect::<Vec<_>>())
    }
}

/// The groups of a task, by model. Of one model's groups, the one with the default settings comes
/// first. A run that is there twice is counted once.
pub fn groups<'a, T: OfRun>(runs: &'a [T], task: &str) -> Vec<Group<'a, T>> {
    let mut by_settings: BTreeMap<_, BTreeMap<u64, &T>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.task() == task) {
        let departs = !run.departures().is_empty();
        let key = (run.model(), departs, run.epochs(), run.departures());
        by_settings.entry(key).or_default().entry(run.seed()).or_insert(run);
    }
    let keys: Vec<_> = by_settings.keys().copied().collect();
    by_settings
        .into_iter()
        .map(|((model, _, epochs, departures), runs)| {
            let others = keys.iter().filter(|key| key.0 == model);
            let mut apart: BTreeSet<&str> = BTreeSet::new();
            for &(_, _, other_epochs, other) in others {
                if epochs != other_epochs {
                    apart.insert("epochs");
                }
                let both = departures.keys().chain(other.keys());
                apart.extend(
                    both.filter(|&key| departures.get(key) != other.get(key)).map(|k| &**k),
                );
            }
            // What is at its default needs no words.
            let said = |key: &str| match (key, departures.get(key)) {
                ("epochs", _) => Some(format!("{key} = {epochs}")),
                (_, value) => value.map(|value| format!("{key} = {value}")),
            };
            let settings = apart.into_iter().filter_map(said).collect();
            Group { model, settings, runs: runs.into_values().collect() }
        })
        .collect()
}

/// The runs of a model on a task that speak for it where there is room for one number: those with
/// the default settings or, if there are none, the group with the most seeds.
pub fn chosen<'a, T: OfRun>(runs: &'a [T], task: &str, model: &str) -> Vec<&'a T> {
    let of_model = groups(runs, task).into_iter().filter(|group| group.model == model);
    let mut best: Option<Group<'a, T>> = None;
    for group in of_model {
        let default = |group: &Group<'_, T>| group.runs[0].departures().is_empty();
        let better =
            best.as_ref().is_none_or(|best| !default(best) && group.runs.len() > best.runs.len());
        if better {
            best = Some(group);
        }
    }
    best.map_or_else(Vec::new, |group| group.runs)
}

macro_rules! of_run {
    ($($kind:ty),+) => {$(
        impl OfRun for $kind {
            fn task(&self) -> &str {
                &self.task
            }

            fn model(&self) -> &str {
                &self.model
            }

            fn seed(&self) -> u64 {
                self.seed
            }

            fn epochs(&self) -> u64 {
                self.epochs
            }

            fn departures(&self) -> &BTreeMap<String, String> {
                &self.departures
            }
        }
    )+};
}

of_run!(Results, Analysis);
