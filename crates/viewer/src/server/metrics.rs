//! `metrics.jsonl` of a run, read bit by bit while it grows.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use pgn_lab::metrics::Metrics;

use crate::{limits, metrics::Lines};

/// Reads the whole lines from `offset` on; a line that is still being written is left for
/// later. No file is an empty one.
pub fn read(path: &Path, offset: u64, limit: u64) -> io::Result<Lines> {
    // Before it is opened: opening a pipe waits for its writer.
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file")),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Lines { afresh: offset > 0, ..Lines::default() });
        }
        Err(error) => return Err(error),
    }
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let goes_on = offset == 0 || offset <= length && byte(&mut file, offset - 1)? == b'\n';
    let start = if goes_on { offset } else { 0 };
    file.seek(SeekFrom::Start(start))?;
    let mut reader = BufReader::new(file).take(limit);
    let mut lines = Lines { afresh: !goes_on, offset: start, ..Lines::default() };
    let mut line = Vec::new();
    loop {
        line.clear();
        let size = reader.read_until(b'\n', &mut line)? as u64;
        if !line.ends_with(b"\n") {
            lines.more = reader.limit() == 0 && lines.offset > start;
            return Ok(lines);
        }
        lines.offset += size;
        // A damaged line makes a gap in a curve, no more.
        lines.lines.extend(serde_json::from_slice::<Metrics>(&line).ok());
    }
}

fn byte(file: &mut File, at: u64) -> io::Result<u8> {
    let mut byte = [0];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut byte)?;
    Ok(byte[0])
}

/// How far a run that is not finished has come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// The last evaluated epoch.
    pub epoch: Option<u64>,
    /// The best epoch so far and its F₁ on the validation set: that of the model in the folder.
    pub best: Option<(u64, f64)>,
}

/// Progress of runs by the path of their `metrics.jsonl`, so that a file that grows is read only
/// once.
#[derive(Debug, Default)]
pub struct Followed {
    runs: Mutex<HashMap<PathBuf, (u64, Progress)>>,
}

impl Followed {
    /// Reads what was added to the file since the last time.
    pub fn progress(&self, path: &Path) -> Progress {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let (offset, progress) = runs.entry(path.to_owned()).or_default();
        while let Ok(lines) = read(path, *offset, limits::METRICS) {
            if lines.afresh {
                *progress = Progress::default();
            }
            for line in &lines.lines {
                progress.epoch = Some(line.epoch);
                let Some(f1) = line.validation.as_ref().map(|scores| scores.f1) else { continue };
                if progress.best.is_none_or(|(_, best)| f1 > best) {
                    progress.best = Some((line.epoch, f1));
                }
            }
            *offset = lines.offset;
            if !lines.more {
                break;
            }
        }
        *progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgn_lab::{Scores, metrics::EpochLosses};

    fn line(epoch: u64) -> String {
        let metrics = Metrics {
            epoch,
            learning_rate: 0.005,
            losses: EpochLosses::new([], 1.0),
            validation: Some(Scores::default()),
            views: None,
        };
        serde_json::to_string(&metrics).unwrap() + "\n"
    }

    fn epochs(lines: &Lines) -> Vec<u64> {
        lines.lines.iter().map(|line| line.epoch).collect()
    }

    #[test]
    fn reads_on_where_it_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("metrics.jsonl");
        assert_eq!(read(&path, 0, 1000).unwrap(), Lines::default());
        let followed = Followed::default();
        assert_eq!(followed.progress(&path), Progress::default());

        let half = &line(3)[..20];
        std::fs::write(&path, line(1) + &line(2) + half).unwrap();
        let first = read(&path, 0, 10_000).unwrap();
        assert_eq!((epochs(&first), first.afresh, first.more), (vec![1, 2], false, false));
        assert_eq!(followed.progress(&path).epoch, Some(2));

        std::fs::write(&path, line(1) + &line(2) + &line(3)).unwrap();
        let second = read(&path, first.offset, 10_000).unwrap();
        assert_eq!((epochs(&second), second.afresh), (vec![3], false));
        assert!(epochs(&read(&path, second.offset, 10_000).unwrap()).is_empty());
    }

    #[test]
    fn the_best_epoch_is_found_while_the_file_grows_and_when_it_is_cut() {
        let scored = |epoch: u64, f1: f64| {
            let validation = Some(Scores { f1, ..Scores::default() });
            let losses = EpochLosses::new([], 1.0);
            let metrics = Metrics { epoch, learning_rate: 0.005, losses, validation, views: None };
            serde_json::to_string(&metrics).unwrap() + "\n"
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("metrics.jsonl");
        let followed = Followed::default();
        std::fs::write(&path, scored(1, 0.5) + &scored(2, 0.9)).unwrap();
        let both = Progress { epoch: Some(2), best: Some((2, 0.9)) };
        assert_eq!(followed.progress(&path), both);
        std::fs::write(&path, scored(1, 0.5) + &scored(2, 0.9) + &scored(3, 0.7)).unwrap();
        assert_eq!(followed.progress(&path), Progress { epoch: Some(3), ..both });
        std::fs::write(&path, scored(1, 0.5)).unwrap();
        assert_eq!(followed.progress(&path), Progress { epoch: Some(1), best: Some((1, 0.5)) });
    }

    #[test]
    fn starts_afresh_when_the_file_was_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("metrics.jsonl");
        std::fs::write(&path, line(1) + &line(2)).unwrap();
        for offset in [1, 17, 1 << 40, u64::MAX] {
            let lines = read(&path, offset, 10_000).unwrap();
            assert_eq!((epochs(&lines), lines.afresh), (vec![1, 2], true), "{offset}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(read(&path, 5, 100).unwrap().afresh);
    }

    #[test]
    fn long_files_come_in_pieces_and_damage_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("metrics.jsonl");
        let text: String = (1..=20).map(line).collect::<String>() + "{\"epoch\":\n" + &line(21);
        std::fs::write(&path, &text).unwrap();
        let (mut offset, mut all) = (0, Vec::new());
        loop {
            let lines = read(&path, offset, 1000).unwrap();
            all.extend(epochs(&lines));
            offset = lines.offset;
            if !lines.more {
                break;
            }
        }
        assert_eq!(all, (1..=21).collect::<Vec<_>>());
        assert_eq!(offset, text.len() as u64);
    }
}
