//! From the id in a request to a loaded run: what the player and the playground look at.

use std::{path::Path, sync::Arc};

use pgn_lab::{Run, RunConfig, files, machine::MachineRun};

use crate::{
    built_in,
    catalogue::{Catalogue, Place},
    limits,
    loaded::Loaded,
    refusal::{Answer, Refusal},
};

/// What can be replayed.
pub enum Subject {
    /// A model of operations.
    Run(Box<Run>),
    /// A network that executes a program.
    Machine(Arc<Loaded>),
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
        Place::Machine(name) => built_in::machine(name).map(Subject::Machine),
        Place::Folder(path) => {
            check_files(catalogue, &path)?;
            let damaged = |error: pgn_lab::Error| catalogue.damaged(&error);
            if MachineRun::is_in(&path) {
                return catalogue.machines.load(&path).map(Subject::Machine).map_err(damaged);
            }
            let run = Run::load_with(&path, |name| Ok(catalogue.task(name).ok()));
            Ok(Subject::Run(Box::new(run.map_err(damaged)?)))
        }
    }
}

/// Refuses a run whose files are links to somewhere else, or not what a run has: pipes, or files
/// that are far too large.
fn check_files(catalogue: &Catalogue, run: &Path) -> Answer<()> {
    let teacher = run.join(files::TEACHER);
    for path in [run, &teacher] {
        for name in [files::CONFIG, files::MODEL, files::RESULTS] {
            let path = path.join(name);
            let Ok(metadata) = path.metadata() else { continue };
            let refused = |what: &str| Err(Refusal::damaged(format!("{name} {what}")));
            if catalogue.inside(&path).is_none() {
                return refused("is a link that leads out of the folder being served");
            }
            if !metadata.is_file() {
                return refused("is not a regular file");
            }
            if metadata.len() > limits::MODEL {
                let most = limits::MODEL;
                return refused(&format!("has {} bytes; expected at most {most}", metadata.len()));
            }
        }
    }
    check_teacher(&teacher)
}

/// Refuses a teacher whose operations may take minutes each: they cannot be stopped.
fn check_teacher(teacher: &Path) -> Answer<()> {
    let Ok(config) = RunConfig::load(&teacher.join(files::CONFIG)) else { return Ok(()) };
    match config.network.iterated() {
        Some(settings) if settings.steps > 64 || settings.steps_per_depth > 16 => {
            Err(Refusal::damaged("its teacher takes too many steps per operation to be replayed"))
        }
        _ => Ok(()),
    }
}
