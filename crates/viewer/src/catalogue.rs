//! What can be looked at: the built-in models, and the runs of a folder where one is served.

use std::collections::BTreeMap;

use pgn_lab::machine::MachineRun;
use pgn_structures::Task;

use crate::{
    built_in::{self, BuiltIn},
    halt::Halt,
    metrics::Lines,
    refusal::{Answer, Refusal},
    subject::Subject,
    summary::{Details, Summary},
};

/// Data structures by name: those of a program of one's own, then those built in.
#[derive(Clone, Debug, Default)]
pub struct Tasks(pub Vec<Task>);

impl Tasks {
    /// The data structure called `name`.
    pub fn named(&self, name: &str) -> Answer<Task> {
        match self.0.iter().find(|task| task.name() == name) {
            Some(task) => Ok(task.clone()),
            None => Task::named(name).map_err(|error| Refusal::bad(error.to_string())),
        }
    }

    /// Something about every data structure, by name.
    pub fn all<T>(&self, tell: fn(&Task) -> T) -> BTreeMap<String, T> {
        let own = self.0.iter().cloned();
        Task::all().chain(own).map(|task| (task.name().to_owned(), tell(&task))).collect()
    }
}

/// Runs that are not built in, by ids that begin with `run:`.
pub trait Folder: Send + Sync {
    /// The folder as the page shows it.
    fn path(&self) -> String;
    fn ids(&self, halt: &Halt) -> Answer<Vec<String>>;
    fn details(&self, id: &str) -> Answer<Details>;
    /// The lines of the run's `metrics.jsonl` from `offset` on.
    fn metrics(&self, id: &str, offset: u64) -> Answer<Lines>;
    fn load(&self, id: &str, epoch: Option<u64>) -> Answer<Subject>;
}

/// The refusal of an id that names no run.
pub fn missing(id: &str) -> Refusal {
    let id: String = id.chars().take(200).collect();
    Refusal::missing(format!("there is no run {id:?} in the folder being served"))
}

/// What can be looked at.
pub struct Catalogue {
    pub tasks: Tasks,
    folder: Option<Box<dyn Folder>>,
}

/// Where a run is.
enum Place<'a> {
    BuiltIn(&'static BuiltIn),
    /// A built-in machine, by the name of its program.
    Machine(&'static str),
    Folder(&'a dyn Folder),
}

impl Catalogue {
    pub fn new(tasks: Tasks, folder: Option<Box<dyn Folder>>) -> Catalogue {
        pgn_machines::programs::build_in_tasks();
        Catalogue { tasks, folder }
    }

    /// The folder being served, as the page shows it.
    pub fn folder(&self) -> Option<String> {
        self.folder.as_ref().map(|folder| folder.path())
    }

    /// All runs, those with damaged files included: built-in ones, then those of the folder.
    pub fn summaries(&self, halt: &Halt) -> Answer<Vec<Summary>> {
        let built_in = built_in::MODELS.iter().map(|model| format!("built-in:{}", model.name));
        let machines =
            MachineRun::built_in_names().iter().map(|name| format!("built-in:machine-{name}"));
        let own = self.folder.as_ref().map_or(Ok(Vec::new()), |folder| folder.ids(halt))?;
        let mut summaries = Vec::new();
        for id in built_in.chain(machines).chain(own) {
            halt.check()?;
            summaries.extend(self.details(&id).ok().map(|run| run.summary));
        }
        Ok(summaries)
    }

    /// One run.
    pub fn details(&self, id: &str) -> Answer<Details> {
        let mut details = match self.find(id)? {
            Place::BuiltIn(built_in) => built_in.details(id),
            Place::Machine(name) => built_in::machine_details(id, name),
            Place::Folder(folder) => folder.details(id),
        }?;
        let Summary { task, model, test, .. } = &details.summary;
        let paper = |nodes| Some(pgn_paper::numbers().f1(task, model, nodes)?.mean);
        details.paper = test.iter().map(|test| paper(test.nodes)).collect();
        Ok(details)
    }

    /// The curves of a run from `offset` on; the built-in models come without any.
    pub fn metrics(&self, id: &str, offset: u64) -> Answer<Lines> {
        match self.find(id)? {
            Place::Folder(folder) => folder.metrics(id, offset),
            _ => Ok(Lines::default()),
        }
    }

    /// The model of a run, ready to be replayed: the best one, or the one kept at an epoch.
    pub fn load(&self, id: &str, epoch: Option<u64>) -> Answer<Subject> {
        match self.find(id)? {
            Place::Folder(folder) => folder.load(id, epoch),
            _ if epoch.is_some() => Err(Refusal::missing("this run has kept no models")),
            Place::BuiltIn(built_in) => {
                let task = self.tasks.named(&built_in.run_config()?.task)?;
                Ok(Subject::Run(Box::new(built_in.run(&task)?)))
            }
            Place::Machine(name) => built_in::machine(name).map(Subject::Machine),
        }
    }

    fn find(&self, id: &str) -> Answer<Place<'_>> {
        let machine =
            |name: &str| MachineRun::built_in_names().iter().find(|known| **known == name);
        if let Some(name) = id.strip_prefix("built-in:machine-").and_then(machine) {
            return Ok(Place::Machine(name));
        }
        if let Some(name) = id.strip_prefix("built-in:") {
            return BuiltIn::named(name).map(Place::BuiltIn);
        }
        self.folder.as_deref().map(Place::Folder).ok_or_else(|| missing(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_runs_are_there_and_every_structure_has_a_title() {
        let nothing = Catalogue::new(Tasks::default(), None);
        let all = nothing.summaries(&Halt::default()).unwrap();
        assert_eq!((&*all[0].id, &*all[1].id), ("built-in:dsu", "built-in:lct"));
        for id in ["built-in:../dsu", "run:.", "run:../dsu", ""] {
            assert!(nothing.details(id).is_err() && nothing.load(id, None).is_err(), "{id}");
        }
        let titles = nothing.tasks.all(|task| task.title().to_owned());
        for name in pgn_machines::programs::NAMES.into_iter().chain(["kruskal", "dsu-by-size"]) {
            assert_ne!(titles[name], name);
        }
    }
}
