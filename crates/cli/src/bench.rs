//! `pgn bench`: how fast this machine trains and rolls out, and our side of `bench/compare`.

use std::{
    fmt::Write as _,
    io::{self, BufRead, Write},
    ops::ControlFlow,
    path::PathBuf,
    sync::Arc,
    time::Instant,
};

use anyhow::{Context, Result, bail};
use pgn_engine::{
    Config, Example, Model, Pointers, Search, Trainer, TrainerOptions, cost, left_alone,
};
use pgn_lab::Run;
use pgn_structures::{Dataset, Sampling, Split, Task};
use serde::Serialize;

use crate::{output, search, steps::Steps, threads::pool};

/// Measure training and rollout speed on this machine
///
/// Prints the time of one training epoch of the paper's setting (70 sequences of 20 nodes and 30
/// operations; forward, backward and Adam step) and of one operation of a rollout at growing sizes,
/// with the share of the machine's peak that each reaches. Medians over --repeats: keep the machine
/// otherwise idle. The comparison with JAX and PyTorch is the script `bench/compare`.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn bench
  pgn bench --models pgn,gnn --sizes 100,1000 --threads 1 --json
  pgn bench --run runs/dsu-pgn --sizes 1000,100000
  pgn bench --run runs/dsu-pgn-nm --sizes 10000 --search full,exact")]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// The models to train
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "pgn,gnn,deepsets")]
    models: Vec<String>,
    /// Numbers of nodes for the rollouts
    #[arg(long, value_name = "NODES", value_delimiter = ',', default_value = "20,100,1000,10000")]
    sizes: Vec<usize>,
    /// Operations per sequence
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    ops: u32,
    /// Roll out the model of this run directory [default: an untrained pgn, with random masks]
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// How the rollouts search for pointers; several are measured one after the other. With others
    /// than full, the share of pointers that are those of the full search is measured too
    #[arg(long, value_name = "HOW,...", value_delimiter = ',', default_value = "full", value_parser = search::parse)]
    search: Vec<Search>,
    /// Repetitions of each measurement
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Our side of bench/compare: measures on request, one JSON line each
    Peer(Peer),
}

/// A contestant loads its files, warms up, prints `{"ready": true, …}` with the losses of the given
/// weights, and answers each line `run` with `{"seconds": …}` until it reads `quit`.
#[derive(clap::Args)]
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

/// What an epoch is.
const SETTING: &str = "70 sequences, 20 nodes, forward + backward + Adam";

/// One line of the report.
#[derive(Serialize)]
struct Measurement {
    what: String,
    /// Median seconds of an epoch, or of an operation.
    seconds: f64,
    /// Arithmetic it needs, in GFLOP.
    needed_gflop: f64,
    /// Share of the peak of all threads.
    share_of_peak: f64,
    /// Share of pointers that are those of the full search, for other ways to search.
    #[serde(skip_serializing_if = "Option::is_none")]
    recall: Option<f64>,
}

