//! The `pgn` program as a library: learned data structures on the command line.
//!
//! [`main_with`] is all of it: `main.rs` and the Python package call it. Each subcommand is a file
//! with its arguments, `Args`, and `Args::run`. To add one, declare the module and list it below.

use std::ffi::OsString;

mod analyse;
mod bench;
mod certify;
mod cluster;
mod compile;
mod eval;
mod figures;
mod generate;
mod grid_progress;
mod grid_table;
mod interrupt;
mod machine;
mod output;
mod progress;
mod queue_args;
mod queue_list;
mod recipe;
mod report;
mod reproduce;
mod rollout;
mod scores_table;
mod serve;
mod story_text;
mod sweep;
mod tasks;
mod threads;
mod train;
mod verify;

commands! {
    Generate(generate),
    Train(train),
    Eval(eval),
    Verify(verify),
    Certify(certify),
    Compile(compile),
    Rollout(rollout),
    Reproduce(reproduce),
    Sweep(sweep),
    Cluster(cluster),
    Analyse(analyse),
    Figures(figures),
    Report(report),
    Serve(serve),
    Bench(bench),
}

/// Learned data structures: pointer graph networks and the classical structures they imitate.
#[derive(clap::Parser)]
#[command(name = "pgn", version, propagate_version = true)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

/// Runs the program with these arguments, its name first, and returns its exit code.
pub fn main_with(args: impl IntoIterator<Item = OsString>) -> u8 {
    match <Program as clap::Parser>::try_parse_from(args) {
        Ok(program) => output::exit_code(program.command.run()),
        Err(error) => {
            // Help and version go to standard output, mistakes to standard error; there is nobody
            // left to tell if that fails.
            let _ = error.print();
            u8::try_from(error.exit_code()).unwrap_or(2)
        }
    }
}

/// Makes `enum Command` and its dispatch from a list of `Name(module)`.
macro_rules! commands {
    ($($name:ident($module:ident)),* $(,)?) => {
        #[derive(clap::Subcommand)]
        enum Command {
            $($name(Box<$module::Args>),)*
        }

        impl Command {
            fn run(self) -> anyhow::Result<()> {
                match self {
                    $(Command::$name(args) => args.run(),)*
                }
            }
        }
    };
}
use commands;
