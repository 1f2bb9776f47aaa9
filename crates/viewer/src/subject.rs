//! From the id in a request to a loaded run: what the player and the playground look at.

use std::path::Path;

use pgn_lab::{
    Run, files,
    machine::{MachineConfig, MachineRun},
};

use crate::{
    built_in,
    catalogue::{Catalogue, Place},
    refusal::{Answer, Refusal},
};

/// What can be replayed.
pub enum Subject {
    /// A model of operations.
    Run(Box<Run>),
    /// A network that executes a program.
    Machine(Box<MachineRun>),
}

/// Loads the run that an id names.
pub fn load(catalogue: &Catalogue, id: &str) -> Answer<Subject> {
    match catalogue.find(id)? {
        Place::BuiltIn(built_in) => {
            let config = built_in.run_config()?;
            let task = catalogue.task(&config.task)?;
            let run = Run::new(config, built_in.model()?, &task).map_err(Refusal::damaged)?;
            Ok(Subject::Run(Box::new(run)))
        }
        Place::Machine(name) => built_in::machine(name).map(|run| Subject::Machine(Box::new(run))),
        Place::Folder(path) => {
            check_inside(catalogue, &path)?;
            if MachineConfig::is_in(&path) {
                let run = MachineRun::load(&path).map_err(Refusal::damaged)?;
                return Ok(Subject::Machine(Box::new(run)));
            }
            let run = Run::load_with(&path, |name| Ok(catalogue.task(name).ok()));
            Ok(Subject::Run(Box::new(run.map_err(Refusal::damaged)?)))
        }
    }
}

/// Refuses a run whose files are links to somewhere else.
fn check_inside(catalogue: &Catalogue, run: &Path) -> Answer<()> {
    let teacher = run.join(files::TEACHER);
    for path in [run, &teacher] {
        for name in [files::CONFIG, files::MODEL] {
            let path = path.join(name);
            if path.exists() && catalogue.inside(&path).is_none() {
                return Err(Refusal::damaged(format!(
                    "{name} is a link that leads out of the folder being served"
                )));
            }
        }
    }
    Ok(())
}
