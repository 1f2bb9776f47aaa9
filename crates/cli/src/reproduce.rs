//! `pgn reproduce`: the paper's grid, its tables and its claims.

use std::path::PathBuf;

use anyhow::Result;
use pgn_lab::{Collection, Queue};
use pgn_paper::{Selection, grid, tables};

use crate::{grid_table, output, queue_args::QueueArgs, recipe::RecipeArgs};

/// Epochs of the quick version: enough for its point, few enough for a coffee.
const QUICK_EPOCHS: u64 = 1000;

/// Reproduce the paper: a quick version without flags, all of it with --full
///
/// Without flags: DSU, four models, one seed and fewer epochs, in a few minutes, with the
/// paper's numbers beside. With --full: ten models, two tasks, five seeds, 5,000 epochs; Tables
/// 1, 2 and 3, n = 200 and the paper's claims. Every run is a directory task/model/seed-S under
/// --out. Finished runs are skipped and others resumed, so that stopping and starting costs
/// nothing; several processes may work on one --out at a time, on several machines if it is
/// shared. At the end runs.json and tables.md are written there.
///
/// Exit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped (start the same command again to go on),
/// 75 not ready (with --only).
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  pgn reproduce
  pgn reproduce --full --out runs/paper
  pgn reproduce --full --out runs/paper --list
  pgn reproduce --full --out runs/paper --list --state todo
  pgn reproduce --full --out runs/paper --only 17      (one entry, as in a job array)
  pgn reproduce --full --out runs/paper --watch        (while others work on it)
  pgn reproduce --out runs/small --models pgn,gnn --tasks lct --seeds 0,1 --epochs 500
  pgn reproduce --tables results/paper                 (tables again, from what is there)")]
pub struct Args {
    /// All of the paper: 10 models, 2 tasks, 5 seeds, 5,000 epochs
    #[arg(long)]
    full: bool,
    /// Where the runs go [default: runs/quick, or runs/paper with --full]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Gather the finished runs in DIR, or else its runs.json, write runs.json and tables.md
    /// there, and print the tables
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "array", "watch", "only", "full", "out"])]
    tables: Option<PathBuf>,
    /// Copy what is worth keeping of every finished run (config, results, model, thinned
    /// metrics) here, with runs.json and tables.md
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "array", "watch", "only"])]
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

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        if let Some(dir) = &self.tables {
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
        let mut settings = self.recipe.settings()?;
        if !self.full && !settings.contains_key("epochs") {
            settings.insert("epochs".to_owned(), (QUICK_EPOCHS as i64).into());
        }
        let default = if self.full { "runs/paper" } else { "runs/quick" };
        let out = self.out.clone().unwrap_or_else(|| default.into());
        Ok(grid(&out, &selection, settings)?)
    }

    fn print_summary(&self, grid: &Queue, runs: &Collection) -> Result<()> {
        let out = grid.out().display();
        let mut text = grid_table::render(runs);
        if self.full {
            text += &format!("\nAll tables and the paper's claims: {out}/tables.md\n");
        } else {
            let epochs = grid.epochs(grid.entry(0)?)?;
            let mut seeds: Vec<u64> = runs.runs.iter().map(|run| run.seed).collect();
            seeds.sort_unstable();
            seeds.dedup();
            text += &format!(
                "\nThis was {} seed{} and {epochs} epochs; the paper has means over 5 seeds of 5,000\n\
                 epochs, so a difference of a few hundredths means nothing. The full measurement\n\
                 is pgn reproduce --full; its outcome is in results/paper/tables.md.\n\
                 These runs: {out}\n",
                seeds.len(),
                if seeds.len() == 1 { "" } else { "s" }
            );
        }
        output::print(&text)
    }
}
