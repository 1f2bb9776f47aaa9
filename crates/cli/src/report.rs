//! `pgn report`: runs in one HTML file.

use std::path::PathBuf;

use anyhow::Result;
use pgn_lab::{analysis::Analyses, collection::find_runs};

use crate::{interrupt, output, steps::Steps, threads::pool};

/// Write a report of finished runs: one HTML file that works offline
///
/// Tables next to the paper's, learning curves, credit assignment, pointers, playable rollouts,
/// every run's config and how to repeat it. Runs of gnn and pgn are analysed as by pgn analyse
/// (or all models, if there are none of these), unless --analyses is given. Means are over runs
/// that differ only in their seed.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  pgn report runs/dsu-pgn --out report.html
  pgn report runs/paper --out report.html
  pgn report results/paper --analyses results/paper/analyses.json \\
    --out report.html")]
pub struct Args {
    /// Run directories, or folders with finished runs in them
    #[arg(value_name = "RUNS", required = true)]
    runs: Vec<PathBuf>,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Overwrite --out if it exists
    #[arg(long)]
    force: bool,
    /// Use the analyses in this file, made by pgn analyse --out
    #[arg(long, value_name = "FILE")]
    analyses: Option<PathBuf>,
    /// Threads to use; the report is the same for any number [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        interrupt::leave_nothing()?;
        output::check_new(&self.out, self.force)?;
        let runs = find_runs(&self.runs)?;
        let analyses = self.analyses.as_deref().map(Analyses::load).transpose()?;
        let analyse = match analyses {
            Some(_) => Vec::new(),
            None => pgn_viewer::to_be_analysed(&runs)?,
        };
        let steps = Steps::new("report", analyse.len() + 1);
        let html = pool(self.threads)?.install(|| -> Result<String> {
            let mut found = Vec::new();
            for run in &analyse {
                let what = format!("analysing {}", run.display());
                found.push(steps.step(&what, || pgn_lab::Run::load(run)?.analyse())?);
            }
            let analyses = analyses.unwrap_or_else(|| Analyses::new(found));
            steps.begin("writing");
            Ok(pgn_viewer::report(&runs, Some(analyses))?)
        })?;
        drop(steps);
        output::write(&self.out, html.as_bytes())?;
        let count = runs.len();
        output::print(&format!(
            "{}: {count} run{}, {} kB\n",
            self.out.display(),
            if count == 1 { "" } else { "s" },
            html.len().div_ceil(1000)
        ))?;
        output::next(&format!("open {} in a browser", self.out.display()));
        Ok(())
    }
}
