//! `pgn completions`: what a shell needs to complete this program's arguments.

use anyhow::Result;
use clap_complete::{Shell, generate};

use crate::output;

/// Print a script that lets your shell complete commands and flags
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn completions bash > ~/.local/share/bash-completion/completions/pgn
  pgn completions zsh > ~/.zfunc/_pgn
  pgn completions fish > ~/.config/fish/completions/pgn.fish")]
pub struct Args {
    /// The shell
    shell: Shell,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let mut script = Vec::new();
        generate(self.shell, &mut crate::command(), "pgn", &mut script);
        output::print(&String::from_utf8_lossy(&script))
    }
}
