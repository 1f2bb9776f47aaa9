//! How far a run is: a bar on a terminal, now and then a line elsewhere.

use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use pgn_lab::Progress;

use crate::output;

/// Shows the progress of one run.
pub struct Display {
    title: String,
    bar: Option<ProgressBar>,
    quiet: bool,
    /// Epochs and time at the beginning of this session.
    start: Option<(u64, Instant)>,
    logged: Instant,
    /// The epoch from which the next line is due even if a minute is not over.
    due: u64,
}

impl Display {
    /// A display for a run of `epochs` epochs; a quiet one shows warnings only.
    pub fn new(title: String, epochs: u64, quiet: bool) -> Display {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(epochs);
            let style = ProgressStyle::with_template(
                // Two lines: all of it does not fit beside the bar in 80 columns.
                "{prefix} {wide_bar} {pos}/{len}\n  {msg}  {eta} left",
            );
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_prefix(title.clone());
            bar
        });
        Display { title, bar, quiet, start: None, logged: Instant::now(), due: 0 }
    }

    /// Shows where the run stands.
    pub fn show(&mut self, progress: &Progress) {
        for note in &progress.notes {
            let line = format!("{}: warning: {note}", self.title);
            match &self.bar {
                Some(bar) => bar.suspend(|| output::tell(&line)),
                None => output::tell(&line),
            }
        }
        if self.quiet {
            return;
        }
        let (first, since) = *self.start.get_or_insert_with(|| {
            if let Some(bar) = &self.bar {
                bar.set_position(progress.epoch);
                bar.reset_eta();
            }
            (progress.epoch, Instant::now())
        });
        let rate = (progress.epoch - first) as f64 / since.elapsed().as_secs_f64().max(1e-9);
        if let Some(bar) = &self.bar {
            bar.set_position(progress.epoch);
            bar.set_message(format!("{}  {rate:.1} epochs/s", message(progress)));
            return;
        }
        let step = progress.epochs.div_ceil(20).max(1);
        let minute = self.logged.elapsed() >= Duration::from_secs(60);
        if progress.epoch == first {
            self.due = (progress.epoch / step + 1) * step;
            if first > 0 {
                output::tell(&format!("{}: resuming from epoch {first}", self.title));
            }
        } else if minute || progress.epoch >= self.due {
            output::tell(&format!(
                "{}: epoch {}/{}  {}  {rate:.1} epochs/s",
                self.title,
                progress.epoch,
                progress.epochs,
                message(progress)
            ));
            self.logged = Instant::now();
            self.due = (progress.epoch / step + 1) * step;
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn message(progress: &Progress) -> String {
    let mut message = Vec::new();
    if let Some(losses) = &progress.losses {
        message.push(format!("loss {:.3}", losses.total()));
    }
    if let Some(evaluation) = &progress.evaluation {
        message.push(evaluation.to_string());
    }
    if let Some((best, epoch)) = progress.best {
        message.push(format!("best {best:.3} at {epoch}"));
    }
    message.join("  ")
}
