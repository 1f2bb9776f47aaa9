//! `pgn verify`: every small case, and shapes of growing depth.

use std::path::PathBuf;

use anyhow::{Result, bail};
use pgn_lab::{
    Run,
    machine::MachineRun,
    verify::{Shape, Verdict, verify_all, verify_shape},
};
use serde::Serialize;

use crate::{demo::thousands, machine, output, steps::Steps, threads::pool};

/// Test a pgn-exact model on all small forests and some deep ones, or a machine on random operations
///
/// pgn-exact carries nothing but pointers from one operation to the next, so a model that is right
/// from every state is always right. Tries every forest of up to --nodes nodes with every pair of
/// operands, then chains, brooms, stars and random forests of up to --depth nodes. A machine
/// (pgn-machine) is certified again and compared with its program on random operations. Other
/// models cannot be verified: they carry latents.
///
/// Prints the smallest case that goes wrong, and exits with 1 if there is one.
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
        let sizes: Vec<usize> = std::iter::successors(Some(16), |n| Some(2 * n))
            .take_while(|&n| n <= self.depth)
            .collect();
        let small = 2..=self.nodes as usize;
        let steps = Steps::new("verify", small.clone().count() + Shape::ALL.len() * sizes.len());
        let verdicts = pool(self.threads)?.install(|| -> Result<Vec<Verdict>> {
            let mut verdicts = Vec::new();
            for nodes in small {
                let what = format!("all forests of {nodes} nodes");
                verdicts.push(steps.step(&what, || verify_all(model, task, nodes))?);
            }
            for shape in Shape::ALL {
                for &nodes in &sizes {
                    let (pairs, seed) = (self.pairs, self.seed);
                    let verify = || verify_shape(model, task, shape, nodes, pairs, seed);
                    verdicts.push(steps.step(&format!("deep forests, n = {nodes}"), verify)?);
                }
            }
            Ok(verdicts)
        })?;
        drop(steps);
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
                text += &format!("\nThe smallest wrong case:\n{}", smallest.text());
            } else {
                text += &format!("\nAll {} transitions are right.\n", thousands(tried as usize));
            }
            output::print(&text)?;
            if wrong == 0 {
                output::next(&format!("pgn eval {} --nodes 1000 --count 5", self.run.display()));
            }
        }
        if wrong > 0 {
            let (wrong, tried) = (thousands(wrong as usize), thousands(tried as usize));
            bail!("{wrong} of {tried} transitions are wrong");
        }
        Ok(())
    }
}
