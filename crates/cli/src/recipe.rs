//! The flags that say how a model is trained, shared by `train` and `reproduce`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use pgn_engine::TestLayers;
use serde::Serialize;
use toml::{Table, Value};

use crate::{loss_weights::LossWeightArgs, test_layers, variants};

const HEADING: &str = "How to train (the paper's protocol unless given)";

/// How to train. Whatever is not given is the paper's protocol; fields are named as in a config file.
#[derive(Args, Clone, Debug, Serialize)]
#[command(next_help_heading = HEADING)]
pub struct RecipeArgs {
    /// Passes over the training sequences; 0 writes the initial model [default: 5000; 1500 for
    /// pgn-exact, 1600 steps for pgn-machine]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub epochs: Option<u64>,
    /// Adam's learning rate [default: 0.005; 0.003 for pgn-exact, 0.01 for pgn-machine]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    learning_rate: Option<f64>,
    /// Learning-rate schedule [default: constant; cosine for pgn-exact and pgn-machine]
    #[arg(long, hide_short_help = true, value_name = "HOW", value_parser = variants::of::<pgn_lab::Decay>())]
    decay: Option<String>,
    /// With --decay: final learning rate, as a fraction of the first [default: 0.01; 0 for
    /// pgn-machine]
    #[arg(long, hide_short_help = true, value_name = "FRACTION", allow_negative_numbers = true)]
    final_fraction: Option<f64>,
    /// Clip gradients to this norm; 0 for no clipping [default: 1; 0 for pgn-machine]
    #[arg(long, hide_short_help = true, value_name = "NORM", allow_negative_numbers = true)]
    clip: Option<f64>,
    /// Sequences per Adam step, reshuffled every epoch [default: all; 64 transitions for
    /// pgn-exact, 64 views for pgn-machine]
    #[arg(long, hide_short_help = true, value_name = "N", allow_negative_numbers = true)]
    batch: Option<u32>,
    /// Validate every N epochs; the best of these models is kept [default: 1; 50 for pgn-exact, 20
    /// for pgn-machine]
    #[arg(long, hide_short_help = true, value_name = "N", allow_negative_numbers = true)]
    evaluate_every: Option<u32>,
    /// Also keep the model of every N-th epoch, to watch it learn in `pgn serve`; 0 for none
    /// [default: 0]
    #[arg(long, hide_short_help = true, value_name = "N", allow_negative_numbers = true)]
    keep_every: Option<u32>,
    /// Stop after N epochs without a better validation score; 0 for never [default: 200; 0 for
    /// pgn-nm, pgn-exact and pgn-machine]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    patience: Option<u32>,
    /// With --forcing own or free: probability that an operation is teacher-forced [default: 0]
    #[arg(long, hide_short_help = true, value_name = "P", allow_negative_numbers = true)]
    teacher_probability: Option<f64>,
    /// --teacher-probability in the last epoch; linear in between [default: --teacher-probability]
    #[arg(long, hide_short_help = true, value_name = "P", allow_negative_numbers = true)]
    final_teacher_probability: Option<f64>,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    test: TestArgs,
    #[command(flatten)]
    network: NetworkArgs,
    /// A TOML file with any of these settings, in the format of a run's config.toml; flags override
    /// it
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    config: Option<PathBuf>,
}

