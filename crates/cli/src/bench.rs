//! `pgn bench`: how fast this machine trains and rolls out.

use std::{fmt::Write as _, ops::ControlFlow, path::PathBuf, sync::Arc, time::Instant};

use anyhow::Result;
use pgn_engine::{Config, Example, Model, Trainer, TrainerOptions, cost};
use pgn_lab::Run;
use pgn_structures::{Dataset, Sampling, Split, Task};
use serde::Serialize;

use crate::{output, steps::Steps, threads::pool};

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
  pgn bench --run runs/dsu-pgn --sizes 1000,100000")]
pub struct Args {
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
        let report = pool(self.threads)?.install(|| self.measure())?;
        if self.json { output::print_json(&report) } else { output::print(&report.table()) }
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
        };
        let mut measurements = Vec::new();
        let steps = Steps::new("bench", self.models.len() + self.sizes.len());
        let dsu = Task::named("dsu")?;
        let ops = self.ops as usize;
        let training = sample(&dsu, 20, ops, 70)?;
        for name in &self.models {
            let model = Model::new(Config::preset(name).map_err(output::misspelt)?, 0)?;
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
            let flop = flop_of(&model, example)?;
            let repeats = self.repeats.min(5);
            steps.begin(&format!("n = {nodes}"));
            let seconds = median(repeats, || Ok(model.rollout(example).map(drop)?))?;
            steps.done();
            let what = format!("{name}, an operation at n = {nodes}");
            measurements.push(measurement(what, seconds / ops as f64, flop / ops as u64));
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
            let _ = write!(text, "{:<44}{:>12}", m.what, duration(m.seconds));
            let (rate, share) = (m.needed_gflop / m.seconds, 100.0 * m.share_of_peak);
            // The arithmetic of pgn-exact is not counted.
            let _ = match rate > 0.0 {
                true => writeln!(text, "{rate:>10.1}{share:>8.0}%"),
                false => writeln!(text, "{:>10}{:>9}", "-", "-"),
            };
        }
        text
    }
}

fn sample(task: &Task, nodes: usize, ops: usize, count: usize) -> Result<Dataset> {
    let sampling = Sampling { nodes, ops, count, seed: 1, split: Split::Train };
    Ok(Dataset::sample(task, &sampling)?)
}

/// The sequences of a set; models to which pointers are given get the truth's.
fn examples<'a>(config: &Config, set: &'a Dataset) -> Vec<Example<'a>> {
    set.sequences().map(|sequence| Example::oracle(config, sequence)).collect()
}

/// The arithmetic that a rollout needs.
fn flop_of(model: &Model, example: Example) -> Result<u64> {
    let mut flop = 0;
    model.replay(example, |step| {
        flop += step.state().flop();
        ControlFlow::Continue(())
    })?;
    Ok(flop)
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
