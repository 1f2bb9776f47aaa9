//! The trained models that come with the program: run directories under `models/`, built in.
//!
//! To replace one, copy the files of a finished run over those in its folder, `models/dsu` say.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use pgn_engine::{Model, Parameters};
use pgn_lab::{Results, RunConfig, files, machine::MachineRun};

use crate::{
    loaded::Loaded,
    refusal::{Answer, Refusal},
};

/// The files of a run, as they were when the program was built.
#[derive(Debug)]
pub struct BuiltIn {
    pub name: &'static str,
    pub config: &'static str,
    results: &'static str,
    model: &'static [u8],
}

/// For each of the paper's tasks its `pgn`, which goes by the task's name, and the better
/// `pgn-free`; and a `pgn-exact` for each of those it executes.
pub const MODELS: [BuiltIn; 6] = [
    BuiltIn {
        name: "dsu",
        config: include_str!("../models/dsu/config.toml"),
        results: include_str!("../models/dsu/results.json"),
        model: include_bytes!("../models/dsu/model.safetensors"),
    },
    BuiltIn {
        name: "lct",
        config: include_str!("../models/lct/config.toml"),
        results: include_str!("../models/lct/results.json"),
        model: include_bytes!("../models/lct/model.safetensors"),
    },
    BuiltIn {
        name: "dsu-free",
        config: include_str!("../models/dsu-free/config.toml"),
        results: include_str!("../models/dsu-free/results.json"),
        model: include_bytes!("../models/dsu-free/model.safetensors"),
    },
    BuiltIn {
        name: "lct-free",
        config: include_str!("../models/lct-free/config.toml"),
        results: include_str!("../models/lct-free/results.json"),
        model: include_bytes!("../models/lct-free/model.safetensors"),
    },
    BuiltIn {
        name: "dsu-ordered",
        config: include_str!("../models/dsu-ordered/config.toml"),
        results: include_str!("../models/dsu-ordered/results.json"),
        model: include_bytes!("../models/dsu-ordered/model.safetensors"),
    },
    BuiltIn {
        name: "forest",
        config: include_str!("../models/forest/config.toml"),
        results: include_str!("../models/forest/results.json"),
        model: include_bytes!("../models/forest/model.safetensors"),
    },
];

/// The machines shown beside them, which come with `pgn-lab`.
pub const MACHINES: [&str; 5] = ["dsu", "lct", "forest", "splay", "heap"];

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

    pub fn run_config(&self) -> Answer<RunConfig> {
        toml::from_str(self.config).map_err(Refusal::damaged)
    }

    pub fn results(&self) -> Answer<Results> {
        serde_json::from_str(self.results).map_err(Refusal::damaged)
    }

    pub fn model(&self) -> Answer<Model> {
        let config = self.run_config()?.network;
        let path = Path::new("model.safetensors");
        let parameters =
            Parameters::from_bytes(&config, self.model, path).map_err(Refusal::damaged)?;
        Model::from_parameters(config, parameters).map_err(Refusal::damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_model_is_whole() {
        for built_in in &MODELS {
            let (task, free) = match built_in.name.strip_suffix("-free") {
                Some(task) => (task, true),
                None => (built_in.name, false),
            };
            let (config, results) = (built_in.run_config().unwrap(), built_in.results().unwrap());
            assert_eq!((&*config.task, &*results.task), (task, task));
            assert_eq!((&config.model, config.model == "pgn-free"), (&results.model, free));
            assert!(built_in.model().unwrap().config().owns_pointers());
        }
        assert_eq!(MACHINES, MachineRun::built_in_names());
    }
}
