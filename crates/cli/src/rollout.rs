//! `pgn rollout`: what a trained model does, as tensors or step by step.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use pgn_lab::{AnyRun, machine::Mode};
use pgn_structures::{Sampling, given_priorities, operations_from_csv};

use crate::{
    interrupt, machine,
    output::{self, Usage},
    story_text,
    threads::pool,
};

/// Run a trained model on operations: step by step, or a whole data set to a file
///
/// With --operations, prints each operation of a CSV file (`u,v` per line) with the model's answer and
/// confidence, the true answer, the pointers that moved, and those that are wrong. With --data and
/// --out, writes the logits of answers and masks and the pointers after every operation to a
/// .safetensors file. The model reads its own masks and pointers, never the true ones.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  pgn rollout runs/dsu-pgn --data test.safetensors --out rollout.safetensors
  printf '0,1\\n1,2\\n0,2\\n' > mine.csv
  pgn rollout runs/dsu-pgn --operations mine.csv --nodes 5")]
pub struct Args {
    /// The run directory, or a built-in machine such as lct
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// Roll out every sequence of this data-set file, or CSV of operations
    #[arg(long, value_name = "FILE", requires = "out", conflicts_with = "operations")]
    data: Option<PathBuf>,
    /// Where to write the rollouts
    #[arg(long, value_name = "FILE", requires = "data")]
    out: Option<PathBuf>,
    /// Overwrite --out if it exists
    #[arg(long, requires = "out")]
    force: bool,
    /// Show each operation of this CSV file, `u,v` per line
    #[arg(long, alias = "ops", value_name = "FILE")]
    operations: Option<PathBuf>,
    /// With --operations: number of nodes [default: one more than the largest operand]
    #[arg(long, value_name = "N", requires = "operations")]
    nodes: Option<usize>,
    /// With --operations: seed of the nodes' priorities
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Threads to use; the outcome is the same for any number [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// For machines: network, memoised, compiled or checked; the bytes are the same [default: memoised]
    #[arg(long, value_name = "MODE", value_parser = machine::mode)]
    mode: Option<Mode>,
    /// With --operations: print JSON
    #[arg(long, requires = "operations")]
    json: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        if self.data.is_none() && self.operations.is_none() {
            return Err(Usage(
                "nothing to roll out; give --operations FILE (a CSV of operations, printed step \
                 by step) or --data FILE --out FILE (a data set)"
                    .into(),
            )
            .into());
        }
        if let Some(out) = &self.out {
            output::check_new(out, self.force)?;
        }
        let run = AnyRun::open(&self.run)?;
        if self.mode.is_some() && matches!(run, AnyRun::Model(_)) {
            let what = format!("--mode is for machines; {} is none", self.run.display());
            return Err(Usage(what).into());
        }
        let mode = self.mode.unwrap_or_default();
        interrupt::leave_nothing()?;
        let pool = pool(self.threads)?;
        if let (Some(data), Some(out)) = (&self.data, &self.out) {
            pool.install(|| run.write_rollouts(data, out, mode))?;
            output::remark(&format!("Written to {}.", out.display()));
            let (run, data) = (self.run.display(), data.display());
            output::next(&format!("pgn eval {run} --data {data}"));
            return Ok(());
        }
        let path = self.operations.as_ref().context("either --data or --operations is needed")?;
        let task = run.task()?;
        let most = self.nodes.unwrap_or(Sampling::MAX_NODES);
        let operations = operations_from_csv(path, &task, most)?;
        let largest = operations.iter().map(|operation| operation.u.max(operation.v)).max();
        let Some(largest) = largest else {
            bail!("{}: no operations; expected a line `u,v` for each", path.display());
        };
        let nodes = self.nodes.unwrap_or(largest as usize + 1);
        let priorities = given_priorities(nodes, self.seed)?;
        let steps = pool.install(|| run.story(&priorities, &operations, mode))?;
        if self.json {
            return output::print_json(&steps);
        }
        output::print(&story_text::render(&steps, nodes, output::colours()))?;
        let place = if self.run.exists() { self.run.display().to_string() } else { String::new() };
        output::next(format!("pgn serve {place}").trim_end());
        Ok(())
    }
}
