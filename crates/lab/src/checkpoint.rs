//! `checkpoint.safetensors`: all that a resume needs, to the bit.
//!
//! Four flat tensors in the order of `model.safetensors` (`parameters`, `first_moment`,
//! `second_moment`, `best`); everything else is metadata. A checksum tells a damaged file.

use std::path::Path;

use pgn_engine::{Config, Parameters, TrainerState};
use pgn_structures::files::{TensorReader, TensorWriter};
use serde::{Deserialize, Serialize};

use crate::{Error, Result, Scores, best::Best, files};

/// Where a run stands after an epoch.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Epochs done.
    pub epoch: u64,
    /// Weights, moments, steps and running accuracy.
    pub trainer: TrainerState,
    /// The best model so far; `None` before the first evaluation.
    pub best: Option<Best>,
    /// Time spent training so far, over all sessions.
    pub seconds: f64,
    /// The sets of instructions that were trained with, in their order; none in files of older
    /// versions.
    pub arithmetic: Vec<String>,
    /// The CRC-32C of `metrics.jsonl` up to here; none in files of older versions.
    pub metrics_crc32c: Option<u32>,
}

/// The metadata that is not a tensor. Floats are kept by their bits.
#[derive(Serialize, Deserialize)]
struct Progress {
    epoch: u64,
    steps: u64,
    running_accuracy_bits: u32,
    best: Option<(u64, Scores)>,
    seconds: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    arithmetic: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metrics_crc32c: Option<u32>,
}

const FORMAT: &str = "pgn-checkpoint-1";

impl Checkpoint {
    /// Writes the checkpoint, whole or not at all. `config` is the text of the run's
    /// `config.toml`.
    pub fn save(&self, path: &Path, config: &str) -> Result<()> {
        let progress = Progress {
            epoch: self.epoch,
            steps: self.trainer.adam_steps,
            running_accuracy_bits: self.trainer.running_accuracy.to_bits(),
            best: self.best.as_ref().map(|best| (best.epoch, best.validation.clone())),
            seconds: self.seconds,
            arithmetic: self.arithmetic.clone(),
            metrics_crc32c: self.metrics_crc32c,
        };
        let progress = serde_json::to_string(&progress)
            .map_err(|error| Error::file(path, format!("cannot be made ({error})")))?;
        let best = self.best.as_ref().map_or(&self.trainer.parameters, |best| &best.parameters);
        let tensors = [
            ("parameters", &self.trainer.parameters),
            ("first_moment", &self.trainer.first_moment),
            ("second_moment", &self.trainer.second_moment),
            ("best", best),
        ]
        .map(|(name, tensor)| (name, tensor.values()));
        let mut file = TensorWriter::new();
        for (name, values) in tensors {
            file.f32(name, &[values.len()], values);
        }
        file.metadata("format", FORMAT);
        file.metadata("config", config);
        file.metadata("crc32c", checksum(&progress, tensors.map(|(_, values)| values)));
        file.metadata("progress", progress);
        Ok(file.save(path)?)
    }

    /// The epoch that a checkpoint was written after, if there is one.
    pub fn epoch_of(path: &Path) -> Option<u64> {
        let file = TensorReader::from_bytes(path.to_owned(), files::read(path).ok()?).ok()?;
        let progress: Progress = serde_json::from_str(file.metadata("progress")?).ok()?;
        Some(progress.epoch)
    }

