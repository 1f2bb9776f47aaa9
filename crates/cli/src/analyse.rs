//! `pgn analyse`: what trained models know beyond counting, who gets credit, and what their
//! pointers look like.

use std::path::PathBuf;

use anyhow::Result;
use pgn_lab::{
    Run,
    analysis::{Analyses, Analysis},
    collection::find_runs,
    machine::MachineRun,
};
use pgn_paper::analyses::{Style, render};

use crate::{interrupt, output, steps::Steps, threads::pool};

/// Analyse trained models: beyond counting, credit assignment, shape of the pointers
///
/// For every run, on its own test sequences: what it knows beyond counting (how often u and v
/// appeared before); which nodes the answers come from (appendix D of the paper); how deep, wide
/// and valid its pointers are; and the chain union(i, i + 1) of the paper's figure 4. Means are over
/// steps and over runs that differ only in their seed. With --out, all numbers go to a JSON file,
/// which pgn figures draws.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  pgn analyse runs/paper/dsu/pgn/seed-0
  pgn analyse runs/paper --models gnn,pgn --out results/paper/analyses.json")]
pub struct Args {
    /// Run directories, or folders with finished runs in them
    #[arg(value_name = "RUNS", required = true)]
    runs: Vec<PathBuf>,
    /// Only these models
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    models: Vec<String>,
    /// Write all numbers to this JSON file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite --out if it exists
    #[arg(long, requires = "out")]
    force: bool,
    /// Threads to use; the numbers are the same for any number [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print the tables as Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print all numbers as JSON instead of tables
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        interrupt::leave_nothing()?;
        if let Some(out) = &self.out {
            output::check_new(out, self.force)?;
        }
        let mut runs = find_runs(&self.runs)?;
        if !self.models.is_empty() {
            for model in &self.models {
                if !runs.iter().any(|run| is_model(run, model)) {
                    anyhow::bail!("--models: no run of {model} was found");
                }
            }
            runs.retain(|run| self.models.iter().any(|model| is_model(run, model)));
        }
        // Machines have no latents to look into, and make no mistakes to explain.
        runs.retain(|run| !MachineRun::is_in(run));
        if runs.is_empty() {
            anyhow::bail!("all runs are machines; analyses are of the other models");
        }
        let steps = Steps::new("analyse", runs.len());
        let analyses = pool(self.threads)?.install(|| -> Result<Vec<Analysis>> {
            let analyse = |run: &PathBuf| {
                steps.step(&run.display().to_string(), || Ok(Run::load(run)?.analyse()?))
            };
            runs.iter().map(analyse).collect()
        })?;
        drop(steps);
        let analyses = Analyses::new(analyses);
        if let Some(path) = &self.out {
            output::write(path, analyses.to_json()?.as_bytes())?;
        }
        if self.json {
            return output::print_json(&analyses);
        }
        let style = if self.markdown { Style::Markdown } else { Style::Text };
        output::print(&render(&analyses, style))?;
        if let Some(path) = &self.out {
            let folder = path.parent().unwrap_or_else(|| std::path::Path::new("."));
            output::next(&format!("pgn figures {} --out figures", folder.display()));
        }
        Ok(())
    }
}

fn is_model(run: &std::path::Path, model: &str) -> bool {
    pgn_lab::Results::load(run).is_ok_and(|results| results.model == model)
}
