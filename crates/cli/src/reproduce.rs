//! `pgn reproduce`: the paper's grid, its tables and its claims.

use std::{path::PathBuf, time::Duration};

use anyhow::{Result, bail};
use pgn_lab::{Collection, Queue, State, Work};
use pgn_paper::{Selection, grid, tables};
use serde::Serialize;

use crate::{
    grid_progress::GridDisplay,
    grid_table, interrupt,
    output::{self, Interrupted},
    recipe::RecipeArgs,
};

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
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  pgn reproduce
  pgn reproduce --full --out runs/paper
  pgn reproduce --full --out runs/paper --list
  pgn reproduce --full --out runs/paper --only 17      (one entry, as in a job array)
  pgn reproduce --out runs/small --models pgn,gnn --tasks lct --seeds 0,1 --epochs 500
  pgn reproduce --tables results/paper                 (tables again, from what is there)")]
pub struct Args {
    /// All of the paper: 10 models, 2 tasks, 5 seeds, 5,000 epochs
    #[arg(long)]
    full: bool,
    /// Where the runs go [default: runs/quick, or runs/paper with --full]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the queue with the state of every run, and do nothing
    #[arg(long)]
    list: bool,
    /// Do one entry of the queue, and first its teacher if nobody else is at it
    #[arg(long, value_name = "INDEX", conflicts_with = "list")]
    only: Option<usize>,
    /// Gather the finished runs in DIR, or else its runs.json, write runs.json and tables.md
    /// there, and print the tables
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "only", "full", "out"])]
    tables: Option<PathBuf>,
    /// Copy what is worth keeping of every finished run (config, results, model, thinned
    /// metrics) here, with runs.json and tables.md
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "only"])]
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
    /// Runs at a time; no outcome depends on it [default: one per core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Threads for each run; no outcome depends on it
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    /// Seconds from one checkpoint of a run to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    checkpoint_every: u64,
    /// Print JSON: the queue with --list, else every run's results
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    recipe: RecipeArgs,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    entry: &'a pgn_lab::Entry,
    #[serde(flatten)]
    state: State,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        if let Some(dir) = &self.tables {
            let runs = match &self.export {
                Some(to) => pgn_paper::export(dir, to)?,
                None => pgn_paper::write_tables(dir)?,
            };
            return if self.json {
                output::print_json(&runs)
            } else {
                output::print(&tables::render(&runs))
            };
        }
        let grid = self.grid()?;
        if self.list { self.print_list(&grid) } else { self.work(&grid) }
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

    fn print_list(&self, grid: &Queue) -> Result<()> {
        let lines: Vec<Line<'_>> =
            grid.entries().iter().map(|entry| Line { entry, state: entry.state() }).collect();
        if self.json {
            return output::print_json(&lines);
        }
        let mut text = format!(
            "{:>5}  {:<5}  {:<11}  {:>4}  {:>7}  {:<22}  directory\n",
            "index", "task", "model", "seed", "depends", "state"
        );
        for Line { entry, state } in lines {
            let depends = entry.depends_on.map_or("-".to_owned(), |index| index.to_string());
            text += &format!(
                "{:>5}  {:<5}  {:<11}  {:>4}  {depends:>7}  {state:<22}  {}\n",
                entry.index,
                entry.task,
                entry.model,
                entry.seed,
                entry.directory.display()
            );
        }
        output::print(&text)
    }

    fn work(&self, grid: &Queue) -> Result<()> {
        if self.jobs == Some(0) || self.threads == 0 {
            bail!("--jobs and --threads must be at least 1");
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let only = self.only.map(|index| vec![index]);
        let display = GridDisplay::new(grid, only.as_deref())?;
        let work = Work {
            workers: self.jobs.unwrap_or((cores / self.threads).max(1)),
            threads_per_run: self.threads,
            checkpoint_every: Duration::from_secs(self.checkpoint_every),
            stop: interrupt::flag()?,
            observe: &|entry, event| display.show(entry, event),
        };
        let summary = pgn_lab::work(grid, only.as_deref(), &work);
        // Before any error, so that it gets a line of its own.
        display.finish();
        let summary = summary?;
        if summary.stopped {
            return Err(Interrupted(format!(
                "stopped with {} of {} runs finished; to go on, start the same command again",
                summary.finished,
                grid.entries().len()
            ))
            .into());
        }
        if let Some((index, why)) = summary.failed.first() {
            bail!(
                "{} of {} runs failed; the first, {}: {why}",
                summary.failed.len(),
                grid.entries().len(),
                grid.entries()[*index].name()
            );
        }
        if self.only.is_some() {
            return Ok(());
        }
        let runs = pgn_paper::write_tables(grid.out())?;
        if let Some(to) = &self.export {
            pgn_paper::export(grid.out(), to)?;
        }
        if self.json { output::print_json(&runs) } else { self.print_summary(grid, &runs) }
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
