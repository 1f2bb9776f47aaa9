//! `pgn analyse`: what trained models know beyond counting, who gets credit, and what their
//! pointers look like.

use std::path::PathBuf;

use anyhow::Result;
use pgn_lab::{
    Run,
    analysis::{Analyses, Analysis},
    find_runs,
};
use pgn_paper::analyses::render;

use crate::{output, threads::pool};

/// Look at what trained models do: beyond counting, credit assignment, the shape of pointers
///
/// For every run given: what it knows beyond how often the two nodes of an operation were operated
/// on before, which nodes the answers come from (appendix D of the paper), and for
/// models with pointers of their own, how deep and wide these are, and after how many operations
/// they are valid, beside the truth's; then the chain union(i, i + 1) of the paper's figure 4.
/// All on the run's own test sequences, rolled out freely. Prints tables of means over steps and
/// seeds; with --out, all numbers step by step go into a JSON file, from which pgn figures draws.
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
    /// Threads to use; the numbers are the same for any number [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print all numbers as JSON in place of tables
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let mut runs = find_runs(&self.runs)?;
        if !self.models.is_empty() {
            for model in &self.models {
                if !runs.iter().any(|run| is_model(run, model)) {
                    anyhow::bail!("--models names {model}, of which no run was found");
                }
            }
            runs.retain(|run| self.models.iter().any(|model| is_model(run, model)));
        }
        let analyses = pool(self.threads)?.install(|| -> Result<Vec<Analysis>> {
            runs.iter().map(|run| Ok(Run::load(run)?.analyse()?)).collect()
        })?;
        let analyses = Analyses::new(analyses);
        if let Some(path) = &self.out {
            output::write(path, analyses.to_json()?.as_bytes())?;
        }
        if self.json { output::print_json(&analyses) } else { output::print(&render(&analyses)) }
    }
}

fn is_model(run: &std::path::Path, model: &str) -> bool {
    pgn_lab::Results::load(run).is_ok_and(|results| results.model == model)
}
