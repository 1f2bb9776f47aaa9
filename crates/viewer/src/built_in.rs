//! The trained models that come with the program: run directories under `models/`, built in.
//!
//! To replace one, copy the files of a finished run over those in its folder, `models/dsu` say.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use pgn_engine::{Model, Parameters};
use pgn_lab::{MachineConfig, Results, Run, RunConfig, machine::MachineRun};
use pgn_runs::files;
use pgn_structures::Task;

use crate::{
    refusal::{Answer, Refusal},
    subject::Loaded,
    summary::Details,
};

/// The files of a run, as they were when the program was built.
#[derive(Debug)]
pub struct BuiltIn {
    pub name: &'static str,
    pub config: &'static str,
    results: &'static str,
    model: &'static [u8],
}

macro_rules! built_in {
    ($($name:literal),*) => {
        [$(BuiltIn {
            name: $name,
            config: include_str!(concat!("../models/", $name, "/config.toml")),
            results: include_str!(concat!("../models/", $name, "/results.json")),
            model: include_bytes!(concat!("../models/", $name, "/model.safetensors")),
        }),*]
    };
}

/// For each of the paper's tasks its `pgn`, which goes by the task's name, and the better
/// `pgn-free` and `pgn-free-2`; and a `pgn-exact` for each of those it executes.
pub const MODELS: [BuiltIn; 8] = built_in![
    "dsu",
    "lct",
    "dsu-free",
    "lct-free",
    "dsu-free-2",
    "lct-free-2",
    "dsu-ordered",
    "forest"
];

/// The built-in machine of this program, loaded once.
pub fn machine(name: &'static str) -> Answer<Arc<Loaded>> {
    static LOADED: Mutex<BTreeMap<&str, Arc<Loaded>>> = Mutex::new(BTreeMap::new());
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(run) = loaded.get(name) {
        return Ok(run.clone());
    }
    let run = Arc::new(Loaded::from(MachineRun::built_in(name).map_err(Refusal::damaged)?));
    loaded.insert(name, run.clone());
    Ok(run)
}

/// What is known of the built-in machine of this program. Its config is not validated: that makes
/// the program, which takes a while.
pub fn machine_details(id: &str, name: &'static str) -> Answer<Details> {
    let files = MachineRun::built_in_files(name).map_err(Refusal::damaged)?;
    let [config, _, certificate] =
        files.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
    let parsed: MachineConfig = toml::from_str(&config).map_err(Refusal::damaged)?;
    let results = MachineRun::built_in_results(name).map_err(Refusal::damaged)?;
    let title = format!("built-in {name} machine");
    let details = Details::built_in(id, title, &parsed, &config, results);
    Ok(Details { certificate: Some(certificate), ..details })
}

/// The trained models that come along: for each its name, and its files by name, which make a
/// run directory.
pub fn built_in_models() -> impl Iterator<Item = (&'static str, [(&'static str, &'static [u8]); 3])>
{
    MODELS.iter().map(|model| {
        let files = [
            (files::CONFIG, model.config.as_bytes()),
            (files::MODEL, model.model),
            (files::RESULTS, model.results.as_bytes()),
        ];
        (model.name, files)
    })
}

impl BuiltIn {
    /// The one called `name`.
    pub fn named(name: &str) -> Answer<&'static BuiltIn> {
        MODELS
            .iter()
            .find(|model| model.name == name)
            .ok_or_else(|| Refusal::missing(format!("there is no built-in model {name:?}")))
    }

    pub fn details(&self, id: &str) -> Answer<Details> {
        let name = format!("built-in {}", self.name);
        Ok(Details::built_in(id, name, &self.run_config()?, self.config, self.results()?))
    }

    pub fn run_config(&self) -> Answer<RunConfig> {
        toml::from_str(self.config).map_err(Refusal::damaged)
    }

    pub fn results(&self) -> Answer<Results> {
        serde_json::from_str(self.results).map_err(Refusal::damaged)
    }

    pub fn run(&self, task: &Task) -> Answer<Run> {
        let config = self.run_config()?;
        let path = Path::new("model.safetensors");
        let parameters =
            Parameters::from_bytes(&config.network, self.model, path).map_err(Refusal::damaged)?;
        let model = Model::from_parameters(config.network.clone(), parameters);
        Run::new(config, model.map_err(Refusal::damaged)?, task).map_err(Refusal::damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_model_is_whole() {
        for built_in in &MODELS {
            let (task, model) = match built_in.name.split_once("-free") {
                Some((task, layers)) => (task, format!("pgn-free{layers}")),
                None if ["dsu", "lct"].contains(&built_in.name) => (built_in.name, "pgn".into()),
                None => (built_in.name, "pgn-exact".into()),
            };
            let (config, results) = (built_in.run_config().unwrap(), built_in.results().unwrap());
            assert_eq!((&*config.task, &*results.task), (task, task));
            assert_eq!((&config.model, &results.model), (&model, &model));
            let run = built_in.run(&Task::named(task).unwrap()).unwrap();
            assert!(run.model().config().owns_pointers());
        }
    }
}
