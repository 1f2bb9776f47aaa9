//! `pgn eval`: scores of a trained model.

use std::path::PathBuf;

use anyhow::Result;
use pgn_engine::TestLayers;
use pgn_lab::{AnyRun, TestScores, TestSets, machine::Mode};
use pgn_runs::Stop;
use serde::Serialize;

use crate::{
    machine,
    output::{self, Usage},
    scores_table, test_layers,
    threads::pool,
};

/// Score a trained model: on its own test sets, on other sizes, or on a data-set file
///
/// F1 counts answer 1 as positive, over all steps of all sequences. Three baselines show what a
/// score is worth: always 1, always 0, and counting, a rule that sees only how often u and v
/// appeared before (0, 1 or 2 and more times). A sequence is exact if every answer and every
/// pointer after every operation is right.
///
/// pgn-exact and machines run one operation at a time in O(n) memory, so a million nodes is fine.
/// --json adds the number of steps, the first error and the time.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn eval runs/dsu-pgn
  pgn eval runs/dsu-pgn --nodes 500,1000 --count 10
  pgn eval runs/dsu-pgn --test-layers nodes:20
  pgn eval runs/forest-exact --nodes 1000000 --ops 100000 --count 1 --json
  pgn eval lct --nodes 1000000 --ops 1500000 --count 1 --mode compiled
  pgn eval runs/dsu-pgn --data test.safetensors --json
  pgn eval runs/dsu-pgn --operations mine.csv")]
pub struct Args {
    /// The run directory, or a built-in machine: dsu, lct or forest
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// Score on this data-set file, or CSV of operations (`u,v` per line, a blank line between
    /// sequences, a column for each length); can be repeated
    #[arg(long, visible_alias = "operations", value_name = "FILE", conflicts_with_all = ["nodes", "ops", "count", "seed"])]
    data: Vec<PathBuf>,
    /// Nodes per sequence, one test set for each [default: those of the run, 20,50,100,200]
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    nodes: Vec<usize>,
    /// Operations per sequence, one number for each size [default: 1.5 times the nodes]
    #[arg(long, value_name = "N,...", value_delimiter = ',', requires = "nodes")]
    ops: Vec<usize>,
    /// Sequences in each test set [default: those of the run, 35]
    #[arg(long, value_name = "N")]
    count: Option<usize>,
    /// Seed of the test sets [default: that of the run]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Threads to use; the scores are the same for any number [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Apply the processor more often than in training: nodes:N in proportion to log n, as often as
    /// in training for N nodes; depth:D in proportion to the depth of u and v
    #[arg(long, value_name = "BY:BASE", value_parser = test_layers::parse)]
    test_layers: Option<TestLayers>,
    /// For machines: network, memoised, compiled or checked; the scores are the same [default: memoised]
    #[arg(long, value_name = "MODE", value_parser = machine::mode)]
    mode: Option<Mode>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    task: String,
    model: String,
    seed: u64,
    run: PathBuf,
    /// How a machine was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    test: Vec<TestScores>,
    /// F₁ of counting on each test set; empty for models with an iterated processor.
    counting_f1: Vec<f64>,
    /// Of sampling and evaluation together.
    seconds: f64,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let sets = TestSets {
            nodes: (!self.nodes.is_empty()).then(|| self.nodes.clone()),
            ops: (!self.ops.is_empty()).then(|| self.ops.clone()),
            count: self.count,
            seed: self.seed,
        };
        let mut run = AnyRun::open(&self.run)?;
        let refuse = |flag: &str, what: &str| {
            Usage(format!("{flag} is for {what}; {} is none", self.run.display()))
        };
        match &mut run {
            AnyRun::Model(_) if self.mode.is_some() => {
                return Err(refuse("--mode", "machines").into());
            }
            AnyRun::Model(model) => {
                if let Some(layers) = self.test_layers {
                    model.set_test_layers(layers)?;
                }
            }
            AnyRun::Machine(_) if self.test_layers.is_some() => {
                return Err(refuse("--test-layers", "the paper's models").into());
            }
            AnyRun::Machine(_) => {}
        }
        let mode = self.mode.unwrap_or_default();
        let started = std::time::Instant::now();
        let test = pool(self.threads)?.install(|| match &self.data[..] {
            [] => run.test(&sets, mode, Stop::NEVER),
            files => run.test_files(files, mode, Stop::NEVER),
        })?;
        let seconds = started.elapsed().as_secs_f64();
        let is_machine = matches!(run, AnyRun::Machine(_));
        if !self.json {
            let how = match is_machine {
                true => format!(" ({}, {seconds:.1} s)", mode.name()),
                false => String::new(),
            };
            let table = scores_table::render(&test);
            output::print(&format!("{}{how}\n{table}", run.name()))?;
            let place = self.run.display();
            if !is_machine {
                output::next(&format!(
                    "pgn analyse {place}, or pgn report {place} --out report.html"
                ));
            }
            return Ok(());
        }
        let (task, model, seed) = run.key();
        output::print_json(&Report {
            task: task.to_owned(),
            model: model.to_owned(),
            seed,
            run: self.run.clone(),
            mode: is_machine.then_some(mode),
            counting_f1: test.iter().filter_map(|test| test.counting_f1).collect(),
            test,
            seconds,
        })
    }
}
