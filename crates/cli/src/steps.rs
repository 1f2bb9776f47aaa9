//! How far a command is that does a known number of things: a bar on a terminal, elsewhere a line
//! every ten seconds.

use std::{
    io::IsTerminal,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

/// Shows how many things are done. Can be told from several threads.
pub struct Steps {
    title: &'static str,
    total: u64,
    done: AtomicU64,
    bar: Option<ProgressBar>,
    logged: Mutex<Instant>,
}

/// From one line to the next, where there is no bar.
const EVERY: Duration = Duration::from_secs(10);

impl Steps {
    /// Nothing is done yet of `total`.
    pub fn new(title: &'static str, total: usize) -> Steps {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(total as u64);
            let style = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len}  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_prefix(title);
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        let logged = Mutex::new(Instant::now());
        Steps { title, total: total as u64, done: AtomicU64::new(0), bar, logged }
    }

    /// What is being done now.
    pub fn begin(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(what.to_owned());
        }
    }

    /// One more is done.
    pub fn done(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            return;
        }
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.elapsed() >= EVERY && done < self.total {
            output::tell(&format!("{}: {done} of {}", self.title, self.total));
            *logged = Instant::now();
        }
    }

    /// [`Steps::begin`], the work, [`Steps::done`].
    pub fn step<T>(&self, what: &str, work: impl FnOnce() -> T) -> T {
        self.begin(what);
        let outcome = work();
        self.done();
        outcome
    }
}

impl Drop for Steps {
    /// Takes the bar away, however it ended.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
