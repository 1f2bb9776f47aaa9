//! `checkpoint.safetensors`: all that a resume needs, to the bit.
//!
//! Four flat tensors in the order of `model.safetensors` (`parameters`, `first_moment`,
//! `second_moment`, `best`), and the hard views of a machine (`hard`); everything else is metadata.
//! A checksum tells a damaged file.

use std::path::Path;

use pgn_engine::{Parameters, TrainerState};
use pgn_structures::files::{TensorReader, TensorWriter};
use serde::{Deserialize, Serialize};

use crate::{Best, Error, Evaluation, LearnerState, Result, files};

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
        let best =
            progress.best.map(|(epoch, evaluation)| Best { epoch, evaluation, parameters: best });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scores;
    use pgn_engine::Config;

    fn example() -> (Config, Checkpoint) {
        let config = Config::preset("pgn").unwrap();
        let checkpoint = Checkpoint {
            epoch: 17,
            learner: LearnerState {
                trainer: TrainerState {
                    parameters: Parameters::initial(&config, 1),
                    first_moment: Parameters::initial(&config, 2),
                    second_moment: Parameters::initial(&config, 3),
                    adam_steps: 85,
                    running_accuracy: 0.1 + 0.2,
                },
                hard: vec![3, 1],
                taken: 99,
            },
            best: Some(Best {
                epoch: 4,
                // A number that a careless decimal would change.
                evaluation: Evaluation {
                    validation: Some(Scores { f1: 0.1 + 0.7, ..Scores::default() }),
                    views: None,
                },
                parameters: Parameters::initial(&config, 4),
            }),
            seconds: 1.5,
            metrics_crc32c: 7,
        };
        (config, checkpoint)
    }

    #[test]
    fn every_bit_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("checkpoint.safetensors");
        let (config, checkpoint) = example();
        checkpoint.save(&path, "a = 1\n").unwrap();
        let back = Checkpoint::load(&path, "a = 1\n", &Parameters::zeros(&config)).unwrap();
        assert_eq!(back.learner, checkpoint.learner);
        assert_eq!(back.best, checkpoint.best);
        assert_eq!((back.epoch, back.seconds), (17, 1.5));
        assert_eq!(back.metrics_crc32c, 7);
        assert_eq!(Checkpoint::epoch_of(&path), Some(17));

        let none = Checkpoint { best: None, ..checkpoint };
        none.save(&path, "").unwrap();
        assert_eq!(Checkpoint::load(&path, "", &Parameters::zeros(&config)).unwrap().best, None);
    }

    #[test]
    fn damage_and_strangers_are_refused_in_one_sentence() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("checkpoint.safetensors");
        let (config, checkpoint) = example();
        checkpoint.save(&path, "a = 1\n").unwrap();
        let refused = |config: &Config, text: &str| {
            let sentence =
                Checkpoint::load(&path, text, &Parameters::zeros(config)).unwrap_err().to_string();
            assert!(sentence.contains("checkpoint.safetensors") && !sentence.contains('\n'));
            sentence
        };
        assert!(refused(&config, "a = 2\n").contains("another config"));
        let other = Config { k: 16, ..config.clone() };
        assert!(refused(&other, "a = 1\n").contains("damaged checkpoint"));

        let whole = std::fs::read(&path).unwrap();
        for cut in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert!(refused(&config, "a = 1\n").contains("damaged checkpoint"), "cut at {cut}");
        }
        // One flipped bit in every quarter of the tensors, which end the file.
        let tensors = 4 * 4 * checkpoint.learner.trainer.parameters.values().len();
        for quarter in 0..4 {
            let mut bytes = whole.clone();
            bytes[whole.len() - tensors + quarter * tensors / 4 + 5] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            assert!(refused(&config, "a = 1\n").contains("checksum"), "quarter {quarter}");
        }
    }
}
