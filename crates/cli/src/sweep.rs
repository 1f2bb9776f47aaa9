//! `pgn sweep`: many runs from one file.

use std::path::PathBuf;

use anyhow::Result;
use pgn_lab::{Sweep, sweep_tables};

use crate::{output, queue_args::QueueArgs};

/// Train all combinations of the values in a file, with tables at the end
///
/// SWEEP.toml has the settings of a run, as in its config.toml, and a table [sweep] with lists of
/// values: all combinations are run. [[condition]] names settings that go together, [[exclude]]
/// leaves combinations out. Every run is a directory task/model/.../seed-S under --out. Finished
/// runs are skipped and others resumed; several processes may work on one --out at a time, on
/// several machines if it is shared. At the end runs.json and tables.md are written there.
///
/// Exit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped (start the same command again to go on),
/// 75 not ready (with --only).
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
  pgn sweep sweep.toml --out runs/sweep --only 3,7,9-12   (as in a job array)
  pgn sweep sweep.toml --out runs/sweep --watch
  pgn sweep sweep.toml --out runs/sweep --tables          (of what is finished so far)")]
pub struct Args {
    /// What is run
    #[arg(value_name = "SWEEP.toml")]
    sweep: PathBuf,
    /// Where the runs go
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Write runs.json and tables.md from the runs that are finished, print the tables, and do
    /// nothing else
    #[arg(long, conflicts_with_all = ["list", "array", "watch", "only"])]
    tables: bool,
    #[command(flatten)]
    queue: QueueArgs,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let queue = Sweep::load(&self.sweep)?.queue(&self.out)?;
        if !self.tables && !self.queue.run(&queue)? {
            return Ok(());
        }
        let (runs, tables) = sweep_tables(&queue)?;
        if self.queue.json { output::print_json(&runs) } else { output::print(&tables) }
    }
}
