//! A loaded run: what the player and the playground look at.

use std::sync::{Arc, OnceLock};

use pgn_lab::{
    Run,
    machine::{Executor, MachineRun, Mode},
};
use pgn_machines::Compiled;
use pgn_structures::Task;

use crate::refusal::{Answer, Refusal};

/// What can be replayed.
pub enum Subject {
    /// A model of operations.
    Run(Box<Run>),
    /// A network that executes a program.
    Machine(Arc<Loaded>),
}

impl Subject {
    /// The data structure that it is about.
    pub fn task(&self) -> Answer<Task> {
        let task = match self {
            Subject::Run(run) => run.task().cloned(),
            Subject::Machine(machine) => machine.run.task(),
        };
        task.map_err(|error| Refusal::bad(error.to_string()))
    }
}

/// A machine, and what it was compiled to. Loading one enumerates what its states look at, and
/// compiling it asks the network for every action, so whoever has one keeps it.
pub struct Loaded {
    pub run: MachineRun,
    /// `None` for a machine that differs from its program somewhere.
    compiled: OnceLock<Option<Arc<Compiled>>>,
}

impl From<MachineRun> for Loaded {
    fn from(run: MachineRun) -> Loaded {
        Loaded { run, compiled: OnceLock::new() }
    }
}

impl Loaded {
    /// Ready to carry out operations. What equals its program does the same compiled, and
    /// faster.
    pub fn executor(&self) -> Answer<Executor<'_>> {
        match self.compiled.get_or_init(|| self.run.compile(false).ok().map(Arc::new)) {
            Some(compiled) => Ok(self.run.executor_of(compiled.clone())),
            None => self.run.executor(Mode::Network).map_err(Refusal::damaged),
        }
    }
}
