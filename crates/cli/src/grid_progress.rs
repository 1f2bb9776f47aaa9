//! How far a grid is: one bar over all its runs, or now and then a line.

use std::{
    io::IsTerminal,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use pgn_lab::{Experiments, Queue};
use pgn_runs::{Entry, EntryState, Event as QueueEvent};

use crate::output;

/// Shows the progress of a grid.
pub struct GridDisplay {
    bar: Option<ProgressBar>,
    quiet: bool,
    total: u64,
    state: Mutex<Counts>,
}

struct Counts {
    /// Epochs to do, by entry.
    epochs: Vec<u64>,
    /// Epochs done, by entry, now and at the beginning of this session.
    done: Vec<u64>,
    before: u64,
    finished: usize,
    wanted: usize,
    started: Instant,
    logged: Instant,
    /// Of the entries that another process is at, those already told of.
    elsewhere: Vec<usize>,
}

impl GridDisplay {
    /// A display for the entries in `only`, or all; a quiet one shows warnings and failures only.
    pub fn new(grid: &Queue, only: Option<&[usize]>, quiet: bool) -> Result<GridDisplay> {
        let epochs: Vec<u64> =
            grid.entries().iter().map(|entry| grid.epochs(entry)).collect::<Result<_, _>>()?;
        let wanted = only.map_or(grid.entries().len(), <[usize]>::len);
        let is_wanted = |index: &usize| only.is_none_or(|only| only.contains(index));
        let total = (0..epochs.len()).filter(is_wanted).map(|index| epochs[index]).sum();
        let mut done = vec![0; grid.entries().len()];
        for entry in grid.entries() {
            if is_wanted(&entry.index)
                && let EntryState::Stopped { epoch } = grid.state(entry)
            {
                done[entry.index] = epoch;
            }
        }
        let before = done.iter().sum();
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(total);
            let style = ProgressStyle::with_template("{wide_bar} {percent}%  {msg}  {eta} left");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_position(before);
            bar.reset_eta();
            bar
        });
        let now = Instant::now();
        let state = Counts {
            epochs,
            done,
            before,
            finished: 0,
            wanted,
            started: now,
            logged: now,
            elsewhere: Vec::new(),
        };
        Ok(GridDisplay { bar, quiet, total, state: Mutex::new(state) })
    }

    /// Notes what happened to an entry.
    pub fn show(&self, entry: &Entry, event: QueueEvent<'_, Experiments>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let name = entry.name();
        let mut line = None;
        match event {
            QueueEvent::Progress(progress) => {
                state.done[entry.index] = progress.epoch;
                if !progress.notes.is_empty() {
                    line = Some(format!("{name}: warning: {}", progress.notes.join("; ")));
                }
            }
            QueueEvent::Skipped => {
                // Finished before, or by someone else: no work of this session.
                state.before += state.epochs[entry.index] - state.done[entry.index];
                state.done[entry.index] = state.epochs[entry.index];
                state.finished += 1;
                if let Some(bar) = &self.bar {
                    bar.set_position(state.done.iter().sum());
                    bar.reset_eta();
                }
            }
            QueueEvent::Elsewhere if !state.elsewhere.contains(&entry.index) => {
                state.elsewhere.push(entry.index);
                line = Some(format!("{name}: being trained by another process; skipped"));
            }
            QueueEvent::Elsewhere => {}
            QueueEvent::Finished(results) => {
                state.done[entry.index] = state.epochs[entry.index];
                state.finished += 1;
                if self.quiet {
                    return;
                }
                let scores: Vec<String> =
                    results.test.iter().map(|test| format!("{:.3}", test.scores.f1)).collect();
                let sizes: Vec<String> =
                    results.test.iter().map(|test| test.nodes.to_string()).collect();
                line = Some(format!(
                    "{name}: F1 {} (n = {}), {:.0} s",
                    scores.join(" "),
                    sizes.join(" "),
                    results.timing.train_seconds
                ));
            }
            QueueEvent::Failed(error) => line = Some(format!("{name}: failed: {error}")),
        }
        let done: u64 = state.done.iter().sum();
        match &self.bar {
            Some(bar) => {
                bar.set_position(done.min(self.total));
                bar.set_message(format!("{} of {} runs", state.finished, state.wanted));
                if let Some(line) = line {
                    bar.println(line);
                }
            }
            None => {
                if let Some(line) = line {
                    output::tell(&line);
                }
                if !self.quiet && state.logged.elapsed() >= Duration::from_secs(60) {
                    state.logged = Instant::now();
                    let rate = done.saturating_sub(state.before) as f64
                        / state.started.elapsed().as_secs_f64();
                    let left = self.total.saturating_sub(done) as f64 / rate.max(1e-9);
                    output::tell(&format!(
                        "{:.1} %, {} of {} runs finished, {rate:.1} epochs/s, about {} min left",
                        100.0 * done as f64 / self.total.max(1) as f64,
                        state.finished,
                        state.wanted,
                        (left / 60.0).ceil()
                    ));
                }
            }
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
