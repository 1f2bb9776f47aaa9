//! What is told of a run's `metrics.jsonl`.

use pgn_lab::metrics::Metrics;
use serde::Serialize;

/// The lines after some place in the file.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Lines {
    /// Whether the file is no longer the one that was read before, so that what was read must be
    /// forgotten: a run that goes on from a checkpoint drops the lines after it.
    pub afresh: bool,
    /// Where to go on reading.
    pub offset: u64,
    /// Whether there is more already.
    pub more: bool,
    /// A value per line.
    pub lines: Vec<Metrics>,
}
