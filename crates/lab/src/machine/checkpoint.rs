//! `checkpoint.safetensors` of a machine run: all that a resume needs, to the bit.

use std::path::Path;

use pgn_engine::{Parameters, TrainerState};
use pgn_structures::files::{TensorReader, TensorWriter};

use crate::{Error, Result, files};

const FORMAT: &str = "pgn-machine-checkpoint-1";

/// Where training was left.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Weights, moments and steps.
    pub state: TrainerState,
    /// The training views that are repeated, as of the last evaluation.
    pub hard: Vec<u32>,
    /// Seconds of training so far.
    pub seconds: f64,
    /// The lines of `metrics.jsonl` so far.
    pub metrics: String,
    /// The sets of instructions that were trained with, in their order; none in files of older
    /// versions.
    pub arithmetic: Vec<String>,
}

impl Checkpoint {
    /// Writes it, whole or not at all. `config` is the text of the run's `config.toml`.
    pub fn save(&self, path: &Path, config: &str) -> Result<()> {
        let mut file = TensorWriter::new();
        let parts = self.parts();
        for (name, values) in parts {
            file.f32(name, &[values.len()], values);
        }
        file.u32("hard", &[self.hard.len()], &self.hard);
        file.metadata("format", FORMAT);
        file.metadata("config", config);
        file.metadata("steps", self.state.adam_steps);
        file.metadata("seconds", self.seconds);
        file.metadata("metrics", &self.metrics);
        if !self.arithmetic.is_empty() {
            file.metadata("arithmetic", self.arithmetic.join(","));
        }
        file.metadata("crc32c", self.checksum());
        Ok(file.save(path)?)
    }

    /// Reads that of a run whose config has the text `config`; `like` has the network's tensors.
    pub fn load(path: &Path, config: &str, like: &Parameters) -> Result<Checkpoint> {
        let damaged = |what: String| {
            Error::file(
                path,
                format!("damaged checkpoint: {what}; delete it to start the run over"),
            )
        };
        let bytes = files::read(path)?;
        let file =
            TensorReader::from_bytes(path.to_owned(), bytes).map_err(|error| match error {
                pgn_structures::Error::File { trouble, .. } => damaged(trouble),
                other => other.into(),
            })?;
        if file.metadata("config") != Some(config) {
            return Err(Error::file(path, "it belongs to a run with another config"));
        }
        let tensor = |name: &str| -> Result<Parameters> {
            let values = file.f32(name, &[like.values().len()]);
            let mut tensors = like.clone();
            tensors.values_mut().copy_from_slice(&values.map_err(|e| damaged(e.to_string()))?);
            Ok(tensors)
        };
        let hard = file.shape("hard").unwrap_or_default();
        let number = |key: &str| file.parse::<f64>(key, "a number");
        let checkpoint = Checkpoint {
            state: TrainerState {
                parameters: tensor("parameters")?,
                first_moment: tensor("first_moment")?,
                second_moment: tensor("second_moment")?,
                adam_steps: file.parse("steps", "a number").map_err(|e| damaged(e.to_string()))?,
                running_accuracy: 0.5,
            },
            hard: file.u32("hard", &hard).map_err(|e| damaged(e.to_string()))?,
            seconds: number("seconds").map_err(|e| damaged(e.to_string()))?,
            metrics: file.metadata("metrics").unwrap_or_default().to_owned(),
            arithmetic: match file.metadata("arithmetic") {
                None => Vec::new(),
                Some(names) => names.split(',').map(str::to_owned).collect(),
            },
        };
        if file.metadata("crc32c") != Some(&checkpoint.checksum().to_string()) {
            return Err(damaged("its checksum does not fit its contents".into()));
        }
        Ok(checkpoint)
    }

    fn parts(&self) -> [(&'static str, &[f32]); 3] {
        let TrainerState { parameters, first_moment, second_moment, .. } = &self.state;
        [
            ("parameters", parameters.values()),
            ("first_moment", first_moment.values()),
            ("second_moment", second_moment.values()),
        ]
    }

    fn checksum(&self) -> u32 {
        let mut text =
            format!("{} {} {} {:?}", self.state.adam_steps, self.seconds, self.metrics, self.hard);
        if !self.arithmetic.is_empty() {
            text += &format!(" {:?}", self.arithmetic);
        }
        let values = self.parts().into_iter().flat_map(|(_, values)| values);
        values.fold(crc32c::crc32c(text.as_bytes()), |crc, value| {
            crc32c::crc32c_append(crc, &value.to_le_bytes())
        })
    }
}
