//! A queue on the screen: every entry with its state.

use pgn_lab::Queue;
use pgn_runs::{Entry, EntryState};
use serde::Serialize;

/// What `--state` takes: a state, or one of two kinds of work to do.
pub const STATES: [&str; 7] =
    ["todo", "ready", "waiting", "running", "stopped", "finished", "other"];

/// An entry with all that is known about it.
#[derive(Serialize)]
pub struct Line<'a> {
    /// What it is.
    #[serde(flatten)]
    pub entry: &'a Entry,
    /// How far it is.
    #[serde(flatten)]
    state: EntryState,
    /// The index of the unfinished entry that it depends on.
    waits_for: Option<usize>,
}

/// The entries in a state, or all.
pub fn lines<'a>(queue: &'a Queue, wanted: Option<&str>) -> Vec<Line<'a>> {
    let line = |entry| Line {
        entry,
        state: queue.state(entry),
        waits_for: queue.waits_for(entry).map(|teacher| teacher.index),
    };
    let is_wanted = |line: &Line<'_>| match wanted {
        None => true,
        Some("todo") => line.state.is_todo(),
        // What it depends on is finished.
        Some("ready") => line.state.is_todo() && line.waits_for.is_none(),
        Some(state) => line.state.name() == state,
    };
    queue.entries().iter().map(line).filter(is_wanted).collect()
}

/// The entries as a table.
pub fn render(lines: &[Line<'_>]) -> String {
    let mut text = format!(
        "{:>5}  {:<5}  {:<11}  {:>4}  {:>7}  {:<22}  directory\n",
        "index", "task", "model", "seed", "depends", "state"
    );
    for Line { entry, state, .. } in lines {
        let depends = entry.depends_on.map_or("-".to_owned(), |index| index.to_string());
        text += &format!(
            "{:>5}  {:<5}  {:<11}  {:>4}  {depends:>7}  {state:<22}  {}\n",
            entry.index,
            entry.task,
            entry.model,
            entry.seed,
            entry.directory.display()
        );
    }
    text
}
