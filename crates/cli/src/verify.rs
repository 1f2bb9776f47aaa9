//! `pgn verify`: every small case, and shapes of growing depth.

use std::path::PathBuf;

use anyhow::{Result, bail};
use pgn_lab::{Run, Shape, Verdict, machine::MachineRun, verify_all, verify_shape};
use serde::Serialize;

use crate::{machine, output, threads::pool};

/// Try a model on every small forest with every pair of operands, and on deep ones.
///
/// For models with an iterated processor, which carry nothing but pointers from one operation to
/// the next: a model that is right from every state is always right. Every forest of up to --nodes
/// nodes is tried, then chains, brooms, stars and random forests of doubling size, up to --depth
/// nodes. Machines are certified anew and run next to their program on random operations of up to
/// --depth nodes. The smallest case that goes wrong is drawn, and the exit code is not 0.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn verify runs/forest-exact
  pgn verify runs/forest-exact --nodes 5 --depth 10000 --json")]
pub struct Args {
    /// The run directory
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// Try every forest of up to this many nodes; 6 make 504,210 transitions
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(2..=8))]
    nodes: u32,
    /// Try shapes of up to this many nodes; 0 for none
    #[arg(long, value_name = "N", default_value_t = 512)]
    depth: usize,
    /// Random operand pairs for each shape and size
    #[arg(long, value_name = "N", default_value_t = 100)]
    pairs: u64,
    /// Seed of random forests and pairs
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    task: String,
    model: String,
    seed: u64,
    run: PathBuf,
    verdicts: Vec<Verdict>,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        if MachineRun::is_at(&self.run) {
            let Args { run, depth, pairs, seed, json, .. } = self;
            return pool(self.threads)?.install(|| machine::verify(&run, depth, pairs, seed, json));
        }
        let run = Run::load(&self.run)?;
        let (model, task) = (run.model(), run.task()?);
        let verdicts = pool(self.threads)?.install(|| -> Result<Vec<Verdict>> {
            let mut verdicts = Vec::new();
            for nodes in 2..=self.nodes as usize {
                verdicts.push(verify_all(model, task, nodes)?);
            }
            for shape in Shape::ALL {
                let mut nodes = 16;
                while nodes <= self.depth {
                    let (pairs, seed) = (self.pairs, self.seed);
                    verdicts.push(verify_shape(model, task, shape, nodes, pairs, seed)?);
                    nodes *= 2;
                }
            }
            Ok(verdicts)
        })?;
        let wrong: u64 = verdicts.iter().map(|verdict| verdict.wrong).sum();
        let tried: u64 = verdicts.iter().map(|verdict| verdict.transitions).sum();
        if self.json {
            let config = run.config();
            let seed = config.seed;
            let (task, model) = (config.task.clone(), config.model.clone());
            output::print_json(&Report { task, model, seed, run: self.run, verdicts })?;
        } else {
            let mut text = format!(
                "{:<15} {:>7} {:>6} {:>11} {:>6} {:>9}\n",
                "cases", "nodes", "depth", "transitions", "wrong", "max steps"
            );
            for verdict in &verdicts {
                let Verdict { cases, nodes, depth, transitions, wrong, max_steps, .. } = verdict;
                text += &format!(
                    "{cases:<15} {nodes:>7} {depth:>6} {transitions:>11} {wrong:>6} {max_steps:>9}\n"
                );
            }
            let failures = verdicts.iter().filter_map(|verdict| verdict.failure.as_ref());
            if let Some(smallest) = failures.min_by_key(|failure| failure.before.len()) {
                text += &format!("\nThe smallest that went wrong:\n{}", smallest.picture());
            }
            output::print(&text)?;
        }
        if wrong > 0 {
            bail!("{wrong} of {tried} transitions are wrong");
        }
        Ok(())
    }
}
