//! `pgn report`: runs in one HTML file.

use std::path::PathBuf;

use anyhow::Result;
use pgn_lab::{analysis::Analyses, find_runs};

use crate::{output, threads::pool};

/// Write a report of finished runs: one HTML file that needs no network
///
/// The paper's tables with its numbers beside, learning curves, credit, pointers, rollouts to be
/// played, every run's config, and how to repeat it. Runs of gnn and pgn are analysed on the way,
/// as pgn analyse does it (others only where there are none of these); --analyses takes what was
/// found before.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  pgn report runs/dsu-pgn --out report.html
  pgn report runs/paper --out report.html
  pgn report results/paper --analyses results/paper/analyses.json --out report.html")]
pub struct Args {
    /// Run directories, or folders with finished runs in them
    #[arg(value_name = "RUNS", required = true)]
    runs: Vec<PathBuf>,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Analyses from this file, made by pgn analyse, in place of new ones
    #[arg(long, value_name = "FILE")]
    analyses: Option<PathBuf>,
    /// Threads to use; the report is the same for any number [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let runs = find_runs(&self.runs)?;
        let analyses = self.analyses.as_deref().map(Analyses::load).transpose()?;
        let html = pool(self.threads)?.install(|| pgn_viewer::report(&runs, analyses))?;
        output::write(&self.out, html.as_bytes())?;
        let count = runs.len();
        output::print(&format!(
            "{}: {count} run{}, {} kB\n",
            self.out.display(),
            if count == 1 { "" } else { "s" },
            html.len().div_ceil(1000)
        ))
    }
}
