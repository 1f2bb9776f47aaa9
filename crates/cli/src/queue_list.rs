//! A queue on the screen: every entry with its state, or all of it in a few lines, again and again.

use std::{
    io::{self, IsTerminal, Write},
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use anyhow::Result;
use clap::ValueEnum;
use pgn_lab::{Checkpoint, Entry, Estimate, Queue, State, files};
use serde::Serialize;

use crate::{interrupt, output::Interrupted};

/// Which entries are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Wanted {
    /// Unfinished, and not running
    Todo,
    /// To do, and its dependency is finished
    Ready,
    /// Not started
    Waiting,
    /// A process is training it
    Running,
    /// Has a checkpoint, and is not running
    Stopped,
    /// Done
    Finished,
}

/// An entry with all that is known about it.
#[derive(Serialize)]
pub struct Line<'a> {
    /// What it is.
    #[serde(flatten)]
    pub entry: &'a Entry,
    /// How far it is.
    #[serde(flatten)]
    state: State,
    /// The index of the unfinished entry that it depends on.
    waits_for: Option<usize>,
    /// Seconds on one core that it takes from its beginning, about.
    estimated_seconds: Option<f64>,
}

/// The entries that are wanted.
pub fn lines(queue: &Queue, wanted: Option<Wanted>) -> Vec<Line<'_>> {
    let estimate = Estimate::new(queue);
    let line = |entry| Line {
        entry,
        state: entry.state(),
        waits_for: queue.waits_for(entry).map(|teacher| teacher.index),
        estimated_seconds: estimate
            .seconds(queue, entry)
            .map(|seconds| (10.0 * seconds).round() / 10.0),
    };
    let is_wanted = |line: &Line<'_>| match wanted {
        None => true,
        Some(Wanted::Todo) => line.state.is_todo(),
        Some(Wanted::Ready) => line.state.is_todo() && line.waits_for.is_none(),
        Some(Wanted::Waiting) => line.state == State::Waiting,
        Some(Wanted::Running) => line.state == State::Running,
        Some(Wanted::Stopped) => matches!(line.state, State::Stopped { .. }),
        Some(Wanted::Finished) => line.state == State::Finished,
    };
    queue.entries().iter().map(line).filter(is_wanted).collect()
}

/// The entries as a table.
pub fn render(lines: &[Line<'_>]) -> String {
    let mut text = format!(
        "{:>5}  {:<5}  {:<11}  {:>4}  {:>7}  {:<22}  {:>7}  directory\n",
        "index", "task", "model", "seed", "depends", "state", "about"
    );
    for Line { entry, state, estimated_seconds, .. } in lines {
        let depends = entry.depends_on.map_or("-".to_owned(), |index| index.to_string());
        let about = estimated_seconds.map_or("-".to_owned(), time);
        text += &format!(
            "{:>5}  {:<5}  {:<11}  {:>4}  {depends:>7}  {state:<22}  {about:>7}  {}\n",
            entry.index,
            entry.task,
            entry.model,
            entry.seed,
            entry.directory.display()
        );
    }
    text
}

/// Time in the largest unit that fits.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// Time from one look at the queue to the next.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// Shows how far a queue is until all of it is finished: anew in place on a terminal, elsewhere a
/// line whenever something has changed.
pub fn watch(queue: &Queue) -> Result<()> {
    let stop = interrupt::flag()?;
    let terminal = io::stdout().is_terminal();
    let (mut height, mut last) = (0, String::new());
    loop {
        let states: Vec<State> = queue.entries().iter().map(Entry::state).collect();
        let count =
            |wanted: fn(&State) -> bool| states.iter().filter(|state| wanted(state)).count();
        let finished = count(|state| *state == State::Finished);
        let mut text = format!(
            "{finished} of {} finished, {} running, {} stopped, {} waiting\n",
            states.len(),
            count(|state| *state == State::Running),
            count(|state| matches!(state, State::Stopped { .. })),
            count(|state| *state == State::Waiting),
        );
        let mut stdout = io::stdout().lock();
        if terminal {
            let estimate = Estimate::new(queue);
            let left = queue.entries().iter().zip(&states);
            let left = left.filter(|(_, state)| **state != State::Finished);
            let seconds: f64 = left.filter_map(|(entry, _)| estimate.seconds(queue, entry)).sum();
            text += &format!("about {} of one core left\n", time(seconds));
            let running = queue.entries().iter().zip(&states);
            for (entry, _) in running.filter(|(_, state)| **state == State::Running).take(20) {
                let epoch = Checkpoint::epoch_of(&entry.directory.join(files::CHECKPOINT));
                let epochs = queue.epochs(entry)?;
                text += &format!("  {}: epoch {} of {epochs}\n", entry.name(), epoch.unwrap_or(0));
            }
            // Back to the first line of what was shown last, and clear from there.
            let back = if height > 0 { format!("\x1b[{height}A\x1b[J") } else { String::new() };
            write!(stdout, "{back}{text}")?;
            height = text.lines().count();
        } else if text != last {
            write!(stdout, "{text}")?;
            last = text;
        }
        stdout.flush()?;
        drop(stdout);
        if finished == states.len() {
            return Ok(());
        }
        let until = Instant::now() + LOOK_AGAIN;
        while Instant::now() < until {
            if stop.load(Ordering::Relaxed) {
                let message = "stopped watching; the runs are not affected".to_owned();
                return Err(Interrupted(message).into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
