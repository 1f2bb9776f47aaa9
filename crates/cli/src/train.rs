//! `pgn train`: one run, from nothing or from where it was left.

use std::{path::PathBuf, time::Duration};

use anyhow::Result;
use pgn_lab::{AnyConfig, Outcome, Results, Session, machine::MACHINE_MODEL};
use pgn_runs::files;

use crate::{
    interrupt, models,
    output::{self, Interrupted, Usage},
    progress::Display,
    recipe::{Flags, RecipeArgs},
    scores_table, tasks,
    threads::pool,
    user_structure,
};

/// Train a model, or resume an interrupted run
///
/// The defaults are the paper's protocol. Started again with the same flags, a run resumes from its
/// last checkpoint and ends with the same model, bit for bit, as one that was never interrupted.
/// The directory holds config.toml, model.safetensors (best on validation), metrics.jsonl, a
/// TensorBoard event file and, once finished, results.json with the scores on every test size.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn train --task dsu --model pgn --seed 0 --out runs/dsu-pgn
  pgn train --task lct --model gnn --epochs 500 --batch 14 --out runs/lct-gnn
  pgn train --model pgn-ptrs --teacher runs/dsu-pgn --out runs/dsu-pgn-ptrs
  pgn train --initial runs/dsu-pgn --nodes 50 --epochs 100 --out runs/dsu-50
  pgn train --task forest --model pgn-exact --out runs/forest-exact
  pgn train --task lct --model pgn-machine --out runs/lct-machine
  pgn train --config runs/dsu-pgn/config.toml --seed 1 --out runs/dsu-pgn-1
  pgn train --operations mine.csv --nodes 20 --out runs/mine

  A structure of your own, with the pgn of the Python package
    pgn train --structure my_module:MyClass --out runs/mine")]
pub struct Args {
    #[arg(
        long,
        help = "The data structure to imitate (`pgn tasks` lists them) [default: dsu]",
        long_help = tasks::help("The data structure to imitate", " [default: dsu]")
    )]
    task: Option<String>,
    #[arg(
        long,
        help = "The model (`pgn models` lists them) [default: pgn]",
        long_help = models::help()
    )]
    model: Option<String>,
    /// Seed of data, initial weights and noise [default: 0]
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
    /// The run directory
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Train on this data-set file, or CSV of operations, instead of sampled sequences
    #[arg(long, visible_alias = "operations", value_name = "FILE")]
    train: Option<PathBuf>,
    /// Validate on this data-set file or CSV instead of sampled sequences
    #[arg(long, value_name = "FILE")]
    validation: Option<PathBuf>,
    /// For pgn-ptrs and pgn-ptrs-free: the run directory of the model that provides the pointers
    #[arg(long, value_name = "DIR")]
    teacher: Option<PathBuf>,
    /// Start from the weights of this run instead of random ones: to fine-tune a model, or to train
    /// it for more epochs (Adam starts afresh)
    #[arg(long, value_name = "DIR")]
    initial: Option<PathBuf>,
    /// Threads to use; the outcome is the same for any number [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Seconds between checkpoints
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    checkpoint_every: u64,
    /// Print no progress, only warnings and the results
    #[arg(long)]
    quiet: bool,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    recipe: RecipeArgs,
}

impl Args {
    /// The settings that are given as flags.
    fn flags(&self) -> Flags {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let mut flags = Flags(self.recipe.flags());
        let program = user_structure::get().filter(|own| own.is_program && self.task.is_none());
        let model = program.map(|_| MACHINE_MODEL.to_owned());
        flags.set("", "task", user_structure::given(self.task.as_ref()));
        flags.set("", "model", self.model.clone().or(model));
        flags.set("", "seed", self.seed.map(|seed| seed as i64));
        flags.set("data", "train", path(&self.train));
        flags.set("data", "validation", path(&self.validation));
        flags.set("data", "teacher", path(&self.teacher));
        flags
    }

    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let flags = self.flags().0;
        let mut settings = self.recipe.settings()?;
        pgn_runs::settings::overlay(&mut settings, flags.clone());
        let located = |error: pgn_lab::Error| output::misspelt(self.recipe.located(error, &flags));
        let model = settings.get("model").and_then(|model| model.as_str());
        if let Some(model) = model {
            models::check(model).map_err(|error| located(error.into()))?;
        }
        let config = AnyConfig::resolve(settings).map_err(located)?;
        user_structure::check_class(&self.out)?;
        if self.initial.is_some() && matches!(config, AnyConfig::Machine(_)) {
            return Err(Usage("--initial is for models; a machine starts afresh".into()).into());
        }
        let initial = self.initial.as_ref().map(|run| run.join(files::MODEL));
        let stop = interrupt::flag()?;
        let pool = pool(self.threads)?;
        let mut display = Display::new(config.name(), config.epochs(), self.quiet);
        let outcome = pool.install(|| {
            let session = Session {
                task: None,
                initial: initial.as_deref(),
                checkpoint_every: Duration::from_secs(self.checkpoint_every),
                stop,
                observe: &mut |progress| display.show(progress),
            };
            config.train(&self.out, session)
        });
        // Before any error, so that it gets a line of its own.
        display.finish();
        user_structure::note_class(&self.out)?;
        let results = match outcome? {
            Outcome::Stopped { epoch } => {
                return Err(Interrupted(format!(
                    "stopped after epoch {epoch} of {}; to resume, start the same command again",
                    config.epochs()
                ))
                .into());
            }
            Outcome::AlreadyFinished(results) => {
                output::tell(&format!(
                    "{} is already finished; nothing to do.",
                    self.out.display()
                ));
                results
            }
            Outcome::Finished(results) => results,
        };
        if self.json {
            output::print_json(&results)?;
        } else {
            let written = format!("Written to {}.\n", self.out.display());
            output::print(&format!("{}{written}", summary(&results)))?;
            let next = if results.views.is_some() { "certify" } else { "serve" };
            output::next(&format!("pgn {next} {}", self.out.display()));
        }
        Ok(())
    }
}

/// What came out: a line or two, and the scores.
fn summary(results: &Results) -> String {
    let Results { task, model, seed, epochs, best_epoch, validation, timing, .. } = results;
    let seconds = timing.train_seconds;
    let trained = match results.stopped_at {
        Some(at) => format!("{at} of {epochs}"),
        None => epochs.to_string(),
    };
    let mut text = format!("{task} {model} seed {seed}: ");
    text += &match &results.views {
        None => format!(
            "best epoch {best_epoch} of {trained}, validation F1 {:.3}, {seconds:.0} s\n",
            validation.f1
        ),
        Some(views) => format!(
            "{trained} steps, {seconds:.0} s\n{} of {} views met in traces and {} of {} \
             consistent views are right; smallest margin {:.2}\n",
            views.met_right, views.met, views.consistent_right, views.consistent, views.margin
        ),
    };
    if !results.test.is_empty() {
        text += &scores_table::render(&results.test);
    }
    text
}
