//! `pgn learn`, which needs Python.

use anyhow::{Result, bail};

/// Infer a structure from ordinary Python code, train it and prove it; in the Python package
#[derive(clap::Args)]
#[command(hide = true, disable_help_flag = true)]
pub struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _all: Vec<String>,
}

impl Args {
    /// Says where it is.
    pub fn run(self) -> Result<()> {
        bail!(
            "`pgn learn` watches Python code, so it comes with the Python package: \
             `pip install` bindings/python and run it again"
        )
    }
}
