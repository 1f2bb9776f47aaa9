//! How long a run will take: from runs of the same queue that are finished, or from what one core
//! did when this was written.

use pgn_engine::Preset;

use pgn_runs::Entry;

use crate::{AnyConfig, Queue, Results, RunConfig};

/// Seconds that one core takes for a unit of work, measured on 100 runs of the paper's grid on an
/// AVX2 core (results/paper/runs.json): their lower quartile was 27 to 30 ms an epoch.
const SECONDS_PER_UNIT: f64 = 2e-7;

/// Estimates for the entries of a queue.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// Model and seconds per unit of each finished run.
    measured: Vec<(String, f64)>,
}

impl Estimate {
    /// Looks at the finished runs of a queue.
    pub fn new(queue: &Queue) -> Estimate {
        let rate = |entry: &Entry| {
            let timing = Results::load(&entry.directory).ok()?.timing;
            let seconds = timing.train_seconds * timing.threads.max(1) as f64;
            let rate = seconds / units(queue, entry)?;
            (rate.is_finite() && rate > 0.0).then(|| (entry.model.clone(), rate))
        };
        Estimate { measured: queue.finished().0.into_iter().filter_map(rate).collect() }
    }

    /// Seconds on one core for an entry from its beginning, by the median of the finished runs of
    /// its model, or of all; `None` for machines, which take seconds, and if
    /// its settings are only known once its teacher is finished.
    pub fn seconds(&self, queue: &Queue, entry: &Entry) -> Option<f64> {
        let rates = |all: bool| {
            let of_model =
                self.measured.iter().filter(move |(model, _)| all || *model == entry.model);
            median(of_model.map(|(_, rate)| *rate).collect())
        };
        let rate = rates(false).or_else(|| rates(true)).unwrap_or(SECONDS_PER_UNIT);
        Some(rate * units(queue, entry)?)
    }
}

/// What a run's time is about proportional to: sequences × operations × nodes, three times for a
/// forward and a backward pass.
fn units(queue: &Queue, entry: &Entry) -> Option<f64> {
    // A teacher's file need not be there yet, and does not matter here.
    let config = match entry.depends_on.and_then(|_| Preset::teacher_of(&entry.model)) {
        Some(teacher) => {
            let teacher = Entry { model: teacher.into(), depends_on: None, ..entry.clone() };
            queue.config(&teacher).ok()?
        }
        None => queue.config(entry).ok()?,
    };
    let AnyConfig::Model(config) = config else { return None };
    let RunConfig { data, network, epochs, evaluate_every, .. } = &config;
    let sizes = data.nodes.len().max(1) as f64;
    let per_sequence: f64 =
        data.nodes.iter().zip(&data.ops).map(|(&n, &ops)| n as f64 * ops as f64 / sizes).sum();
    let passes = 3.0 * data.sequences as f64
        + data.validation_sequences as f64 / (*evaluate_every).max(1) as f64;
    let width = (network.k as f64 / 32.0).powi(2);
    Some(*epochs as f64 * passes * per_sequence * width)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
