//! `pgn compile`: a certified machine as decision trees.

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;
use pgn_machines::compile::Format;

use crate::{interrupt, machine, output};

/// Compile a certified machine to decision trees, without any matrix product
///
/// Compiles the network's action on every view, so the result does exactly what the network
/// learned. First the network is compared with its program on every consistent view, as `pgn certify`
/// does; a network that differs anywhere is refused.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn compile lct --emit rust > lct.rs
  pgn compile runs/lct-machine --emit dot | dot -Tsvg > lct.svg
  pgn compile runs/lct-machine --emit json --out lct.json")]
pub struct Args {
    /// The run directory, or a built-in machine: dsu, lct, forest, splay or heap
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// What to write: json (the trees), dot (a drawing, for Graphviz) or rust (a module that
    /// compiles on its own)
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    emit: Emit,
    /// Look at every micro-step whether the view is in the table, and stop if not; without this
    /// flag it is left to the proof, if there is one (pgn certify)
    #[arg(long)]
    checked: bool,
    /// Where to write it [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite --out if it exists
    #[arg(long, requires = "out")]
    force: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Emit {
    Json,
    Dot,
    Rust,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        interrupt::leave_nothing()?;
        if let Some(out) = &self.out {
            output::check_new(out, self.force)?;
        }
        let run = machine::open(&self.run)?;
        let compiled = run.compile(self.checked)?;
        if !self.checked && !run.is_proved() {
            output::remark(
                "It is not proved, so the trees look whether every view is in the table (pgn certify).",
            );
        }
        let text = compiled.emit(match self.emit {
            Emit::Json => Format::Json,
            Emit::Dot => Format::Dot,
            Emit::Rust => Format::Rust,
        });
        match &self.out {
            Some(path) => {
                output::write(path, text.as_bytes())?;
                output::remark(&format!("Written to {}.", path.display()));
                Ok(())
            }
            None => output::print(&text),
        }
    }
}
