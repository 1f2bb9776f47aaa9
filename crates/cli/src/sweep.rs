//! `pgn sweep`: many runs from one file.

use std::path::PathBuf;

use anyhow::Result;
use pgn_lab::{Experiments, collection::sweep_tables};
use pgn_runs::Sweep;

use crate::{output, queue_args::QueueArgs};

/// Train all combinations of settings in a file
///
/// SWEEP.toml has the settings of a run, as in its config.toml, and a table [sweep] with lists of
/// values: all combinations are run. [[condition]] groups settings that change together,
/// [[exclude]] leaves combinations out. Runs are directories task/model/.../seed-S under --out;
/// finished ones are skipped, others resumed. Several processes, also on several machines, may
/// share one --out. Writes runs.json and tables.md.
///
/// Exit codes: 0 done, 1 failed, 2 wrong usage, 75 not ready (--only), 130 stopped (run it again to
/// resume).
#[derive(clap::Args)]
#[command(after_long_help = "\
Example of a SWEEP.toml:
  epochs = 1000

  [sweep]
  task = [\"dsu\", \"lct\"]
  model = [\"pgn\", \"pgn-ptrs\", \"gnn\"]
  seed = \"0-4\"
  learning_rate = [0.005, 0.002]

  [[condition]]
  name = \"constant\"

  [[condition]]
  name = \"cosine\"
  decay = \"cosine\"

Examples:
  pgn sweep sweep.toml --out runs/sweep
  pgn sweep sweep.toml --out runs/sweep --list --state todo
  pgn sweep sweep.toml --out runs/sweep --only 3,7,9-12   (for a job array)
  pgn sweep sweep.toml --out runs/sweep --tables          (of the finished runs)")]
pub struct Args {
    /// The file with the settings
    #[arg(value_name = "SWEEP.toml")]
    sweep: PathBuf,
    /// Where the runs go
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only print the tables of the finished runs, and write runs.json and tables.md
    #[arg(long, conflicts_with_all = ["list", "array", "only"])]
    tables: bool,
    #[command(flatten)]
    queue: QueueArgs,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let queue = Sweep::load(&self.sweep)?.queue(Experiments, &self.out)?;
        if !self.tables && !self.queue.run(&queue)? {
            return Ok(());
        }
        let (runs, tables) = sweep_tables(&queue)?;
        if self.queue.json {
            return output::print_json(&runs);
        }
        output::print(&tables)?;
        output::next(&format!("pgn serve {}", self.out.display()));
        Ok(())
    }
}
