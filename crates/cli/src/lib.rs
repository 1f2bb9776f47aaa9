//! The `pgn` program as a library: learned data structures on the command line.
//!
//! [`main_with`] is all of it, with data structures of your own as further tasks;
//! `docs/adding-a-structure.md` has a program that uses it. [`run`] and [`run_with`] are the same with
//! arguments that are given; the Python package calls the latter. Each subcommand is a file with its
//! arguments, `Args`, and `Args::run`. To add one, declare the module and list it below.

use std::{ffi::OsString, process::ExitCode};

use pgn_structures::Task;

mod analyse;
mod bench;
mod benchmark;
mod certify;
mod check;
mod cluster;
mod compile;
mod completions;
mod demo;
mod eval;
mod figures;
mod generate;
mod grid_progress;
mod interrupt;
mod judge;
mod learn;
mod listing;
mod loss_weights;
mod machine;
mod models;
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
mod steps;
mod story_text;
mod sweep;
mod tasks;
mod test_layers;
mod threads;
mod train;
mod user_structure;
mod variants;
mod verify;

pub use user_structure::OwnStructure;

commands! {
    Demo(demo),
    Tasks(tasks),
    Models(models),
    Generate(generate),
    Train(train),
    Eval(eval),
    Verify(verify),
    Certify(certify),
    Check(check),
    Compile(compile),
    Judge(judge),
    Learn(learn),
    Rollout(rollout),
    Reproduce(reproduce),
    Sweep(sweep),
    Cluster(cluster),
    Analyse(analyse),
    Figures(figures),
    Report(report),
    Serve(serve),
    Benchmark(benchmark),
    Bench(bench),
    Completions(completions),
}

/// Where help lists what few need: after a command's own flags.
const LAST: usize = 900;

/// Learned data structures: train a small graph network to imitate a pointer-based data structure,
/// measure it, prove it, and look at it.
#[derive(clap::Parser)]
#[command(
    name = "pgn",
    version,
    propagate_version = true,
    after_help = "Start with `pgn demo` (a few seconds). `pgn COMMAND --help` has examples."
)]
struct Program {
    #[command(flatten)]
    own: Own,
    #[command(subcommand)]
    command: Command,
}

/// What the commands that take a structure of the user's have in common.
#[derive(clap::Args)]
struct Own {
    /// A data structure or a machine's program of your own, a Python class; only in the `pgn` of
    /// the Python package
    #[arg(long, value_name = "MODULE:CLASS", hide_short_help = true, display_order = LAST)]
    structure: Option<String>,
}

/// The commands that work on the built-in structures only.
const BUILT_IN_ONLY: [&str; 8] =
    ["demo", "judge", "reproduce", "cluster", "figures", "benchmark", "bench", "completions"];

/// Runs the program with the arguments of this process, and with these data structures beside the
/// built-in ones: every command takes them by name.
///
/// ```no_run
/// // In main.rs; `Latest` is a `PointerStructure` of yours.
/// # use pgn_structures::{Dsu as Latest, Task};
/// fn main() -> std::process::ExitCode {
///     pgn_cli::main_with([Task::new(Latest::default)])
/// }
/// ```
pub fn main_with(tasks: impl IntoIterator<Item = Task>) -> ExitCode {
    let registered: Result<(), _> = tasks.into_iter().try_for_each(Task::register);
    match registered {
        Ok(()) => run(std::env::args_os()).into(),
        Err(error) => output::exit_code(Err(error.into())).into(),
    }
}

/// Runs the program with these arguments, its name first, and returns its exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    run_with(args, &|name| {
        anyhow::bail!(
            "--structure {name} is a Python class, which the `pgn` of the Python package takes \
             (bindings/python); for a structure in Rust see docs/adding-a-structure.md"
        )
    })
}

/// [`run`] for surroundings that know structures of the user's own: `find` is given the value of
/// `--structure`, and registers what it names.
pub fn run_with(
    args: impl IntoIterator<Item = OsString>,
    find: &dyn Fn(&str) -> anyhow::Result<OwnStructure>,
) -> u8 {
    let parsed = command().try_get_matches_from(args).and_then(|found| {
        let program = <Program as clap::FromArgMatches>::from_arg_matches(&found)?;
        let (_, inner) = found.subcommand().expect("a command is required");
        let own = inner.try_get_one::<String>("structure").ok().flatten().cloned();
        Ok((own.or(program.own.structure.clone()), program))
    });
    match parsed {
        Ok((own, program)) => {
            let found = own.as_deref().map(find).transpose();
            let done = found.and_then(|own| {
                pgn_engine::SimdLevel::chosen()?;
                own.map_or(Ok(()), user_structure::set)?;
                program.command.run()
            });
            output::exit_code(done)
        }
        Err(error) => {
            // Help and version go to standard output, mistakes to standard error; there is nobody
            // left to tell if that fails.
            let _ = error.print();
            u8::try_from(error.exit_code()).unwrap_or(2)
        }
    }
}

/// The command line as data: what completions and the page of commands are made from.
pub fn command() -> clap::Command {
    pgn_machines::programs::build_in_tasks(); // help texts list the tasks
    let mut program = <Program as clap::CommandFactory>::command();
    let names: Vec<String> = program.get_subcommands().map(|one| one.get_name().into()).collect();
    for name in names.iter().filter(|name| !BUILT_IN_ONLY.contains(&name.as_str())) {
        program = program.mut_subcommand(name, <Own as clap::Args>::augment_args);
    }
    program.mut_arg("structure", |own| own.hide(true)).mut_subcommand("reproduce", reproduce::brief)
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
