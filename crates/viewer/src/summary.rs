//! A run in a line of the table, and a run in full.

use pgn_lab::{ConfigOf, Results, Scores, TestScores};
use pgn_structures::Task;
use serde::Serialize;

/// What the table of runs shows.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    pub id: String,
    pub name: String,
    pub built_in: bool,
    /// What is wrong with its files, in one sentence; the rest is then empty.
    pub trouble: Option<String>,
    pub task: String,
    pub model: String,
    pub seed: u64,
    /// Epochs it was started for.
    pub epochs: u64,
    /// Epochs it has done.
    pub epoch: u64,
    /// Whether `results.json`, written last, is there.
    pub finished: bool,
    /// Whether a process is training it now.
    pub running: bool,
    /// Whether there is a model to be rolled out.
    pub playable: bool,
    /// F₁ on the validation set at the best epoch, so far while it trains.
    pub validation_f1: Option<f64>,
    /// That epoch.
    pub best_epoch: Option<u64>,
    /// One for each test size.
    pub test: Vec<TestScores>,
    /// What training took, once it has ended.
    pub seconds: Option<f64>,
}

/// What a run's own view shows.
#[derive(Debug, Default, Serialize)]
pub struct Details {
    #[serde(flatten)]
    pub summary: Summary,
    /// The text of `config.toml`.
    pub config: String,
    pub results: Option<Results>,
    /// The text of `certificate.json`, if there is one.
    pub certificate: Option<String>,
    /// The epochs whose models were kept.
    pub kept: Vec<u64>,
    /// The paper's F₁ of this model on each of its test sizes.
    pub paper: Vec<Option<f64>>,
}

impl Details {
    /// A run that comes with the program, from its files.
    pub fn built_in<N>(
        id: &str,
        name: String,
        config: &ConfigOf<N>,
        text: &str,
        results: Results,
    ) -> Details {
        let mut summary = Summary::new(id, name, config);
        (summary.built_in, summary.playable) = (true, Task::named(&config.task).is_ok());
        summary.finish(&results);
        let config = text.to_owned();
        Details { summary, config, results: Some(results), ..Details::default() }
    }
}

impl Summary {
    pub fn empty(id: &str, name: String) -> Summary {
        Summary { id: id.to_owned(), name, ..Summary::default() }
    }

    /// With what all configs have, of machines and of other models.
    pub fn new<N>(id: &str, name: String, config: &ConfigOf<N>) -> Summary {
        let (task, model) = (config.task.clone(), config.model.clone());
        let (seed, epochs) = (config.seed, config.epochs);
        Summary { task, model, seed, epochs, ..Summary::empty(id, name) }
    }

    pub fn finish(&mut self, results: &Results) {
        self.finished = true;
        self.epoch = results.epochs;
        // Operations that have no answers have no scores either: those of a heap, say.
        let Scores { f1, accuracy, f1_always_1, .. } = results.validation;
        self.validation_f1 = (accuracy > 0.0 || f1_always_1 > 0.0).then_some(f1);
        self.best_epoch = Some(results.best_epoch);
        self.test.clone_from(&results.test);
        self.seconds = Some(results.timing.train_seconds);
    }
}
