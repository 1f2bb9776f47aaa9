//! TensorBoard event files: scalars by step, written without TensorFlow.
//!
//! A file is a row of TFRecords, each: length (u64, little-endian), masked CRC-32C of the
//! length, the bytes, masked CRC-32C of the bytes. The bytes are an `Event` of TensorFlow's
//! `event.proto`, of which this module knows the fields it needs:
//!
//! ```text
//! Event   { 1: double wall_time; 2: int64 step; 3: string file_version; 5: Summary summary }
//! Summary { repeated 1: Value value }    Value { 1: string tag; 2: float simple_value }
//! ```

use std::{
    fs::{File, OpenOptions},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{
    Error, Result,
    metrics::{Metrics, MetricsFile, read_metrics},
};

/// An open event file, appended to.
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    file: BufWriter<File>,
    /// Events that were there when it was opened.
    events: u64,
}

impl EventFile {
    /// Renamed to `path`, which messages name from now on.
    pub(crate) fn known_as(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    /// [`EventFile::open`] for a run whose `metrics.jsonl` is open too. Where events are missing,
    /// because the file is damaged or gone, it is written anew from the metrics; returns a note
    /// for the user then.
    pub fn resume(
        path: &Path,
        step: u64,
        metrics: &MetricsFile,
    ) -> Result<(EventFile, Option<String>)> {
        let file = EventFile::open(path, step)?;
        if file.events >= metrics.lines() {
            return Ok((file, None));
        }
        drop(file);
        EventFile::anew(path, metrics.path()).map(|(file, note)| (file, Some(note)))
    }

    /// Writes the file anew from a `metrics.jsonl`; returns a note for the user.
    pub(crate) fn anew(path: &Path, metrics: &Path) -> Result<(EventFile, String)> {
        let mut file = EventFile::open(path, 0)?;
        read_metrics(metrics)?.iter().try_for_each(|line| file.add(line))?;
        file.flush()?;
        let note = format!(
            "{} is damaged or gone: it was written anew from {}",
            pgn_runs::files::EVENTS,
            pgn_runs::files::METRICS
        );
        Ok((file, note))
    }

    /// Opens the event file of a run that is at `step`, and drops every event after it.
    pub fn open(path: &Path, step: u64) -> Result<EventFile> {
        let bytes = match pgn_runs::files::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let (mut keep, mut events) = (0, 0u64);
        for record in records(&bytes) {
            let Some(_) = parts(record).filter(|(at, _)| *at <= step) else { break };
            keep += record.len() + FRAME;
            events += 1;
        }
        // The first has the version and no scalars.
        let events = events.saturating_sub(1);
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|file| file.set_len(keep as u64).map(|()| file))
            .map_err(Error::io("write", path))?;
        let mut file = EventFile { path: path.to_owned(), file: BufWriter::new(file), events };
        if keep == 0 {
            let mut version = Vec::new();
            put_f64(&mut version, 1, now());
            put_bytes(&mut version, 3, b"brain.Event:2");
            file.record(&version)?;
        }
        Ok(file)
    }

    /// Adds the scalars of an epoch.
    pub fn add(&mut self, metrics: &Metrics) -> Result<()> {
        let mut scalars = vec![("learning_rate".to_owned(), metrics.learning_rate)];
        let losses = metrics.losses.iter();
        scalars.extend(losses.map(|(name, value)| (format!("loss/{name}"), value as f32)));
        let mut add = |tag: &str, value: Option<f64>| {
            scalars.extend(value.map(|value| (tag.to_owned(), value as f32)));
        };
        if let Some(validation) = &metrics.validation {
            add("validation/f1", Some(validation.f1));
            add("validation/precision", Some(validation.precision));
            add("validation/recall", Some(validation.recall));
            add("validation/accuracy", Some(validation.accuracy));
            add("validation/pointer_accuracy", validation.pointer_accuracy);
            add("validation/mask_accuracy", validation.mask_accuracy);
        }
        add("views/right", metrics.views_right());
        add("views/margin", metrics.views.map(|views| views.margin.into()));
        self.record(&encode(now(), metrics.epoch, &scalars))
    }

    /// Makes sure that all events so far are on disk.
    pub fn flush(&mut self) -> Result<()> {
        let flushed = self.file.flush().and_then(|()| self.file.get_ref().sync_data());
        flushed.map_err(Error::io("write", &self.path))
    }

    fn record(&mut self, data: &[u8]) -> Result<()> {
        let length = (data.len() as u64).to_le_bytes();
        [&length[..], &masked_crc(&length), data, &masked_crc(data)]
            .into_iter()
            .try_for_each(|part| self.file.write_all(part))
            .map_err(Error::io("write", &self.path))
    }
}

/// The events of a file up to its end, or to where it was cut off or damaged: each with its step and
/// the encoded summary, which tells nothing of the clock.
pub fn read_events(path: &Path) -> Result<Vec<(u64, Vec<u8>)>> {
    let bytes = pgn_runs::files::read(path)?;
    Ok(records(&bytes).filter_map(parts).map(|(step, rest)| (step, rest.to_vec())).collect())
}

/// The step of an event that [`encode`] made, and what follows it; the version has step 0.
fn parts(record: &[u8]) -> Option<(u64, &[u8])> {
    let rest = record.get(1 + size_of::<f64>()..)?;
    let Some(varint) = rest.strip_prefix(&[2 << 3]) else { return Some((0, rest)) };
    let last = varint.iter().take(10).position(|byte| byte & 0x80 == 0)?;
    let step =
        varint[..=last].iter().rev().fold(0, |step, byte| step << 7 | u64::from(byte & 0x7f));
    Some((step, &varint[last + 1..]))
}

/// Whether an event file is whole records from its beginning to its end.
pub(crate) fn is_whole(path: &Path) -> Result<bool> {
    let bytes = pgn_runs::files::read(path)?;
    Ok(records(&bytes).map(|record| record.len() + FRAME).sum::<usize>() == bytes.len())
}

/// Bytes around each record: length, its checksum, the data's checksum.
const FRAME: usize = 8 + 4 + 4;

/// The whole records at the beginning of `bytes`.
fn records(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk::<8>()?;
        let (length_crc, rest) = rest.split_first_chunk::<4>()?;
        let size = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (data, rest) = rest.split_at_checked(size)?;
        let (data_crc, rest) = rest.split_first_chunk::<4>()?;
        let intact = *length_crc == masked_crc(length) && *data_crc == masked_crc(data);
        bytes = rest;
        intact.then_some(data)
    })
}

/// TFRecord's checksum: CRC-32C, rotated and shifted so that data holding checksums stays hard
/// to confuse with them.
fn masked_crc(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

fn encode(wall_time: f64, step: u64, scalars: &[(String, f32)]) -> Vec<u8> {
    let mut summary = Vec::new();
    for (tag, value) in scalars {
        let mut entry = Vec::new();
        put_bytes(&mut entry, 1, tag.as_bytes());
        put_varint(&mut entry, 2 << 3 | 5);
        entry.extend(value.to_le_bytes());
        put_bytes(&mut summary, 1, &entry);
    }
    let mut event = Vec::new();
    put_f64(&mut event, 1, wall_time);
    put_varint(&mut event, 2 << 3);
    put_varint(&mut event, step);
    put_bytes(&mut event, 5, &summary);
    event
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_varint(out, field << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend(bytes);
}

fn put_f64(out: &mut Vec<u8>, field: u64, value: f64) {
    put_varint(out, field << 3 | 1);
    out.extend(value.to_le_bytes());
}
