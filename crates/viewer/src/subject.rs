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
    Run(Run),
    /// A network that executes a program.
    Machine(MachineRun),
}

/// Loads the run that an id names.
pub fn load(catalogue: &Catalogue, id: &str) -> Answer<Subject> {
    match catalogue.find(id)? {
        Place::BuiltIn(built_in) => {
            let config = built_in.run_config()?;
            let task = catalogue.task(&config.task)?;
            let run = Run::new(config, built_in.model()?, &task).map_err(Refusal::damaged)?;
            Ok(Subject::Run(run))
        }
        Place::Machine(name) => built_in::machine(name).map(Subject::Machine),
        Place::Folder(path) => {
            check_inside(catalogue, &path)?;
            if MachineConfig::is_in(&path) {
                return MachineRun::load(&path).map(Subject::Machine).map_err(Refusal::damaged);
            }
            let run = Run::load_with(&path, |name| Ok(catalogue.task(name).ok()));
            run.map(Subject::Run).map_err(Refusal::damaged)
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
