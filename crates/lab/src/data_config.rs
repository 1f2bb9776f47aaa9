//! The parts of a run's config that say what it is trained and tested on.

use std::path::PathBuf;

use pgn_structures::Curriculum;
use serde::{Deserialize, Serialize};

/// Training and validation sequences.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    /// Nodes per sequence; several sizes are trained on together.
    pub nodes: Vec<usize>,
    /// Operations per sequence, for each size.
    pub ops: Vec<usize>,
    /// Training sequences, over all sizes.
    pub sequences: usize,
    /// Validation sequences, over all sizes.
    pub validation_sequences: usize,
    /// Whether every epoch has fresh training sequences.
    pub stream: bool,
    /// Of a machine: whether to train on all consistent views too, met in a sequence or not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub consistent: bool,
    /// Trains on single transitions instead of whole sequences, `sequences` of them an epoch,
    /// fresh in every one: for models with an iterated processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transitions: Option<Transitions>,
    /// A data-set file to train on instead of sampled sequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<PathBuf>,
    /// Its checksum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_crc32c: Option<u32>,
    /// A data-set file to validate on instead of sampled sequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<PathBuf>,
    /// Its checksum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_crc32c: Option<u32>,
    /// The run directory of the model whose pointers `pgn-ptrs` is given; in a file, from the
    /// file's own folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teacher: Option<PathBuf>,
    /// The checksum of its `model.safetensors`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teacher_crc32c: Option<u32>,
}

/// Which transitions are trained on; sizes are those of the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transitions {
    /// The share that starts from a random forest, from 0 to 1; the others start from what random
    /// operations have made of a fresh structure.
    pub forests: f64,
    /// How much random forests are biased to be deep, from 0 to 1.
    pub depth: f64,
}

impl DataConfig {
    /// What transitions are drawn from, if they are what is trained on.
    pub fn curriculum(&self) -> Option<Curriculum> {
        let Transitions { forests, depth } = *self.transitions.as_ref()?;
        Some(Curriculum { nodes: self.nodes.clone(), forests, depth })
    }
}

/// Test sequences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestConfig {
    /// Nodes per sequence, one test set for each.
    pub nodes: Vec<usize>,
    /// Operations per sequence, for each size.
    pub ops: Vec<usize>,
    /// Sequences in each test set.
    pub sequences: usize,
}
