//! `pgn train`: one run, from nothing or from where it was left.

use std::{path::PathBuf, time::Duration};

use anyhow::Result;
use pgn_lab::{Outcome, RunConfig, Session, machine::MachineConfig};

use crate::{
    interrupt, machine,
    output::{self, Interrupted},
    progress::Display,
    recipe::{Flags, RecipeArgs},
    scores_table, tasks,
    threads::pool,
};

/// Train a model, or go on with a run that was cut short.
///
/// Started again with the same flags, a run goes on from its last checkpoint, and ends in the
/// same model to the bit as one that was never interrupted. The directory holds config.toml,
/// model.safetensors (the best on validation), metrics.jsonl, a TensorBoard event file and, when
/// it is finished, results.json with the scores on every test size.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn train --task dsu --model pgn --seed 0 --out runs/dsu-pgn
  pgn train --task lct --model gnn --epochs 500 --batch 14 --clip 0 --out runs/lct-gnn
  pgn train --task dsu --model pgn-ptrs --teacher runs/dsu-pgn --out runs/dsu-pgn-ptrs
  pgn train --task forest --model pgn-exact --out runs/forest-exact
  pgn train --task lct --model pgn-machine --out runs/lct-machine
  pgn train --config runs/dsu-pgn/config.toml --seed 1 --out runs/dsu-pgn-1")]
pub struct Args {
    #[arg(long, help = tasks::help("The data structure to imitate", " [default: dsu]"))]
    task: Option<String>,
    /// The model: gnn, deepsets, pgn, pgn-nm, pgn-asym, pgn-mo, pgn-ptrs, supgnn, dgm,
    /// oracle-ptrs, pgn-exact or pgn-machine (programs dsu, lct, forest, splay and heap) [default: pgn]
    #[arg(long)]
    model: Option<String>,
    /// Data, initial weights and noise are drawn from it [default: 0]
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
    /// The run directory
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Train on this data-set file instead of sampled sequences
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
    /// Validate on this data-set file instead of sampled sequences
    #[arg(long, value_name = "FILE")]
    validation: Option<PathBuf>,
    /// For pgn-ptrs: the run directory of the model whose pointers it is given
    #[arg(long, value_name = "DIR")]
    teacher: Option<PathBuf>,
    /// Threads to use; the outcome is the same for any number [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Seconds from one checkpoint to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    checkpoint_every: u64,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    recipe: RecipeArgs,
}

impl Args {
    fn flags(&self) -> Result<Flags> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let mut flags = Flags(self.recipe.settings()?);
        flags.set("", "task", self.task.clone());
        flags.set("", "model", self.model.clone());
        flags.set("", "seed", self.seed.map(|seed| seed as i64));
        flags.set("data", "train", path(&self.train));
        flags.set("data", "validation", path(&self.validation));
        flags.set("data", "teacher", path(&self.teacher));
        Ok(flags)
    }

    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let flags = self.flags()?;
        if flags.0.get("model").and_then(|model| model.as_str()) == Some(machine::MACHINE_MODEL) {
            let config = MachineConfig::resolve(flags.0)?;
            let every = Duration::from_secs(self.checkpoint_every);
            return pool(self.threads)?
                .install(|| machine::train(&config, &self.out, every, self.json));
        }
        let config = RunConfig::resolve(flags.0)?;
        let stop = interrupt::flag()?;
        let pool = pool(self.threads)?;
        let mut display = Display::new(config.name(), config.epochs);
        let outcome = pool.install(|| {
            let session = Session {
                task: None,
                checkpoint_every: Duration::from_secs(self.checkpoint_every),
                stop,
                observe: &mut |progress| display.show(progress),
            };
            pgn_lab::train(&config, &self.out, session)
        });
        // Before any error, so that it gets a line of its own.
        display.finish();
        let results = match outcome? {
            Outcome::Stopped { epoch } => {
                return Err(Interrupted(format!(
                    "stopped after epoch {epoch} of {}; to go on, start the same command again",
                    config.epochs
                ))
                .into());
            }
            Outcome::AlreadyFinished(results) => {
                output::tell(&format!(
                    "{} is finished already; nothing to do.",
                    self.out.display()
                ));
                results
            }
            Outcome::Finished(results) => results,
        };
        if self.json {
            output::print_json(&results)?;
        } else {
            let head = format!(
                "{} {} seed {}: best epoch {} of {}, validation F1 {:.3}, {:.0} s",
                results.task,
                results.model,
                results.seed,
                results.best_epoch,
                results.epochs,
                results.validation.f1,
                results.timing.train_seconds
            );
            let table = scores_table::render(&results.test);
            output::print(&format!("{head}\n{table}Written to {}.\n", self.out.display()))?;
        }
        Ok(())
    }
}