/// The `[data]` table.
#[derive(Args, Clone, Debug, Serialize)]
#[command(next_help_heading = HEADING)]
struct DataArgs {
    /// Training sequences [default: 70; 64 transitions for pgn-exact, 100 for pgn-machine]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    sequences: Option<u32>,
    /// Validation sequences [default: 35]
    #[arg(long, hide_short_help = true, value_name = "N", allow_negative_numbers = true)]
    validation_sequences: Option<u32>,
    /// Nodes per training sequence; 10,20,30 trains on three sizes together [default: 20]
    #[arg(long, value_name = "N,...", value_delimiter = ',', allow_negative_numbers = true)]
    nodes: Option<Vec<u32>>,
    /// Operations per training sequence, one number for each size [default: 1.5 times the nodes;
    /// 45 times for pgn-machine]
    #[arg(
        long,
        hide_short_help = true,
        value_name = "N,...",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    ops: Option<Vec<u32>>,
    /// Sample fresh training sequences every epoch
    #[arg(long, hide_short_help = true)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

/// The `[test]` table.
#[derive(Args, Clone, Debug, Serialize)]
#[command(next_help_heading = HEADING)]
struct TestArgs {
    /// Nodes per test sequence, one test set for each [default: 20,50,100,200]
    #[arg(long, value_name = "N,...", value_delimiter = ',', allow_negative_numbers = true)]
    #[serde(rename = "nodes")]
    test_nodes: Option<Vec<u32>>,
    /// Sequences in each test set [default: 35]
    #[arg(long, hide_short_help = true, value_name = "N", allow_negative_numbers = true)]
    #[serde(rename = "sequences")]
    test_sequences: Option<u32>,
}

/// The `[network]` table.
#[derive(Args, Clone, Debug, Serialize)]
#[command(next_help_heading = HEADING)]
struct NetworkArgs {
    /// Size of the nodes' latent vectors, k [default: 32]
    #[arg(
        long,
        visible_alias = "k",
        alias = "features",
        value_name = "K",
        allow_negative_numbers = true
    )]
    #[serde(rename = "k")]
    latents: Option<u32>,
    #[command(flatten)]
    #[serde(rename = "losses")]
    weights: LossWeightArgs,
    /// How many times each visited node counts in the mask loss [default: 3; 1 for pgn-exact]
    #[arg(long, value_name = "WEIGHT", allow_negative_numbers = true)]
    visited_weight: Option<f32>,
    /// Pointers that the model reads in training: the true ones (teacher), its own with the true
    /// masks (own), or its own with its own masks, as at test (free) [default: the model's]
    #[arg(long, hide_short_help = true, value_name = "WHOSE", value_parser = variants::of::<pgn_engine::Forcing>())]
    forcing: Option<String>,
    /// What query and key read: h (equation 6) or [z ‖ h] (appendix A) [default: h]
    #[arg(long, hide_short_help = true, value_name = "WHAT", value_parser = variants::of::<pgn_engine::AttentionInput>())]
    attention_input: Option<String>,
    /// Which nodes a pointer may be aimed at [default: all]
    #[arg(long, hide_short_help = true, value_name = "WHICH", value_parser = variants::of::<pgn_engine::Candidates>())]
    candidates: Option<String>,
    /// How a node combines its messages: max as in the paper, sum or mean [default: max]
    #[arg(long, hide_short_help = true, value_name = "HOW", value_parser = variants::of::<pgn_engine::Aggregation>())]
    message_aggregation: Option<String>,
    /// How the readout combines the nodes: max as in the paper, sum or mean [default: max]
    #[arg(long, hide_short_help = true, value_name = "HOW", value_parser = variants::of::<pgn_engine::Aggregation>())]
    readout_aggregation: Option<String>,
    /// Processor steps per operation [default: 1]
    #[arg(long, hide_short_help = true, value_name = "N", allow_negative_numbers = true)]
    layers: Option<u32>,
    /// Processor steps at test: nodes:N for a number proportional to log n, equal to --layers at
    /// n = N; depth:D for one proportional to the depth of u and v, equal to it at depth D
    #[arg(long, hide_short_help = true, value_name = "BY:BASE", value_parser = test_layers::parse)]
    test_layers: Option<TestLayers>,
    /// Compute pointers and masks with a second processor that has its own weights
    #[arg(long, hide_short_help = true)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pointer_processor: bool,
    /// Further pointer fields of the structure to learn, as in left,right for lct
    #[arg(long, hide_short_help = true, value_name = "FIELD,...", value_delimiter = ',')]
    pointer_types: Option<Vec<String>>,
    /// How to read the input graph of tasks that have one: its edges are added to the pointers
    /// (edges), or have their own message function (head) [default: none]
    #[arg(long, hide_short_help = true, value_name = "HOW", value_parser = variants::of::<pgn_engine::InputGraph>())]
    input_graph: Option<String>,
    /// Initial weights: truncated normal with σ = 1/√fan_in, or uniform as in Glorot and Bengio or
    /// in PyTorch [default: lecun]
    #[arg(long, hide_short_help = true, value_name = "HOW", value_parser = variants::of::<pgn_engine::Initialisation>())]
    initialisation: Option<String>,
}

impl RecipeArgs {
    /// The config file with the flags laid over it.
    pub fn settings(&self) -> Result<Table> {
        let mut settings = match &self.config {
            None => Table::new(),
            Some(path) => pgn_lab::read_settings(path)?,
        };
        pgn_runs::settings::overlay(&mut settings, self.flags());
        Ok(settings)
    }

    /// An error about a setting, with its file and line if it came from the config file and not from
    /// these flags.
    pub fn located(&self, error: pgn_lab::Error, flags: &Table) -> pgn_lab::Error {
        match &self.config {
            Some(path) => pgn_lab::located(error, path, flags),
            None => error,
        }
    }

    /// The flags that were given, as settings.
    pub fn flags(&self) -> Table {
        Table::try_from(self).unwrap_or_else(|_| unreachable!("every flag has a TOML form"))
    }
}

/// Settings by table and key; what was not given is left out.
#[derive(Default)]
pub struct Flags(pub Table);

impl Flags {
    /// Notes a flag that was given. `table` is empty for the top level.
    pub fn set(&mut self, table: &str, key: &str, value: Option<impl Into<Value>>) {
        let Some(value) = value else { return };
        let table = if table.is_empty() {
            &mut self.0
        } else {
            let entry = self.0.entry(table).or_insert_with(|| Table::new().into());
            let Value::Table(table) = entry else { return };
            table
        };
        table.insert(key.to_owned(), value.into());
    }
}
