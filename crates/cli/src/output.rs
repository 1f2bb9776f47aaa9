//! What every subcommand prints with, so that all of them behave alike.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use serde::Serialize;

/// Prints text to standard output.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// Prints bytes to standard output.
pub fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    written.context("cannot write to standard output")
}

/// Tells how things go, a line on standard error. That nobody can hear it must not end the work.
pub fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// A remark for a person, on standard error if that is a terminal: scripts see nothing of it.
pub fn remark(line: &str) {
    if io::stderr().is_terminal() {
        tell(line);
    }
}

/// Names the command that a person may want next.
pub fn next(command: &str) {
    remark(&format!("Next: {command}"));
}

/// Refuses to overwrite a file, unless told to; before the work that it is for.
pub fn check_new(path: &Path, force: bool) -> anyhow::Result<()> {
    if !force && path.symlink_metadata().is_ok_and(|there| there.is_file()) {
        anyhow::bail!("{} already exists; use --force to overwrite it", path.display());
    }
    pgn_structures::files::check_replaceable(path)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a file whole or not at all, with the folders above it if need be.
pub fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    Ok(pgn_structures::files::atomic_write(path, bytes)?)
}

/// Whether standard output is a terminal whose user has nothing against colours.
pub fn colours() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Prints a value as one JSON document, for programs.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
}

/// Exit code of a command that was told to stop, by Ctrl-C or a signal: start it again to go on.
pub const STOPPED: u8 = 130;
/// Exit code of a command whose turn has not come: try again later (`EX_TEMPFAIL`).
pub const NOT_READY: u8 = 75;

/// Ctrl-C was pressed, or a signal asked for the end; the sentence says how to go on.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Interrupted(pub String);

/// What was asked for has to wait for something else; the sentence says for what.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotReady(pub String);

/// Flags that do not go together, or not enough of them: exit code 2, as for clap's own errors.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// A task or a model that does not exist, named by a flag, is wrong usage.
pub fn misspelt(error: impl Into<anyhow::Error>) -> anyhow::Error {
    use pgn_engine::Error::UnknownModel;
    use pgn_structures::Error::UnknownTask;
    let error = error.into();
    let wrong = matches!(
        error.downcast_ref(),
        Some(
            pgn_lab::Error::Engine(UnknownModel { .. })
                | pgn_lab::Error::Structures(UnknownTask { .. })
        )
    ) || matches!(error.downcast_ref(), Some(UnknownTask { .. }))
        || matches!(error.downcast_ref(), Some(UnknownModel { .. }));
    if wrong { Usage(error.to_string()).into() } else { error }
}

/// Text without line breaks or other control characters, which a file's name or contents may have
/// brought into it.
fn one_line(text: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.into() };
    text.trim_end().chars().map(escaped).collect()
}

/// An error as it is printed: one line. Only what draws a view takes several, each of them without
/// control characters, and indented, so that none can pass for a message.
fn lines(error: &anyhow::Error) -> String {
    use pgn_machines::Error::{Action, Undefined};
    let machines = matches!(
        error.downcast_ref(),
        Some(pgn_lab::Error::Machines(Undefined { .. } | Action { .. }))
    );
    let text = format!("{error:#}");
    match machines || error.is::<pgn_check::Refutation>() {
        true => text.lines().map(one_line).collect::<Vec<_>>().join("\n  "),
        false => one_line(&text),
    }
}

/// Exit code of wrong usage.
const USAGE: u8 = 2;

/// 0 on success; [`STOPPED`], [`NOT_READY`] and 2 for [`Usage`] where that is the case; else 1, after one line that
/// says what went wrong.
pub fn exit_code(result: anyhow::Result<()>) -> u8 {
    let Err(error) = result else { return 0 };
    // The reader closed the pipe, as in `pgn … | head`: not an error.
    let closed = |cause: &io::Error| cause.kind() == ErrorKind::BrokenPipe;
    if error.downcast_ref::<io::Error>().is_some_and(closed) {
        return 0;
    }
    if error.is::<Interrupted>() {
        let _ = writeln!(io::stderr(), "{error}");
        return STOPPED;
    }
    if error.is::<NotReady>() {
        let _ = writeln!(io::stderr(), "{error}");
        return NOT_READY;
    }
    // There is nobody left to tell if this fails too.
    let _ = writeln!(io::stderr(), "error: {}", lines(&error));
    if error.is::<Usage>() { USAGE } else { 1 }
}
