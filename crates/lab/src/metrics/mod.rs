//! `metrics.jsonl`: a line per evaluated epoch, the truth behind every curve; and its copy for
//! TensorBoard.

mod events;

use std::{
    borrow::Cow,
    fs::{File, OpenOptions},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
};

use pgn_runs::files;

use crate::{Error, Result, Scores, learner::ViewsRight};

pub(crate) use events::is_whole;
pub use events::{EventFile, read_events};

/// One line of `metrics.jsonl`. It holds no clock time, so that the file is the same bytes
/// whenever and wherever the run is repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Counted from 1.
    pub epoch: u64,
    /// Adam's learning rate in this epoch.
    pub learning_rate: f32,
    /// Mean losses over the epoch's training data, before each step's update.
    pub losses: EpochLosses,
    /// Of a model: scores on the validation set after the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Scores>,
    /// Of a machine: its training views after the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub views: Option<ViewsRight>,
}

impl Metrics {
    /// The share of training views on which a machine is right.
    pub fn views_right(&self) -> Option<f64> {
        self.views.map(|views| views.right as f64 / views.of.max(1) as f64)
    }
}

/// Mean losses of an epoch by name, the last of which is the `total` that is minimised.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EpochLosses(Vec<(Cow<'static, str>, f64)>);

/// The name of the sum that is minimised.
const TOTAL: &str = "total";

impl EpochLosses {
    /// The losses of a network, and their weighted sum.
    pub fn new(parts: impl IntoIterator<Item = (&'static str, f64)>, total: f64) -> EpochLosses {
        let all = parts.into_iter().chain([(TOTAL, total)]);
        EpochLosses(all.map(|(name, value)| (Cow::Borrowed(name), value)).collect())
    }

    /// The sum that is minimised.
    pub fn total(&self) -> f64 {
        self.get(TOTAL).unwrap_or(f64::NAN)
    }

    /// A loss by its name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Every loss with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (&**name, *value))
    }
}

impl Serialize for EpochLosses {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for EpochLosses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = EpochLosses;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("losses by name")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<EpochLosses, A::Error> {
                let mut losses = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, f64>()? {
                    losses.push((Cow::Owned(name), value));
                }
                match losses.iter().any(|(name, _)| name == TOTAL) {
                    true => Ok(EpochLosses(losses)),
                    false => Err(serde::de::Error::missing_field(TOTAL)),
                }
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// An open `metrics.jsonl`, appended to.
#[derive(Debug)]
pub struct MetricsFile {
    path: PathBuf,
    file: BufWriter<File>,
    /// Lines so far, and the CRC-32C of all of them.
    lines: u64,
    crc32c: u32,
}

impl MetricsFile {
    /// Renamed to `path`, which messages name from now on.
    pub(crate) fn known_as(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    /// Opens the file of a run that is at `epoch`, and drops every line after it: those of
    /// epochs that were computed but not yet in a checkpoint when the run was cut short.
    ///
    /// Damaged lines are dropped too, and all others kept. Returns what is missing because of
    /// them, for the user; `every` is the number of epochs from one line to the next.
    pub fn open(path: &Path, epoch: u64, every: u64) -> Result<(MetricsFile, Option<String>)> {
        let (bytes, there) = match files::read(path) {
            Ok(bytes) => (bytes, true),
            Err(error) if error.is_not_found() => (Vec::new(), false),
            Err(error) => return Err(error.into()),
        };
        let mut kept = Vec::new();
        let (mut damaged, mut lines, mut last) = (Vec::new(), 0u64, 0);
        let count = bytes.split_inclusive(|&byte| byte == b'\n').count();
        for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
            let whole = line.ends_with(b"\n");
            match serde_json::from_slice::<Metrics>(line) {
                Ok(metrics) if whole && metrics.epoch > last && metrics.epoch <= epoch => {
                    kept.extend_from_slice(line);
                    (lines, last) = (lines + 1, metrics.epoch);
                }
                // Computed after the checkpoint, or half a line that a kill left at the end.
                Ok(metrics) if metrics.epoch > epoch => {}
                _ if !whole && index + 1 == count => {}
                _ => damaged.push((index + 1).to_string()),
            }
        }
        let missing = (epoch / every.max(1)).saturating_sub(lines);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let gap = || format!("{missing} of the epochs up to {epoch} have no line in it");
        let note = if missing == 0 {
            None
        } else if !there {
            Some(format!("{name} is gone: {}", gap()))
        } else if damaged.is_empty() {
            Some(format!("{name} is incomplete: {}", gap()))
        } else {
            let plural = if damaged.len() == 1 { "" } else { "s" };
            damaged.truncate(10);
            Some(format!("{name} is damaged in line{plural} {}: {}", damaged.join(", "), gap()))
        };
        // Appended to from now on; a damaged file is never half replaced.
        if kept != bytes {
            files::write(path, &kept)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = BufWriter::new(file.map_err(Error::io("write", path))?);
        let crc32c = crc32c::crc32c(&kept);
        Ok((MetricsFile { path: path.to_owned(), file, lines, crc32c }, note))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How many lines there are.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The CRC-32C of all lines, which a checkpoint keeps.
    pub fn crc32c(&self) -> u32 {
        self.crc32c
    }

    /// Appends a line.
    pub fn add(&mut self, metrics: &Metrics) -> Result<()> {
        let failed = Error::io("write", &self.path);
        let line = serde_json::to_vec(metrics).map_err(std::io::Error::from);
        let written = line.and_then(|mut line| {
            line.push(b'\n');
            (self.lines, self.crc32c) = (self.lines + 1, crc32c::crc32c_append(self.crc32c, &line));
            self.file.write_all(&line)
        });
        written.map_err(failed)
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
    let bytes = files::read(path)?;
    let line = |(index, line)| {
        serde_json::from_slice(line)
            .map_err(|error| Error::file(path, format!("line {} is damaged ({error})", index + 1)))
    };
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').enumerate();
    lines.map(line).collect()
}
