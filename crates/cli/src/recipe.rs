//! The flags that say how a model is trained, shared by `train` and `reproduce`.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use toml::{Table, Value};

use crate::output;

/// How to train. Whatever is not given is the paper's protocol.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How to train (the paper's protocol unless given)")]
pub struct RecipeArgs {
    /// Passes over the training sequences; 0 writes the initial model [default: 5000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub epochs: Option<u64>,
    /// Size of the latent vectors of nodes, k [default: 32]
    #[arg(long, visible_alias = "k", value_name = "K", allow_negative_numbers = true)]
    latents: Option<u32>,
    /// What --latents was called before: a node's features are its inputs
    #[arg(
        long,
        hide = true,
        value_name = "K",
        allow_negative_numbers = true,
        conflicts_with = "latents"
    )]
    features: Option<u32>,
    /// Adam's learning rate [default: 0.005]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    learning_rate: Option<f64>,
    /// How the learning rate falls over the epochs [default: constant]
    #[arg(long, value_name = "HOW")]
    decay: Option<Decay>,
    /// With --decay, what is left of the learning rate in the last epoch [default: 0.01]
    #[arg(long, value_name = "FRACTION", allow_negative_numbers = true)]
    final_fraction: Option<f64>,
    /// Clip gradients to this norm; 0 for no clipping [default: 1]
    #[arg(long, value_name = "NORM", allow_negative_numbers = true)]
    clip: Option<f64>,
    /// Sequences per Adam step, shuffled anew in every epoch [default: all of them]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    batch: Option<u32>,
    /// Evaluate on the validation set every N epochs; the best model is chosen among these
    /// [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    evaluate_every: Option<u32>,
    /// Training sequences [default: 70]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    sequences: Option<u32>,
    /// Validation sequences [default: 35]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    validation_sequences: Option<u32>,
    /// Nodes per training sequence; several sizes, as in 10,20,30, are trained on together
    /// [default: 20]
    #[arg(long, value_name = "N,...", value_delimiter = ',', allow_negative_numbers = true)]
    nodes: Option<Vec<u32>>,
    /// Operations per training sequence, one number for each size [default: 1.5 times the nodes]
    #[arg(long, value_name = "N,...", value_delimiter = ',', allow_negative_numbers = true)]
    ops: Option<Vec<u32>>,
    /// Train on fresh sequences in every epoch
    #[arg(long)]
    stream: bool,
    /// Nodes per test sequence, one test set for each [default: 20,50,100,200]
    #[arg(long, value_name = "N,...", value_delimiter = ',', allow_negative_numbers = true)]
    test_nodes: Option<Vec<u32>>,
    /// Sequences in each test set [default: 35]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    test_sequences: Option<u32>,
    /// Weight of the query loss
    #[arg(long, value_name = "WEIGHT", allow_negative_numbers = true)]
    query_weight: Option<f32>,
    /// Weight of the pointer loss
    #[arg(long, value_name = "WEIGHT", allow_negative_numbers = true)]
    pointer_weight: Option<f32>,
    /// Weight of the mask loss
    #[arg(long, value_name = "WEIGHT", allow_negative_numbers = true)]
    mask_weight: Option<f32>,
    /// Weight of the DGM reward loss
    #[arg(long, value_name = "WEIGHT", allow_negative_numbers = true)]
    dgm_weight: Option<f32>,
    /// What query and key read: h (equation 6) or [z ‖ h] (appendix A) [default: h]
    #[arg(long, value_name = "WHAT")]
    attention_input: Option<AttentionInput>,
    /// Which nodes a pointer may be aimed at [default: all]
    #[arg(long, value_name = "WHICH")]
    candidates: Option<Candidates>,
    /// How initial weights are drawn: a normal distribution cut at 2σ with σ = 1/√fan_in, or uniform
    /// as Glorot and Bengio or as PyTorch have it [default: lecun]
    #[arg(long, value_name = "HOW")]
    initialisation: Option<Initialisation>,
    /// A TOML file with any of these settings, in the form of a run's config.toml; flags win
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Decay {
    Constant,
    Cosine,
    Exponential,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AttentionInput {
    H,
    Zh,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Candidates {
    All,
    Visited,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Initialisation {
    Lecun,
    Glorot,
    Torch,
}

impl RecipeArgs {
    /// The config file with the flags laid over it.
    pub fn settings(&self) -> Result<Table> {
        let mut settings = match &self.config {
            None => Table::new(),
            Some(path) => pgn_lab::RunConfig::read_settings(path)?,
        };
        pgn_lab::overlay(&mut settings, self.flags());
        Ok(settings)
    }

    fn flags(&self) -> Table {
        let mut flags = Flags::default();
        flags.set("", "epochs", self.epochs.map(|n| n as i64));
        flags.set("", "learning_rate", self.learning_rate);
        flags.set("", "decay", self.decay.map(name));
        flags.set("", "final_fraction", self.final_fraction);
        flags.set("", "clip", self.clip);
        flags.set("", "batch", self.batch);
        flags.set("", "evaluate_every", self.evaluate_every);
        flags.set("data", "sequences", self.sequences);
        flags.set("data", "validation_sequences", self.validation_sequences);
        flags.set("data", "nodes", self.nodes.clone());
        flags.set("data", "ops", self.ops.clone());
        flags.set("data", "stream", self.stream.then_some(true));
        flags.set("test", "nodes", self.test_nodes.clone());
        flags.set("test", "sequences", self.test_sequences);
        if self.features.is_some() {
            output::tell("note: --features is now called --latents");
        }
        flags.set("network", "k", self.latents.or(self.features));
        flags.set("network", "attention_input", self.attention_input.map(name));
        flags.set("network", "candidates", self.candidates.map(name));
        flags.set("network", "initialisation", self.initialisation.map(name));
        let weights = [
            ("query", self.query_weight),
            ("pointers", self.pointer_weight),
            ("masks", self.mask_weight),
            ("dgm", self.dgm_weight),
        ];
        let mut losses = Flags::default();
        for (key, weight) in weights {
            losses.set("", key, weight);
        }
        if !losses.0.is_empty() {
            flags.set("network", "losses", Some(losses.0));
        }
        flags.0
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

fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}
