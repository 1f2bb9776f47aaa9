//! The paper's grid of runs: tasks × models × seeds.

use std::path::Path;

use pgn_engine::{Config, Preset};
use pgn_lab::{Error, Experiments, Queue, Result};
use pgn_runs::Entry;
use pgn_structures::Task;
use toml::Table;

/// Which runs there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The data structures.
    pub tasks: Vec<String>,
    /// The models. A model's teacher is added where it is missing: `pgn` where `pgn-ptrs` is,
    /// `pgn-free` where `pgn-ptrs-free` is.
    pub models: Vec<String>,
    /// The seeds.
    pub seeds: Vec<u64>,
}

impl Selection {
    /// The whole of the paper: ten models, two tasks, five seeds.
    pub fn full() -> Selection {
        Selection {
            tasks: Task::of_paper().map(str::to_owned).collect(),
            models: Config::PRESETS.iter().map(|name| (*name).to_owned()).collect(),
            seeds: (0..5).collect(),
        }
    }

    /// The quick version: DSU, four models, one seed.
    pub fn quick() -> Selection {
        Selection {
            tasks: vec!["dsu".to_owned()],
            models: ["gnn", "deepsets", "pgn-nm", "pgn"].map(str::to_owned).into(),
            seeds: vec![0],
        }
    }
}

/// Lays out the runs of `selection` under `out`, seed by seed, so that a queue that is cut short
/// has whole seeds. `settings` are those of [`RunConfig::resolve`](pgn_lab::RunConfig::resolve),
/// for every run.
///
/// ```
/// use pgn_paper::{Selection, grid};
/// let queue = grid("runs".as_ref(), &Selection::full(), toml::Table::new())?;
/// assert_eq!(queue.entries().len(), 100);
/// let student = queue.entries().iter().find(|entry| entry.model == "pgn-ptrs").unwrap();
/// assert_eq!(queue.entries()[student.depends_on.unwrap()].model, "pgn");
/// # Ok::<(), pgn_lab::Error>(())
/// ```
pub fn grid(out: &Path, selection: &Selection, settings: Table) -> Result<Queue> {
    let mut models = selection.models.clone();
    for student in &selection.models {
        let place = models.iter().position(|model| model == student);
        if let (Some(teacher), Some(place)) = (Preset::teacher_of(student), place)
            && !models[..place].iter().any(|model| model == teacher)
        {
            models.retain(|model| model != teacher);
            models.insert(place, teacher.to_owned());
        }
    }
    let mut entries: Vec<Entry> = Vec::new();
    for &seed in &selection.seeds {
        for task in &selection.tasks {
            for model in &models {
                let depends_on = Preset::teacher_of(model).and_then(|teacher| {
                    let same = |entry: &Entry| {
                        (&entry.task, &*entry.model, entry.seed) == (task, teacher, seed)
                    };
                    entries.iter().position(same)
                });
                entries.push(Entry {
                    index: entries.len(),
                    task: task.clone(),
                    model: model.clone(),
                    seed,
                    variant: None,
                    directory: out.join(task).join(model).join(format!("seed-{seed}")),
                    depends_on,
                    settings: settings.clone(),
                });
            }
        }
    }
    if entries.is_empty() {
        return Err(Error::request("there are no runs in this grid"));
    }
    Queue::new(Experiments, out, entries)
}
