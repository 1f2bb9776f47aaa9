//! What a trained model does, beyond its scores: what it knows that counting does not, which nodes
//! its answers come from (appendix D of the paper), and what its pointers look like beside the
//! truth's (its figure 4).
//!
//! | if you want … | look at |
//! | --- | --- |
//! | all of it, for a run | [`Run::analyse`](crate::Run::analyse), [`Analysis`] |
//! | what it knows that counting does not | [`BeyondCounting`] |
//! | shares of credit | [`Credit`] |
//! | depth, diameter and validity over a test set | [`PointerStudy`] |
//! | the pathological chain | [`Chain`] |
//! | to check pointers of your own | [`shape`] |
//! | tables | [`beyond`], [`of_task`] |
//!
//! Everything is counted in whole numbers, so that no order of adding up, and no number of
//! threads, changes an outcome.

mod beyond;
mod chain;
mod credit;
mod file;
mod pointers;
pub mod shape;
mod tables;

use std::collections::BTreeMap;

use pgn_engine::Model;
use pgn_structures::Node;
use serde::{Deserialize, Serialize};

use crate::{Data, Examples, Result, RunConfig};

pub use beyond::BeyondCounting;
pub(crate) use beyond::Cases;
pub use chain::{Chain, Moment};
pub use credit::{Credit, Share, Shares};
pub use file::{ANALYSES, Analyses};
pub use pointers::{Along, PointerStudy};
pub use tables::{beyond, of_task, tasks};

/// What was found out about one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// The data structure.
    pub task: String,
    /// The model.
    pub model: String,
    /// The seed.
    pub seed: u64,
    /// Epochs trained.
    pub epochs: u64,
    /// Settings of the run that differ from the defaults, by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub departures: BTreeMap<String, String>,
    /// Answers that counting cannot tell apart, one entry for each test size.
    #[serde(default)]
    pub beyond: Vec<BeyondCounting>,
    /// Credit, one entry for each test size.
    pub credit: Vec<Credit>,
    /// Pointers, one entry for each test size; empty for models without pointers of their own.
    pub pointers: Vec<PointerStudy>,
    /// The chain of figure 4, one entry for each test size; empty likewise.
    pub chains: Vec<Chain>,
}

/// Analyses a model on its run's own test sequences, which `data` makes. For a run on disk there
/// is [`Run::analyse`](crate::Run::analyse).
pub fn analyse_model(config: &RunConfig, model: &Model, data: &Data) -> Result<Analysis> {
    let mut analysis = Analysis::empty(config);
    for set in data.tests(&config.test, config.seed) {
        analysis.add(model, &set?)?;
    }
    if model.config().owns_pointers() {
        for (index, &nodes) in config.test.nodes.iter().enumerate() {
            analysis.chains.push(Chain::of(model, data, nodes, index == 0)?);
        }
    }
    Ok(analysis)
}

impl Analysis {
    /// Of a run, with nothing found out yet.
    pub(crate) fn empty(config: &RunConfig) -> Analysis {
        Analysis {
            task: config.task.clone(),
            model: config.model.clone(),
            seed: config.seed,
            epochs: config.epochs,
            departures: config.departures(),
            beyond: Vec::new(),
            credit: Vec::new(),
            pointers: Vec::new(),
            chains: Vec::new(),
        }
    }

    /// Adds what the model does on a data set.
    pub(crate) fn add(&mut self, model: &Model, set: &Examples) -> Result<()> {
        self.beyond.push(BeyondCounting::of(model, set)?);
        self.credit.push(Credit::of(model, set)?);
        if model.config().owns_pointers() {
            self.pointers.push(PointerStudy::of(model, set)?);
        }
        Ok(())
    }
}

/// Five decimals: more than the figures show, and files stay small.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e5).round() / 1e5
}

/// `part` of `whole`, rounded; 0 of nothing.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { rounded(part as f64 / whole as f64) }
}

/// A node as an index.
fn at(node: Node) -> usize {
    node as usize
}