#[derive(Serialize)]
struct Report {
    threads: usize,
    instructions: &'static str,
    fma_peak_gflops: f64,
    measurements: Vec<Measurement>,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        match self.command {
            Some(Command::Peer(peer)) => pool(Some(peer.threads))?.install(|| peer.run()),
            None => {
                let pool = pool(self.threads)?;
                let report = pool.install(|| self.measure())?;
                if self.json { output::print_json(&report) } else { output::print(&report.table()) }
            }
        }
    }

    fn measure(&self) -> Result<Report> {
        let threads = rayon::current_num_threads();
        let level = pgn_engine::SimdLevel::best();
        let peak = peak_of_all_threads();
        let measurement = |what: String, seconds: f64, flop: u64| Measurement {
            what,
            seconds,
            needed_gflop: flop as f64 / 1e9,
            share_of_peak: flop as f64 / seconds / peak,
            recall: None,
        };
        let mut measurements = Vec::new();
        let steps = Steps::new("bench", self.models.len() + self.sizes.len());
        let dsu = Task::named("dsu")?;
        let ops = self.ops as usize;
        let training = sample(&dsu, 20, ops, 70)?;
        for name in &self.models {
            let model = Model::new(Config::preset(name)?, 0)?;
            let batch = examples(model.config(), &training);
            let mut trainer = Trainer::new(model, TrainerOptions::default())?;
            steps.begin(name);
            let seconds = median(self.repeats, || Ok(trainer.step(&batch).map(drop)?))?;
            steps.done();
            let flop = cost::training_flop(trainer.model().config(), training.sequences());
            measurements.push(measurement(format!("{name}, an epoch"), seconds, flop));
        }
        let (name, task, model) = match &self.run {
            None => {
                let model = Model::new(Config::preset("pgn")?, 0)?;
                ("untrained pgn".into(), dsu, Arc::new(model))
            }
            Some(run) => {
                let run = Run::load(run)?;
                (run.config().model.clone(), run.task()?.clone(), run.model().clone())
            }
        };
        for &nodes in &self.sizes {
            let data = sample(&task, nodes, ops, 1)?;
            let example = Example::oracle(model.config(), data.sequence(0));
            let (_, flop) = needed_by(&model, example)?;
            let repeats = self.repeats.min(5);
            steps.begin(&format!("n = {nodes}"));
            for &search in &self.search {
                let model = Model::clone(&model).searching(search);
                let seconds = median(repeats, || Ok(model.rollout(example).map(drop)?))?;
                let mut what = format!("{name}, an operation at n = {nodes}");
                let mut recall = None;
                if search != Search::Full {
                    what += &format!(", {search}");
                    recall = recall_of(&model, example)?;
                }
                let measured = measurement(what, seconds / ops as f64, flop / ops as u64);
                measurements.push(Measurement { recall, ..measured });
            }
            steps.done();
        }
        let fma_peak_gflops = peak / 1e9;
        Ok(Report { threads, instructions: level.name(), fma_peak_gflops, measurements })
    }
}

impl Report {
    fn table(&self) -> String {
        let mut text = format!(
            "Time of one training epoch ({SETTING})\nand of one operation of a rollout: medians; {} \
             threads, {}, peak {:.0} GFLOP/s.\n\n{:<44}{:>12}{:>10}{:>9}\n",
            self.threads, self.instructions, self.fma_peak_gflops, "", "time", "GFLOP/s", "of peak"
        );
        for m in &self.measurements {
            let _ = write!(
                text,
                "{:<44}{:>12}{:>10.1}{:>8.0}%",
                m.what,
                duration(m.seconds),
                m.needed_gflop / m.seconds,
                100.0 * m.share_of_peak
            );
            if let Some(recall) = m.recall {
                let _ = write!(text, "  {:.2} % as in the full search", 100.0 * recall);
            }
            text.push('\n');
        }
        text
    }
}

impl Peer {
    fn run(&self) -> Result<()> {
        let data = Dataset::load(&self.data)?;
        let model = Model::load(Config::preset(&self.model)?, &self.weights)?;
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

fn sample(task: &Task, nodes: usize, ops: usize, count: usize) -> Result<Dataset> {
    let sampling = Sampling { nodes, ops, count, seed: 1, split: Split::Train };
    Ok(Dataset::sample(task, &sampling)?)
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

/// Of some of the nodes that a rollout re-aims, the share that ends up pointing to a node with the
/// highest α there is.
fn recall_of(model: &Model, example: Example) -> Result<Option<f64>> {
    /// Nodes that are looked at after each operation.
    const SAMPLE: usize = 20;
    let heeds_masks = model.config().pointers == Pointers::Masked;
    let (mut right, mut of) = (0, 0);
    model.replay(example, |step| {
        let (masks, pointers) = (step.mask_logits(), step.pointers());
        let asking = |node: &usize| !heeds_masks || !left_alone(masks[*node]);
        let nodes: Vec<usize> = (0..pointers.len()).filter(asking).collect();
        for &node in nodes.iter().step_by(nodes.len().div_ceil(SAMPLE).max(1)) {
            let Some(alpha) = step.state().attention(node as u32) else { continue };
            let highest = alpha.iter().fold(0.0f32, |most, &value| most.max(value));
            right += usize::from(alpha[pointers[node] as usize] == highest);
            of += 1;
        }
        ControlFlow::Continue(())
    })?;
    Ok((of > 0).then(|| right as f64 / of as f64))
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

fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.1} µs", s * 1e6),
    }
}
