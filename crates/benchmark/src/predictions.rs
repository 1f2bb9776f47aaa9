//! Predictions files: what a model answered on a test set.

use std::path::Path;

use pgn_lab::Error;
use pgn_structures::{
    Node, Split,
    files::{TensorReader, TensorWriter},
};

use crate::{Data, Predictor, Result, Set};

/// Predictions for every sequence of a set, in its order, with what the file says about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// What was predicted.
    pub set: Set,
    /// Which model of several that were trained alike: the seed of its training.
    pub seed: u64,
    /// How long the operations took, if that was measured.
    pub seconds: Option<f64>,
    /// \[count, ops\]
    pub answers: Vec<u8>,
    /// \[count, ops, nodes\]; 0 visited, 1 left alone
    pub masks: Option<Vec<u8>>,
    /// \[count, ops, nodes\]; after each operation
    pub pointers: Option<Vec<Node>>,
}

/// All tensors that a file may have.
const TENSORS: [&str; 4] = ["answers", "query_logits", "masks", "pointers"];

impl Predictions {
    /// What `predictor` predicts, or `None` if it was made for another task.
    pub fn of(predictor: &Predictor, set: &Set) -> Result<Option<Predictions>> {
        match predictor.is_for(set)? {
            true => predictor.predict(&Data::of(set)?).map(Some),
            false => Ok(None),
        }
    }

    /// Reads a file and checks everything that can be checked without the truth.
    pub fn load(path: &Path) -> Result<Predictions> {
        let file = TensorReader::open(path)?;
        let wrong = |trouble: String| Error::file(path, trouble);
        let task: String = file.parse("task", "a task of the benchmark")?;
        let nodes: usize = file.parse("nodes", "a whole number")?;
        let split: Split = file.parse("split", "the name of a split")?;
        let data: String = file.parse("data", "the SHA-256 of the data's file")?;
        let set = Set::find(&task, nodes, split).map_err(|error| wrong(error.to_string()))?;
        if let Some(expected) = set.checksum().filter(|&expected| expected != data) {
            return Err(wrong(format!(
                "it is about data whose checksum is {data}; expected {expected}, that of {}",
                set.file()
            )));
        }
        let number = |key: &str| match file.metadata(key) {
            None => Ok(None),
            Some(_) => file.parse::<f64>(key, "a number").map(Some),
        };
        let seed = match file.metadata("seed") {
            None => 0,
            Some(_) => file.parse("seed", "a whole number")?,
        };
        if let Some(name) = file.names().iter().find(|name| !TENSORS.contains(&name.as_str())) {
            let expected = TENSORS.join(", ");
            return Err(wrong(format!("it has a tensor `{name}`; expected only {expected}")));
        }
        let sampling = set.sampling();
        let (count, ops) = (sampling.count * set.families().len(), sampling.ops);
        let (steps, cells) = ([count, ops], [count, ops, nodes]);
        let has = |name: &str| file.shape(name).is_some();
        let answers = match (has("answers"), has("query_logits")) {
            (true, false) => file.u8("answers", &steps)?,
            (false, true) => {
                let logits = file.f32("query_logits", &steps)?;
                if logits.iter().any(|logit| logit.is_nan()) {
                    return Err(wrong("`query_logits` has a NaN; expected numbers".into()));
                }
                logits.iter().map(|&logit| u8::from(logit > 0.0)).collect()
            }
            (both, _) => {
                let found = if both { "both" } else { "neither" };
                return Err(wrong(format!(
                    "it has {found} of `answers` and `query_logits`; expected one of them"
                )));
            }
        };
        let masks = has("masks").then(|| file.u8("masks", &cells)).transpose()?;
        let pointers = has("pointers").then(|| file.u32("pointers", &cells)).transpose()?;
        let seconds = number("seconds")?;
        Ok(Predictions { set, seed, seconds, answers, masks, pointers })
    }

    /// Writes the file: the same predictions, the same bytes.
    pub fn save(&self, path: &Path) -> Result<()> {
        let Set { task, nodes, split } = &self.set;
        let ops = self.set.sampling().ops;
        let count = self.answers.len() / ops;
        let mut file = TensorWriter::new();
        file.metadata("task", task);
        file.metadata("nodes", nodes);
        file.metadata("split", split);
        file.metadata("data", self.set.checksum().unwrap_or_default());
        file.metadata("seed", self.seed);
        if let Some(seconds) = self.seconds {
            file.metadata("seconds", seconds);
        }
        file.u8("answers", &[count, ops], &self.answers);
        if let Some(masks) = &self.masks {
            file.u8("masks", &[count, ops, *nodes], masks);
        }
        if let Some(pointers) = &self.pointers {
            file.u32("pointers", &[count, ops, *nodes], pointers);
        }
        Ok(file.save(path)?)
    }
}
