//! Our side of `bench/compare`: measures on request, one JSON line each.

use std::{
    io::{self, BufRead, Write},
    ops::ControlFlow,
    path::PathBuf,
    time::Instant,
};

use anyhow::{Context, Result, bail};
use clap::Parser;
use pgn_engine::{Config, Example, Model, Trainer, TrainerOptions, cost, left_alone};
use pgn_structures::Dataset;

/// A contestant loads its files, warms up, prints `{"ready": true, …}` with the losses of the given
/// weights, and answers each line `run` with `{"seconds": …}` until it reads `quit`.
#[derive(clap::Parser)]
struct Peer {
    /// The data-set file
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The weights, a model.safetensors
    #[arg(long, value_name = "FILE")]
    weights: PathBuf,
    /// The model
    #[arg(long, value_name = "NAME", default_value = "pgn")]
    model: String,
    /// What to measure
    #[arg(long, value_name = "MODE")]
    mode: Mode,
    /// Threads to use
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    /// Repetitions in a turn; their median is reported
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Mode {
    /// One training epoch on the whole data set
    Epoch,
    /// One free rollout of the first sequence
    Rollout,
}

fn main() -> Result<()> {
    let peer = Peer::parse();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(peer.threads).build()?;
    pool.install(|| peer.run())
}

impl Peer {
    fn run(&self) -> Result<()> {
        let data = Dataset::load(&self.data)?;
        // The peers weight every loss and every node once.
        let mut config = Config::preset(&self.model)?;
        config.losses.pointers = config.losses.pointers.min(1.0);
        config.visited_weight = 1.0;
        let model = Model::load(config, &self.weights)?;
        let batch = examples(model.config(), &data);
        match self.mode {
            Mode::Epoch => {
                let flop = cost::training_flop(model.config(), data.sequences());
                let mut trainer = Trainer::new(model, TrainerOptions::default())?;
                let losses = trainer.step(&batch)?;
                let mut named = serde_json::json!({ "query": losses.query, "total": losses.total });
                if trainer.model().config().has_masks() {
                    named["masks"] = losses.masks.into();
                    named["pointers"] = losses.pointers.into();
                }
                self.serve(named, None, flop, || Ok(trainer.step(&batch).map(drop)?))
            }
            Mode::Rollout => {
                let Some(&example) = batch.first() else {
                    bail!("{}: no sequences; expected at least one", self.data.display());
                };
                let sequence = example.sequence;
                let rollout = model.rollout(example)?;
                let mut named = serde_json::json!({
                    "query": mean_loss(&rollout.query_logits, sequence.answers)
                });
                if let Some(logits) = &rollout.mask_logits {
                    named["masks"] = mean_loss(logits, sequence.masks).into();
                }
                let (visited, flop) = needed_by(&model, example)?;
                let moved = rollout.mask_logits.is_some().then_some(visited);
                self.serve(named, moved, flop, || Ok(model.rollout(example).map(drop)?))
            }
        }
    }

    /// Holds the conversation.
    fn serve(
        &self,
        losses: serde_json::Value,
        moved: Option<usize>,
        flop: u64,
        mut repetition: impl FnMut() -> Result<()>,
    ) -> Result<()> {
        let mut ready = serde_json::json!({
            "ready": true,
            "losses": losses,
            "framework": format!("pgn {}", env!("CARGO_PKG_VERSION")),
            "threads": self.threads,
            "fma_peak_gflops": peak_of_all_threads() / 1e9,
            "needed_gflop": flop as f64 / 1e9,
        });
        if let Some(moved) = moved {
            ready["moved"] = moved.into();
        }
        say(&ready)?;
        for line in io::stdin().lock().lines() {
            match line.context("standard input cannot be read")?.trim() {
                "quit" => break,
                "run" => {
                    let seconds = median(self.repeats, &mut repetition)?;
                    say(&serde_json::json!({ "seconds": seconds }))?;
                }
                other => bail!("unknown command '{other}'; expected 'run' or 'quit'"),
            }
        }
        Ok(())
    }
}

fn say(message: &serde_json::Value) -> Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{message}")?;
    Ok(stdout.flush()?)
}

/// The sequences of a set; models to which pointers are given get the truth's.
fn examples<'a>(config: &Config, set: &'a Dataset) -> Vec<Example<'a>> {
    set.sequences().map(|sequence| Example::oracle(config, sequence)).collect()
}

/// How many nodes a rollout visits, over all operations, and the arithmetic it needs.
fn needed_by(model: &Model, example: Example) -> Result<(usize, u64)> {
    let (mut visited, mut flop) = (0, 0);
    model.replay(example, |step| {
        visited += step.mask_logits().iter().filter(|&&logit| !left_alone(logit)).count();
        flop += step.state().flop();
        ControlFlow::Continue(())
    })?;
    Ok((visited, flop))
}

/// Mean binary cross-entropy.
fn mean_loss(logits: &[f32], targets: &[u8]) -> f64 {
    let total: f64 = logits
        .iter()
        .zip(targets)
        .map(|(&logit, &target)| {
            let x = f64::from(logit);
            x.max(0.0) - x * f64::from(target) + (-x.abs()).exp().ln_1p()
        })
        .sum();
    total / logits.len() as f64
}

/// Multiply-add peak of all threads at once, in FLOP/s: cores that share a clock or a power budget
/// do less together than apart.
fn peak_of_all_threads() -> f64 {
    rayon::broadcast(|_| cost::fma_peak(pgn_engine::SimdLevel::best())).into_iter().sum()
}

/// The median time of a repetition, in seconds, after one that is not counted.
fn median(repeats: u32, mut repetition: impl FnMut() -> Result<()>) -> Result<f64> {
    repetition()?;
    let mut seconds = Vec::new();
    for _ in 0..repeats {
        let start = Instant::now();
        repetition()?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[seconds.len() / 2])
}
