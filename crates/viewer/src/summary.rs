//! A run in a line of the table, and a run in full.

use std::{fs::File, io::Read, path::Path};

use pgn_lab::{
    AnyConfig, ConfigOf, MachineConfig, Results, RunDir, Scores, TestScores, files,
    machine::MachineRun,
};
use serde::Serialize;

use crate::{
    catalogue::{Catalogue, Place},
    limits,
    refusal::{Answer, Refusal},
};

/// What the table of runs shows.
#[derive(Debug, Serialize)]
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
}

/// What a run's own view shows.
#[derive(Debug, Serialize)]
pub struct Details {
    #[serde(flatten)]
    pub summary: Summary,
    /// The text of `config.toml`.
    pub config: String,
    pub results: Option<Results>,
    /// The text of `certificate.json`, if there is one.
    pub certificate: Option<String>,
}

/// All runs, those with damaged files included.
pub fn all(catalogue: &Catalogue) -> Vec<Summary> {
    let ids = catalogue.ids();
    ids.iter().filter_map(|id| details(catalogue, id).ok()).map(|run| run.summary).collect()
}

/// One run.
pub fn details(catalogue: &Catalogue, id: &str) -> Answer<Details> {
    match catalogue.find(id)? {
        Place::BuiltIn(built_in) => {
            let (config, results) = (built_in.run_config()?, built_in.results()?);
            let name = format!("built-in {}", built_in.name);
            let mut summary = Summary::new(id, name, &(&config).into());
            summary.built_in = true;
            summary.playable = true;
            summary.finish(&results);
            Ok(Details {
                summary,
                config: built_in.config.to_owned(),
                results: Some(results),
                certificate: None,
            })
        }
        Place::Machine(name) => built_in_machine(catalogue, id, name),
        Place::Folder(path) => Ok(in_folder(catalogue, id, &path)),
    }
}

/// A machine that comes with the program. Its program is not made for this: that takes a while.
fn built_in_machine(catalogue: &Catalogue, id: &str, name: &'static str) -> Answer<Details> {
    let all = MachineRun::built_in_files(name).map_err(Refusal::damaged)?;
    let text = |wanted: &str| {
        let found = all.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned())
    };
    let config = text(files::CONFIG).unwrap_or_default();
    let parsed = MachineConfig::from_toml(&config, Path::new(name)).map_err(Refusal::damaged)?;
    let mut summary = Summary::new(id, format!("built-in {name} machine"), &(&parsed).into());
    (summary.built_in, summary.playable) = (true, catalogue.task(name).is_ok());
    let results = MachineRun::built_in_results(name).map_err(Refusal::damaged)?;
    summary.finish(&results);
    Ok(Details { summary, config, results: Some(results), certificate: text(files::CERTIFICATE) })
}

/// What all configs have, of machines and of other models.
struct Basics {
    task: String,
    model: String,
    seed: u64,
    epochs: u64,
}

impl<N> From<&ConfigOf<N>> for Basics {
    fn from(config: &ConfigOf<N>) -> Basics {
        let (task, model) = (config.task.clone(), config.model.clone());
        Basics { task, model, seed: config.seed, epochs: config.epochs }
    }
}

impl Basics {
    fn load(path: &Path) -> pgn_lab::Result<Basics> {
        Ok(match AnyConfig::load(&path.join(files::CONFIG))? {
            AnyConfig::Model(config) => (&config).into(),
            AnyConfig::Machine(config) => (&config).into(),
        })
    }
}

fn in_folder(catalogue: &Catalogue, id: &str, path: &Path) -> Details {
    let name = match id.strip_prefix("run:") {
        None | Some(".") => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        Some(name) => name.to_owned(),
    };
    let text = read_text(catalogue, &path.join(files::CONFIG)).unwrap_or_default();
    let mut details = Details {
        summary: Summary::empty(id, name.clone()),
        config: text,
        results: None,
        certificate: None,
    };
    // Paths in errors are shortened to the file's name: the page shows which run it is.
    let shorten = |error: String| error.replace(&format!("{}/", path.display()), "");
    let config = match Basics::load(path) {
        Ok(config) => config,
        Err(error) => {
            details.summary.trouble = Some(shorten(error.to_string()));
            return details;
        }
    };
    details.summary = Summary::new(id, name, &config);
    let inside = |name: &str| catalogue.inside(&path.join(name)).filter(|path| path.is_file());
    details.summary.playable =
        inside(files::MODEL).is_some() && catalogue.task(&config.task).is_ok();
    if inside(files::RESULTS).is_some() {
        match Results::load(path) {
            Ok(results) => {
                details.summary.finish(&results);
                details.results = Some(results);
            }
            Err(error) => details.summary.trouble = Some(shorten(error.to_string())),
        }
    } else {
        details.summary.running = RunDir::is_held(path);
        let metrics = inside(files::METRICS);
        let progress = metrics.map(|path| catalogue.followed.progress(&path)).unwrap_or_default();
        details.summary.epoch = progress.epoch.unwrap_or(0);
        details.summary.best_epoch = progress.best.map(|(epoch, _)| epoch);
        details.summary.validation_f1 = progress.best.map(|(_, f1)| f1);
    }
    details.certificate =
        inside(files::CERTIFICATE).and_then(|path| read_text(catalogue, &path).ok());
    details
}

impl Summary {
    fn empty(id: &str, name: String) -> Summary {
        Summary {
            id: id.to_owned(),
            name,
            built_in: false,
            trouble: None,
            task: String::new(),
            model: String::new(),
            seed: 0,
            epochs: 0,
            epoch: 0,
            finished: false,
            running: false,
            playable: false,
            validation_f1: None,
            best_epoch: None,
            test: Vec::new(),
        }
    }

    fn new(id: &str, name: String, config: &Basics) -> Summary {
        Summary {
            task: config.task.clone(),
            model: config.model.clone(),
            seed: config.seed,
            epochs: config.epochs,
            ..Summary::empty(id, name)
        }
    }

    fn finish(&mut self, results: &Results) {
        self.finished = true;
        self.epoch = results.epochs;
        // Operations that have no answers have no scores either: those of a heap, say.
        let Scores { f1, accuracy, f1_always_1, .. } = results.validation;
        self.validation_f1 = (accuracy > 0.0 || f1_always_1 > 0.0).then_some(f1);
        self.best_epoch = Some(results.best_epoch);
        self.test.clone_from(&results.test);
    }
}

/// The text of a file in the folder.
fn read_text(catalogue: &Catalogue, path: &Path) -> Answer<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let trouble = |what: &str| Refusal::damaged(format!("{name} {what}"));
    let path = catalogue.inside(path).ok_or_else(|| trouble("is not in the folder"))?;
    if !path.is_file() {
        return Err(trouble("is not a regular file"));
    }
    let file = File::open(path).map_err(|error| trouble(&format!("cannot be read ({error})")))?;
    let mut text = String::new();
    file.take(limits::TEXT)
        .read_to_string(&mut text)
        .map_err(|error| trouble(&format!("cannot be read ({error})")))?;
    Ok(text)
}
