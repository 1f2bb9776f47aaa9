//! `pgn reproduce`: the paper's grid, its tables and its claims.

use std::path::PathBuf;

use anyhow::{Result, bail};
use pgn_engine::Preset;
use pgn_lab::{Queue, collection::Collection, machine::MACHINE_MODEL};
use pgn_paper::{Selection, grid, tables};

use crate::{interrupt, output, queue_args::QueueArgs, recipe::RecipeArgs};

/// Epochs of the quick version: enough for its point, few enough for a coffee.
const QUICK_EPOCHS: u64 = 1000;

/// Reproduce the paper's tables: a quick version, or all of it with --full
///
/// Without flags: four models on dsu, one seed, 1,000 epochs; about a minute on two cores. With
/// --full: ten models, two tasks, five seeds, 5,000 epochs; Tables 1 to 3, n = 200 and the paper's
/// claims. Runs are directories task/model/seed-S under --out; finished ones are skipped, others
/// resumed. Several processes, also on several machines, may share one --out. Writes runs.json and
/// tables.md.
///
/// Exit codes: 0 done, 1 failed, 2 wrong usage, 75 not ready (--only), 130 stopped (run it again to
/// resume).
#[derive(clap::Args)]
#[command(after_long_help = "\
All training flags of `pgn train`, such as --learning-rate, work here too.

Examples:
  pgn reproduce
  pgn reproduce --full --out runs/paper
  pgn reproduce --full --out runs/paper --list --state todo
  pgn reproduce --full --out runs/paper --only 17   (one entry, for a job array)
  pgn reproduce --out runs/small --models pgn,gnn --tasks lct --epochs 500
  pgn reproduce --tables results/paper              (tables of the finished runs)")]
pub struct Args {
    /// Everything: 10 models, 2 tasks, 5 seeds, 5,000 epochs
    #[arg(long)]
    full: bool,
    /// Where the runs go [default: runs/quick, or runs/paper with --full]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Only print the tables of the finished runs in DIR (or of its runs.json), and write runs.json
    /// and tables.md there
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "array", "only", "full", "out"])]
    tables: Option<PathBuf>,
    /// Copy config, results, model and thinned metrics of every finished run to DIR, with runs.json
    /// and tables.md
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "array", "only"])]
    export: Option<PathBuf>,
    /// Only these models
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    models: Vec<String>,
    /// Only these tasks
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    tasks: Vec<String>,
    /// Only these seeds
    #[arg(long, value_name = "S,...", value_delimiter = ',', allow_negative_numbers = true)]
    seeds: Vec<u64>,
    #[command(flatten)]
    queue: QueueArgs,
    #[command(flatten)]
    recipe: RecipeArgs,
}

/// Only `--help` of `pgn train` lists every training flag; here they are named in a line.
pub fn brief(command: clap::Command) -> clap::Command {
    let shown = ["epochs", "config"];
    let recipe: Vec<clap::Id> = <RecipeArgs as clap::Args>::augment_args(clap::Command::new(""))
        .get_arguments()
        .map(|argument| argument.get_id().clone())
        .filter(|id| !shown.contains(&id.as_str()))
        .collect();
    let hidden = recipe.iter().fold(command, |command, id| {
        command.mut_arg(id, |argument| argument.hide_long_help(true).hide_short_help(true))
    });
    hidden.mut_arg("epochs", |argument| {
        argument.help("Epochs of each run [default: 1000, or 5000 with --full]")
    })
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        if let Some(dir) = &self.tables {
            interrupt::leave_nothing()?;
            let runs = match &self.export {
                Some(to) => pgn_paper::export(dir, to)?,
                None => pgn_paper::write_tables(dir)?,
            };
            return if self.queue.json {
                output::print_json(&runs)
            } else {
                output::print(&tables::render(&runs))
            };
        }
        let grid = self.grid()?;
        if !self.queue.run(&grid)? {
            return Ok(());
        }
        let runs = pgn_paper::write_tables(grid.out())?;
        if let Some(to) = &self.export {
            pgn_paper::export(grid.out(), to)?;
        }
        if self.queue.json { output::print_json(&runs) } else { self.print_summary(&grid, &runs) }
    }

    fn grid(&self) -> Result<Queue> {
        let mut selection = if self.full { Selection::full() } else { Selection::quick() };
        if !self.models.is_empty() {
            selection.models = self.models.clone();
        }
        if !self.tasks.is_empty() {
            selection.tasks = self.tasks.clone();
        }
        if !self.seeds.is_empty() {
            selection.seeds = self.seeds.clone();
        }
        for model in &self.models {
            if model == MACHINE_MODEL {
                let task = self.tasks.first().map_or("dsu", String::as_str);
                bail!(
                    "{model} is not in the paper's grid, whose models all learn from whole \
                     operations; train it with `pgn train --task {task} --model {model} --out DIR`"
                );
            }
            Preset::named(model).map_err(output::misspelt)?;
        }
        let mut settings = self.recipe.settings()?;
        if !self.full && !settings.contains_key("epochs") {
            settings.insert("epochs".to_owned(), (QUICK_EPOCHS as i64).into());
        }
        let default = if self.full { "runs/paper" } else { "runs/quick" };
        let out = self.out.clone().unwrap_or_else(|| default.into());
        grid(&out, &selection, settings)
            .map_err(|error| output::misspelt(self.recipe.located(error, &self.recipe.flags())))
    }

    fn print_summary(&self, grid: &Queue, runs: &Collection) -> Result<()> {
        let out = grid.out().display();
        let table = |task: &str| format!("\n{}", tables::f1_means(runs, task).text().trim_end());
        let mut text = runs.tasks().into_iter().map(table).collect::<String>() + "\n";
        if self.full {
            text += &format!("\nAll tables and the paper's claims: {out}/tables.md\n");
        } else {
            let epochs = grid.epochs(grid.entry(0)?)?;
            let mut seeds: Vec<u64> = runs.runs.iter().map(|run| run.seed).collect();
            seeds.sort_unstable();
            seeds.dedup();
            text += &format!(
                "\nThis was {} seed{} and {epochs} epochs; the paper reports means over 5 seeds of\n\
                 5,000 epochs, so differences of a few hundredths mean nothing. The full grid is\n\
                 pgn reproduce --full; our results are in results/paper/tables.md.\n\
                 These runs: {out}\n",
                seeds.len(),
                if seeds.len() == 1 { "" } else { "s" }
            );
        }
        output::print(&text)?;
        output::next(&format!("pgn serve {out}, or pgn report {out} --out report.html"));
        Ok(())
    }
}
