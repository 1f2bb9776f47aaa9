//! `checkpoint.safetensors`: all that a resume needs, to the bit.
//!
//! Four flat tensors in the order of `model.safetensors` (`parameters`, `first_moment`,
//! `second_moment`, `best`), and the hard views of a machine (`hard`); everything else is metadata.
//! A checksum tells a damaged file.

use std::path::Path;

use pgn_engine::{Parameters, TrainerState};
use pgn_structures::files::{TensorReader, TensorWriter};
use serde::{Deserialize, Serialize};

use pgn_runs::files;

use crate::{
    Error, Result,
    learner::{Best, Evaluation, LearnerState},
};

/// Where a run stands after an epoch.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Epochs done.
    pub epoch: u64,
    /// Where its learner is.
    pub learner: LearnerState,
    /// The best model so far; `None` before the first evaluation.
    pub best: Option<Best>,
    /// Time spent training so far, over all sessions.
    pub seconds: f64,
    /// The CRC-32C of `metrics.jsonl` up to here.
    pub metrics_crc32c: u32,
}

/// The metadata that is not a tensor. Floats are kept by their bits.
#[derive(Serialize, Deserialize)]
struct Progress {
    epoch: u64,
    steps: u64,
    running_accuracy_bits: u32,
    taken: u64,
    best: Option<(u64, Evaluation)>,
    /// Older checkpoints have none.
    #[serde(default)]
    reached: Option<u64>,
    seconds: f64,
    metrics_crc32c: u32,
}

/// The tensors that are as long as the network has weights.
const TENSORS: [&str; 4] = ["parameters", "first_moment", "second_moment", "best"];

const FORMAT: &str = "pgn-checkpoint-2";

impl Checkpoint {
    /// Writes the checkpoint, whole or not at all. `config` is the text of the run's
    /// `config.toml`.
    pub fn save(&self, path: &Path, config: &str) -> Result<()> {
        let LearnerState { trainer, hard, taken } = &self.learner;
        let progress = Progress {
            epoch: self.epoch,
            steps: trainer.adam_steps,
            running_accuracy_bits: trainer.running_accuracy.to_bits(),
            taken: *taken,
            best: self.best.as_ref().map(|best| (best.epoch, best.evaluation.clone())),
            reached: self.best.as_ref().map(|best| best.reached),
            seconds: self.seconds,
            metrics_crc32c: self.metrics_crc32c,
        };
        let progress = serde_json::to_string(&progress)
            .map_err(|error| Error::file(path, format!("cannot be made ({error})")))?;
        let best = self.best.as_ref().map_or(&trainer.parameters, |best| &best.parameters);
        let tensors = [&trainer.parameters, &trainer.first_moment, &trainer.second_moment, best]
            .map(Parameters::values);
        let mut file = TensorWriter::new();
        for (name, values) in TENSORS.into_iter().zip(tensors) {
            file.f32(name, &[values.len()], values);
        }
        file.u32("hard", &[hard.len()], hard);
        file.metadata("format", FORMAT);
        file.metadata("config", config);
        file.metadata("crc32c", checksum(&progress, tensors, hard));
        file.metadata("progress", progress);
        Ok(file.save(path)?)
    }

    /// The epoch that a checkpoint was written after, if there is one.
    pub fn epoch_of(path: &Path) -> Option<u64> {
        let file = TensorReader::from_bytes(path.to_owned(), files::read(path).ok()?).ok()?;
        let progress: Progress = serde_json::from_str(file.metadata("progress")?).ok()?;
        Some(progress.epoch)
    }

    /// Reads the checkpoint of a run whose `config.toml` has the text `config`; `like` has the
    /// network's tensors.
    pub fn load(path: &Path, config: &str, like: &Parameters) -> Result<Checkpoint> {
        let Contents { progress, tensors, hard } = Contents::read(path, config)?;
        let tensor = |values: Vec<f32>| -> Result<Parameters> {
            let mut tensors = like.clone();
            if values.len() != tensors.values().len() {
                let (found, expected) = (values.len(), tensors.values().len());
                return Err(damaged(path, &format!("it has {found} weights, not {expected}")));
            }
            tensors.values_mut().copy_from_slice(&values);
            Ok(tensors)
        };
        let [parameters, first_moment, second_moment, best] = tensors.map(tensor);
        let best = best?;
        let best = progress.best.map(|(epoch, evaluation)| {
            let reached = progress.reached.unwrap_or(epoch);
            Best { epoch, reached, evaluation, parameters: best }
        });
        let trainer = TrainerState {
            parameters: parameters?,
            first_moment: first_moment?,
            second_moment: second_moment?,
            adam_steps: progress.steps,
            running_accuracy: f32::from_bits(progress.running_accuracy_bits),
        };
        Ok(Checkpoint {
            epoch: progress.epoch,
            learner: LearnerState { trainer, hard, taken: progress.taken },
            best,
            seconds: progress.seconds,
            metrics_crc32c: progress.metrics_crc32c,
        })
    }

    /// Refuses a damaged checkpoint, or that of a run with another config.
    pub(crate) fn check(path: &Path, config: &str) -> Result<()> {
        Contents::read(path, config).map(drop)
    }
}

/// What is in an intact file.
struct Contents {
    progress: Progress,
    tensors: [Vec<f32>; 4],
    hard: Vec<u32>,
}

impl Contents {
    fn read(path: &Path, config: &str) -> Result<Contents> {
        let damaged = |what: &str| damaged(path, what);
        let bytes = files::read(path)?;
        let file =
            TensorReader::from_bytes(path.to_owned(), bytes).map_err(|error| match error {
                pgn_structures::Error::File { trouble, .. } => damaged(&trouble),
                other => other.into(),
            })?;
        let entry = |key: &str| {
            file.metadata(key).ok_or_else(|| damaged(&format!("its metadata has no '{key}'")))
        };
        if entry("format")? != FORMAT {
            return Err(Error::file(
                path,
                format!("its format is {}; expected {FORMAT}", entry("format")?),
            ));
        }
        if entry("config")? != config {
            return Err(Error::file(path, "it belongs to a run with another config"));
        }
        let shape = |name: &str| {
            file.shape(name).ok_or_else(|| damaged(&format!("it has no tensor '{name}'")))
        };
        let tensor = |name: &str| -> Result<Vec<f32>> {
            file.f32(name, &shape(name)?).map_err(|error| damaged(&error.to_string()))
        };
        let [parameters, first_moment, second_moment, best] = TENSORS.map(tensor);
        let tensors = [parameters?, first_moment?, second_moment?, best?];
        let hard = file.u32("hard", &shape("hard")?);
        let hard = hard.map_err(|error| damaged(&error.to_string()))?;
        let progress = entry("progress")?;
        let expected = checksum(progress, tensors.each_ref().map(|values| &values[..]), &hard);
        if entry("crc32c")? != expected.to_string() {
            return Err(damaged("its checksum does not fit its contents"));
        }
        let progress =
            serde_json::from_str(progress).map_err(|error| damaged(&error.to_string()))?;
        Ok(Contents { progress, tensors, hard })
    }
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::file(path, format!("damaged checkpoint: {what}; delete it to start the run over"))
}

/// Over the metadata that counts and the bits of every number.
fn checksum(progress: &str, tensors: [&[f32]; 4], hard: &[u32]) -> u32 {
    let values = tensors.into_iter().flatten().map(|value| value.to_le_bytes());
    let all = values.chain(hard.iter().map(|place| place.to_le_bytes()));
    all.fold(crc32c::crc32c(progress.as_bytes()), |crc, bytes| crc32c::crc32c_append(crc, &bytes))
}
