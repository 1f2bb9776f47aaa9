//! Queues of experiments: what `pgn-runs` asks about models and machines.

use std::{path::Path, sync::atomic::AtomicBool, time::Duration};

use pgn_engine::Preset;
use pgn_runs::{Backend, files};
use toml::Table;

use crate::{
    AnyConfig, Checkpoint, Error, MachineConfig, Outcome, Progress, Result, Results, RunConfig,
    Session, machine::MACHINE_MODEL,
};

/// Trains the runs of a queue, whichever kind of network each of them has.
///
/// ```
/// let sweep = pgn_runs::Sweep::parse(
///     "epochs = 10\n[sweep]\ntask = ['dsu']\nmodel = ['pgn', 'gnn']\nseed = '0-4'\n",
/// )?;
/// let queue = sweep.queue(pgn_lab::Experiments, "runs".as_ref())?;
/// assert_eq!(queue.entries().len(), 10);
/// assert_eq!(queue.entries()[0].directory, std::path::Path::new("runs/dsu/pgn/seed-0"));
/// # Ok::<(), pgn_lab::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Experiments;

/// A queue of experiments.
pub type Queue = pgn_runs::Queue<Experiments>;

impl Backend for Experiments {
    type Config = AnyConfig;
    type Progress = Progress;
    type Results = Box<Results>;
    type Error = Error;

    fn teacher_of(&self, model: &str) -> Option<&'static str> {
        Preset::teacher_of(model)
    }

    fn resolve(&self, settings: Table) -> Result<AnyConfig> {
        AnyConfig::resolve(settings)
    }

    fn default_epochs(&self, task: &str, model: &str) -> Result<u64> {
        match model {
            MACHINE_MODEL => Ok(MachineConfig::defaults(task, model, 0)?.epochs),
            _ => Ok(RunConfig::defaults(task, model, 0)?.epochs),
        }
    }

    fn epochs_done(&self, run: &Path) -> Option<u64> {
        Checkpoint::epoch_of(&run.join(files::CHECKPOINT))
    }

    fn is_of(&self, config: &AnyConfig, run: &Path) -> bool {
        AnyConfig::load(&run.join(files::CONFIG)).is_ok_and(|there| there.flat() == config.flat())
    }

    fn train(
        &self,
        config: &AnyConfig,
        run: &Path,
        checkpoint_every: Duration,
        stop: &AtomicBool,
        observe: &mut (dyn FnMut(&Progress) + Send),
    ) -> Result<Outcome> {
        config.train(run, Session { task: None, initial: None, checkpoint_every, stop, observe })
    }
}
