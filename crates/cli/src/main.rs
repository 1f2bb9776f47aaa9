//! The `pgn` program; all of it is in the library.

fn main() -> std::process::ExitCode {
    pgn_cli::main_with([])
}
