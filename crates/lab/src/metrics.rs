//! `metrics.jsonl`: a line per evaluated epoch, the truth behind every curve.

use std::{
    fs::{File, OpenOptions},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{Error, Result, Scores, files};

/// One line of `metrics.jsonl`. It holds no clock time, so that the file is the same bytes
/// whenever and wherever the run is repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Counted from 1.
    pub epoch: u64,
    /// Adam's learning rate in this epoch.
    pub learning_rate: f32,
    /// Mean losses over the epoch's training sequences, before each step's update.
    pub losses: EpochLosses,
    /// Scores on the validation set after the epoch.
    pub validation: Scores,
}

/// Mean losses of an epoch.
pub use pgn_engine::MeanLosses as EpochLosses;

/// An open `metrics.jsonl`, appended to.
#[derive(Debug)]
pub struct MetricsFile {
    path: PathBuf,
    file: BufWriter<File>,
}

impl MetricsFile {
    /// The same file after it was renamed to `path`, for messages.
    pub(crate) fn known_as(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    /// Opens the file of a run that is at `epoch`, and drops every line after it: those of
    /// epochs that were computed but not yet in a checkpoint when the run was cut short.
    pub fn open(path: &Path, epoch: u64) -> Result<MetricsFile> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        let keep: usize = text
            .split_inclusive('\n')
            .take_while(|line| {
                line.ends_with('\n')
                    && serde_json::from_str::<Metrics>(line).is_ok_and(|m| m.epoch <= epoch)
            })
            .map(str::len)
            .sum();
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|file| file.set_len(keep as u64).map(|()| file))
            .map_err(Error::io("write", path))?;
        Ok(MetricsFile { path: path.to_owned(), file: BufWriter::new(file) })
    }

    /// Appends a line.
    pub fn add(&mut self, metrics: &Metrics) -> Result<()> {
        serde_json::to_writer(&mut self.file, metrics)
            .map_err(std::io::Error::from)
            .and_then(|()| self.file.write_all(b"\n"))
            .map_err(Error::io("write", &self.path))
    }

    /// Makes sure that all lines so far are on disk.
    pub fn sync(&mut self) -> Result<()> {
        self.file
            .flush()
            .and_then(|()| self.file.get_ref().sync_data())
            .map_err(Error::io("write", &self.path))
    }
}

/// Reads a `metrics.jsonl`.
pub fn read_metrics(path: &Path) -> Result<Vec<Metrics>> {
    let text = files::read_text(path)?;
    let line = |(index, line)| {
        serde_json::from_str(line)
            .map_err(|error| Error::file(path, format!("line {} is damaged ({error})", index + 1)))
    };
    text.lines().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(epoch: u64) -> Metrics {
        Metrics {
            epoch,
            learning_rate: 0.005,
            losses: EpochLosses { query: 0.1 * epoch as f64, ..EpochLosses::default() },
            validation: Scores { f1: 1.0 / 3.0, ..Scores::default() },
        }
    }

    #[test]
    fn reopening_drops_what_came_after_the_checkpoint_and_half_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("metrics.jsonl");
        let mut file = MetricsFile::open(&path, 0).unwrap();
        for epoch in 1..=5 {
            file.add(&line(epoch)).unwrap();
        }
        file.sync().unwrap();
        let whole = std::fs::read(&path).unwrap();
        // As a kill in the middle of a write would leave it.
        std::fs::write(&path, &whole[..whole.len() - 7]).unwrap();
        drop(MetricsFile::open(&path, 5).unwrap());
        assert_eq!(read_metrics(&path).unwrap(), (1..=4).map(line).collect::<Vec<_>>());

        let mut file = MetricsFile::open(&path, 3).unwrap();
        file.add(&line(4)).unwrap();
        file.add(&line(5)).unwrap();
        file.sync().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }
}