    /// Reads the checkpoint of a run whose `config.toml` has the text `config`.
    pub fn load(path: &Path, config: &str, network: &Config) -> Result<Checkpoint> {
        let damaged = |what: &str| {
            Error::file(
                path,
                format!("damaged checkpoint: {what}; delete it to start the run over"),
            )
        };
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
        let weights = Parameters::zeros(network).values().len();
        let tensor =
            |name: &str| file.f32(name, &[weights]).map_err(|error| damaged(&error.to_string()));
        let tensors = [
            tensor("parameters")?,
            tensor("first_moment")?,
            tensor("second_moment")?,
            tensor("best")?,
        ];
        let progress = entry("progress")?;
        let expected = checksum(progress, tensors.each_ref().map(|values| &values[..]));
        if entry("crc32c")? != expected.to_string() {
            return Err(damaged("its checksum does not fit its contents"));
        }
        let progress: Progress =
            serde_json::from_str(progress).map_err(|error| damaged(&error.to_string()))?;
        let [parameters, first_moment, second_moment, best] = tensors.map(|values| {
            let mut tensors = Parameters::zeros(network);
            tensors.values_mut().copy_from_slice(&values);
            tensors
        });
        let best =
            progress.best.map(|(epoch, validation)| Best { epoch, validation, parameters: best });
        Ok(Checkpoint {
            epoch: progress.epoch,
            trainer: TrainerState {
                parameters,
                first_moment,
                second_moment,
                adam_steps: progress.steps,
                running_accuracy: f32::from_bits(progress.running_accuracy_bits),
            },
            best,
            seconds: progress.seconds,
            arithmetic: progress.arithmetic,
            metrics_crc32c: progress.metrics_crc32c,
        })
    }
}

/// Over the metadata that counts and the bits of every number.
fn checksum(progress: &str, tensors: [&[f32]; 4]) -> u32 {
    let start = crc32c::crc32c(progress.as_bytes());
    tensors
        .into_iter()
        .flatten()
        .fold(start, |crc, value| crc32c::crc32c_append(crc, &value.to_le_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> (Config, Checkpoint) {
        let config = Config::preset("pgn").unwrap();
        let checkpoint = Checkpoint {
            epoch: 17,
            trainer: TrainerState {
                parameters: Parameters::initial(&config, 1),
                first_moment: Parameters::initial(&config, 2),
                second_moment: Parameters::initial(&config, 3),
                adam_steps: 85,
                running_accuracy: 0.1 + 0.2,
            },
            best: Some(Best {
                epoch: 4,
                // A number that a careless decimal would change.
                validation: Scores { f1: 0.1 + 0.7, ..Scores::default() },
                parameters: Parameters::initial(&config, 4),
            }),
            seconds: 1.5,
            arithmetic: vec!["portable".to_owned()],
            metrics_crc32c: Some(7),
        };
        (config, checkpoint)
    }

    #[test]
    fn every_bit_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("checkpoint.safetensors");
        let (config, checkpoint) = example();
        checkpoint.save(&path, "a = 1\n").unwrap();
        let back = Checkpoint::load(&path, "a = 1\n", &config).unwrap();
        assert_eq!(back.trainer, checkpoint.trainer);
        assert_eq!(back.best, checkpoint.best);
        assert_eq!((back.epoch, back.seconds), (17, 1.5));
        assert_eq!(back.arithmetic, ["portable"]);
        assert_eq!(back.metrics_crc32c, Some(7));
        assert_eq!(Checkpoint::epoch_of(&path), Some(17));

        let none = Checkpoint { best: None, ..checkpoint };
        none.save(&path, "").unwrap();
        assert_eq!(Checkpoint::load(&path, "", &config).unwrap().best, None);
    }

    #[test]
    fn damage_and_strangers_are_refused_in_one_sentence() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("checkpoint.safetensors");
        let (config, checkpoint) = example();
        checkpoint.save(&path, "a = 1\n").unwrap();
        let refused = |config: &Config, text: &str| {
            let sentence = Checkpoint::load(&path, text, config).unwrap_err().to_string();
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
        // One flipped bit in each tensor.
        let header = whole.len() - 4 * 4 * checkpoint.trainer.parameters.values().len();
        for tensor in 0..4 {
            let mut bytes = whole.clone();
            bytes[header + tensor * (whole.len() - header) / 4 + 5] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            assert!(refused(&config, "a = 1\n").contains("checksum"), "tensor {tensor}");
        }
    }
}
