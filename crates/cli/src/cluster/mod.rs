//! `pgn cluster`: hand a sweep to a cluster's scheduler.

mod plan;
mod scripts;
mod slurm;

use anyhow::Result;

/// Run a sweep on a cluster
///
/// For Ray, see `python -m pgn.cluster.ray --help`.
#[derive(clap::Args)]
#[command(arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    engine: Engine,
}

#[derive(clap::Subcommand)]
enum Engine {
    Slurm(Box<slurm::Args>),
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let Engine::Slurm(args) = self.engine;
        args.run()
    }
}
