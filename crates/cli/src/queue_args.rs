//! What can be done with a queue of runs, whoever made it: list it, work through it.

use std::time::Duration;

use anyhow::{Result, bail};
use pgn_lab::{MAX_THREADS, Queue};
use pgn_runs::{Summary, Work, indices};

use crate::{
    grid_progress::GridDisplay,
    interrupt,
    output::{self, Interrupted, NotReady},
    queue_list, threads,
};

/// The flags of every queue.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "The queue")]
pub struct QueueArgs {
    /// Only print the queue with the state of every run
    #[arg(long)]
    list: bool,
    /// Only print the indices of the queue on one line, as in 3,7,9-12, for sbatch --array
    #[arg(long, conflicts_with = "list")]
    array: bool,
    /// With --list or --array: only entries in this state; todo is unfinished and not running, ready
    /// is to do with its dependency finished
    #[arg(long, value_name = "STATE", value_parser = queue_list::STATES)]
    state: Option<String>,
    /// Run only these entries, as in 3,7,9-12. Does not wait for an entry that is being trained
    /// elsewhere or depends on an unfinished one: exit code 75
    #[arg(long, value_name = "INDICES", conflicts_with_all = ["list", "array"])]
    pub only: Option<String>,
    /// Parallel runs; does not change results [default: one per core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Threads per run; does not change results [default: cores / parallel runs]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Seconds between checkpoints
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    checkpoint_every: u64,
    /// Print no progress, only warnings and the results
    #[arg(long)]
    quiet: bool,
    /// Print JSON: the queue with --list, else every run's results
    #[arg(long)]
    pub json: bool,
}

impl QueueArgs {
    /// Does what the flags say. Returns whether all of the queue was worked on and is finished.
    pub fn run(&self, queue: &Queue) -> Result<bool> {
        if self.state.is_some() && !self.list && !self.array {
            bail!("--state chooses what --list and --array print; expected one of them");
        }
        if self.list || self.array {
            let lines = queue_list::lines(queue, self.state.as_deref());
            if self.array {
                let indices: Vec<usize> = lines.iter().map(|line| line.entry.index).collect();
                output::print(&(indices::format(&indices) + "\n"))?;
            } else if self.json {
                output::print_json(&lines)?;
            } else {
                output::print(&queue_list::render(&lines))?;
            }
            return Ok(false);
        }
        self.work(queue)?;
        Ok(self.only.is_none())
    }

    fn work(&self, queue: &Queue) -> Result<()> {
        for (flag, value) in [("jobs", self.jobs), ("threads", self.threads)] {
            if let Some(value) = value.filter(|value| !(1..=MAX_THREADS).contains(value)) {
                bail!("--{flag} is {value}; expected from 1 to {MAX_THREADS}");
            }
        }
        let only = match &self.only {
            None => None,
            Some(text) => Some(indices::parse(text).map_err(anyhow::Error::msg)?),
        };
        let count = only.as_ref().map_or(queue.entries().len(), Vec::len);
        let cores = threads::default();
        let per_run = self.threads.unwrap_or(1);
        let workers = self.jobs.unwrap_or((cores / per_run).max(1)).min(count);
        let threads_per_run = self.threads.unwrap_or((cores / workers.max(1)).max(1));
        let display = GridDisplay::new(queue, only.as_deref(), self.quiet)?;
        let work = Work {
            workers,
            threads_per_run,
            checkpoint_every: Duration::from_secs(self.checkpoint_every),
            stop: interrupt::flag()?,
            observe: &|entry, event| display.show(entry, event),
        };
        let summary = pgn_runs::work(queue, only.as_deref(), &work);
        // Before any error, so that it gets a line of its own.
        display.finish();
        report_failures(queue, count, &summary?)
    }
}

/// The worst of what happened, as an error with an exit code of its own.
fn report_failures(queue: &Queue, count: usize, summary: &Summary) -> Result<()> {
    let name = |index: &usize| queue.entries()[*index].name();
    if summary.stopped {
        return Err(Interrupted(format!(
            "stopped with {} of {count} runs finished; to resume, start the same command again",
            summary.finished,
        ))
        .into());
    }
    if let Some((index, why)) = summary.failed.first() {
        bail!("{} of {count} runs failed; the first, {}: {why}", summary.failed.len(), name(index));
    }
    if let Some((index, why)) = summary.not_ready.first() {
        return Err(NotReady(format!(
            "{} of {count} runs are not ready; the first, {}: {why}",
            summary.not_ready.len(),
            name(index)
        ))
        .into());
    }
    Ok(())
}
