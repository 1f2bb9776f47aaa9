//! Scores of predictions, beside those of rules without a model.

use std::{collections::BTreeMap, path::Path};

use pgn_lab::{
    Counting, TrivialRules,
    evaluate::{Prediction, PredictionScores, score_predictions},
};
use pgn_structures::Sequence;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{Data, Predictions, Result};

/// What one predictions file scored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The data structure.
    pub task: String,
    /// Nodes per sequence.
    pub nodes: usize,
    /// Which of several models.
    pub seed: u64,
    /// Operations of all sequences.
    pub operations: usize,
    /// Seconds per 1,000 operations, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// On all sequences.
    pub all: Scored,
    /// On those of each family.
    pub families: BTreeMap<String, Scored>,
}

/// Scores with what they are worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// The scores of the predictions.
    #[serde(flatten)]
    pub predictions: PredictionScores,
    /// Of masks and pointers without a model; absent where none were predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trivial: Option<TrivialRules>,
}

impl std::ops::Deref for Scored {
    type Target = PredictionScores;

    fn deref(&self) -> &PredictionScores {
        &self.predictions
    }
}

/// Scores a predictions file against the truth, which is made again.
pub fn score(path: &Path) -> Result<Record> {
    let predictions = Predictions::load(path)?;
    let judged = predictions.score();
    judged.map_err(|error| pgn_lab::Error::file(path, error.to_string()))
}

impl Predictions {
    /// Scores the predictions against the truth, which is made again.
    pub fn score(&self) -> Result<Record> {
        let data = Data::of(&self.set)?;
        let has_nodes = self.masks.is_some() || self.pointers.is_some();
        let data = if has_nodes { data.full()? } else { data };
        let (nodes, ops) = (data.sequences.nodes, data.sequences.ops);
        let rows = data.rows();
        let cells = ops * nodes;
        let predicted: Vec<Prediction<'_>> = (0..rows.len())
            .map(|index| Prediction {
                answers: &self.answers[index * ops..][..ops],
                masks: self.masks.as_ref().map(|all| &all[index * cells..][..cells]),
                pointers: self.pointers.as_ref().map(|all| &all[index * cells..][..cells]),
            })
            .collect();
        let rule = Counting::of_seed(&self.set.task()?, self.set.sampling().seed)?;
        let judge = |truth: &[Sequence<'_>], predicted: &[Prediction<'_>]| -> Result<Scored> {
            let trivial = has_nodes.then(|| TrivialRules::of(truth.iter().copied())).flatten();
            let predictions = score_predictions(truth, predicted, Some(&rule))?;
            Ok(Scored { predictions, trivial })
        };
        let all = judge(&rows, &predicted)?;
        let families = self.set.families();
        let each = rows.len() / families.len();
        let parts = rows.par_chunks(each).zip(predicted.par_chunks(each));
        let parts: Result<Vec<Scored>> = parts.map(|(rows, part)| judge(rows, part)).collect();
        let names = families.iter().map(|family| family.name().to_owned());
        let operations = rows.len() * ops;
        Ok(Record {
            task: self.set.task.clone(),
            nodes,
            seed: self.seed,
            operations,
            seconds: self.seconds.map(|seconds| seconds * 1000.0 / operations as f64),
            all,
            families: names.zip(parts?).collect(),
        })
    }
}
