//! `pgn train --model pgn-machine`: from micro-steps to a network, and its results.

use std::{
    collections::HashSet,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use pgn_engine::{MachineLosses, MachineNet, SimdLevel, Trainer, TrainerOptions};
use pgn_machines::{Action, Machine, View};
use serde::{Deserialize, Serialize};

use super::{
    MachineConfig, MachineResults, MachineRun, ViewCounts, checkpoint::Checkpoint, results::judge,
};
use crate::{
    Checksums, Error, Result, Results, RunConfig, RunDir, Stop, Timing, checksums, files,
    format::versioned, run_dir::other_run, settings, train::note_arithmetic,
};

/// How a session of training is carried out. None of it changes the outcome.
pub struct MachineSession<'a> {
    /// How long from one checkpoint to the next.
    pub checkpoint_every: Duration,
    /// Set by the caller to stop after the current step, resumably.
    pub stop: &'a AtomicBool,
    /// Called after every evaluated step.
    pub observe: &'a mut dyn FnMut(MachineProgress),
}

/// How far training is.
#[derive(Clone, Debug)]
pub struct MachineProgress {
    /// Steps of Adam taken.
    pub step: u64,
    /// Steps in all.
    pub steps: u64,
    /// Of the last batch.
    pub losses: MachineLosses,
    /// Training views on which the action is right.
    pub right: usize,
    /// Training views.
    pub of: usize,
    /// What the user should know about this session, each one sentence. Told once.
    pub notes: Vec<String>,
}

/// How a session ended.
#[derive(Clone, Debug)]
pub enum MachineOutcome {
    /// All done.
    Finished(Box<MachineResults>),
    /// It had been done before.
    AlreadyFinished(Box<MachineResults>),
    /// Stopped after this step; the same call goes on from there.
    Stopped {
        /// Steps taken.
        step: u64,
    },
}

/// A line of a machine run's `metrics.jsonl`.
#[derive(Serialize, Deserialize)]
pub(crate) struct MachineMetrics {
    pub epoch: u64,
    pub loss: f64,
    pub pointers: f64,
    pub toggles: f64,
    pub marks: f64,
    pub registers: f64,
    pub controls: f64,
    pub states: f64,
    pub right: usize,
    pub views: usize,
    pub margin: f32,
}

/// The pairs that a config trains on: those met in traces, all consistent ones, and what is
/// trained on.
pub(super) struct Views {
    pub met: Vec<(View, Action)>,
    pub consistent: Vec<(View, Action)>,
    pub train: Vec<(View, Action)>,
}

impl Views {
    pub fn of(config: &MachineConfig, machine: &Machine) -> Result<Views> {
        let mut seen = HashSet::new();
        let mut met = Vec::new();
        let sizes = config.data.nodes.len();
        for (index, (&nodes, &ops)) in config.data.nodes.iter().zip(&config.data.ops).enumerate() {
            let share = (config.data.sequences + sizes - 1 - index) / sizes;
            let pairs = machine.sampled_traces(share as u64, nodes, ops, config.seed)?;
            met.extend(pairs.into_iter().filter(|pair| seen.insert(pair.0.clone())));
        }
        let consistent = machine.consistent();
        let mut train = met.clone();
        if config.data.consistent {
            train.extend(consistent.iter().filter(|pair| seen.insert(pair.0.clone())).cloned());
        }
        if train.is_empty() {
            return Err(Error::Config("no view was met: there is nothing to train on".into()));
        }
        Ok(Views { met, consistent: consistent.to_vec(), train })
    }
}

/// The order of views in pass number `pass`.
fn order(views: usize, seed: u64, pass: u64) -> Vec<usize> {
    let mut rng = crate::streams::BATCHES.rng(seed, views as u64, pass);
    let mut order: Vec<usize> = (0..views).collect();
    for i in (1..views).rev() {
        order.swap(i, rng.below(i as u32 + 1) as usize);
    }
    order
}

/// The batches of a training set, one after the other: pass after pass, in an order of its own
/// each. A batch may reach into the next pass, and up to a quarter of it repeats hard views.
pub(super) struct Batches<'a> {
    pairs: &'a [(View, Action)],
    batch: usize,
    seed: u64,
    pass: Option<(u64, Vec<usize>)>,
}

impl<'a> Batches<'a> {
    pub fn new(pairs: &'a [(View, Action)], config: &MachineConfig) -> Self {
        Batches { pairs, batch: config.batch.min(pairs.len()), seed: config.seed, pass: None }
    }

    pub fn of_step(&mut self, step: u64, hard: &[u32]) -> Vec<(&'a View, &'a Action)> {
        let views = self.pairs.len() as u64;
        let repeated = hard.len().min(self.batch / 4);
        let again = (0..repeated).map(|index| {
            let place = (step as usize * repeated + index) % hard.len();
            let (view, action) = &self.pairs[hard[place] as usize % self.pairs.len()];
            (view, action)
        });
        let first = step * self.batch as u64;
        let place = |index: u64| {
            let pass = index / views;
            if self.pass.as_ref().is_none_or(|(known, _)| *known != pass) {
                self.pass = Some((pass, order(self.pairs.len(), self.seed, pass)));
            }
            let order = self.pass.as_ref().map(|(_, order)| order);
            let (view, action) = &self.pairs[order.map_or(0, |o| o[(index % views) as usize])];
            (view, action)
        };
        let rest = first..first + (self.batch - repeated) as u64;
        again.chain(rest.map(place)).collect()
    }
}

/// The learning rate of a step: half a cosine, from the first to nearly 0.
pub(super) fn learning_rate(config: &MachineConfig, step: u64) -> f32 {
    let turn = std::f64::consts::PI * step as f64 / config.epochs.max(1) as f64;
    (config.learning_rate * 0.5 * (1.0 + libm::cos(turn))) as f32
}

/// Trains a machine in a run directory, or goes on where an earlier call was stopped.
///
/// The outcome is the same to the bit however often it is interrupted, and for any number of
/// threads, on machines with the same set of instructions.
pub fn train_machine(
    config: &MachineConfig,
    run: &Path,
    session: MachineSession<'_>,
) -> Result<MachineOutcome> {
    config.validate()?;
    let dir = RunDir::take(run)?;
    let text = settle(&dir, config)?;
    let machine = config.machine()?;
    let fresh = MachineNet::new(machine.signature().clone(), config.network, config.seed)?;
    let path = dir.file(files::CHECKPOINT);
    if crate::is_finished(run) {
        let results: MachineResults = files::read_json(&run.join(files::RESULTS))?;
        results.results.check_files(run)?;
        if path.exists() {
            Checkpoint::load(&path, &text, fresh.parameters())?;
        }
        return Ok(MachineOutcome::AlreadyFinished(Box::new(results)));
    }
    let views = Views::of(config, &machine)?;
    let mut arithmetic = Vec::new();
    let options = TrainerOptions::default();
    let (mut trainer, mut metrics, mut hard, before) = if path.exists() {
        let found = Checkpoint::load(&path, &text, fresh.parameters())?;
        arithmetic = found.arithmetic;
        (Trainer::resume(fresh, options, found.state)?, found.metrics, found.hard, found.seconds)
    } else {
        (Trainer::new(fresh, options)?, String::new(), Vec::new(), 0.0)
    };
    let mut notes: Vec<String> =
        note_arithmetic(&mut arithmetic, SimdLevel::best().name()).into_iter().collect();
    let started = Instant::now();
    let mut saved = started;
    let mut batches = Batches::new(&views.train, config);
    while trainer.steps() < config.epochs {
        let step = trainer.steps();
        let batch = batches.of_step(step, &hard);
        trainer.set_learning_rate(learning_rate(config, step))?;
        let losses = trainer.step(&batch)?;
        let step = step + 1;
        if step % config.evaluate_every == 0 || step == config.epochs {
            let of = views.train.len();
            let judged = judge(trainer.model(), &views.train)?;
            metrics += &line(step, &losses, (judged.right, of), judged.margin);
            let right = judged.right;
            hard = judged.hard;
            let (steps, notes) = (config.epochs, std::mem::take(&mut notes));
            (session.observe)(MachineProgress { step, steps, losses, right, of, notes });
        }
        let stop = session.stop.load(Ordering::Relaxed);
        if stop || saved.elapsed() >= session.checkpoint_every || step == config.epochs {
            dir.check()?;
            let seconds = before + started.elapsed().as_secs_f64();
            let state = trainer.state();
            let checkpoint = Checkpoint {
                state,
                hard: hard.clone(),
                seconds,
                metrics: metrics.clone(),
                arithmetic: arithmetic.clone(),
            };
            dir.place(files::CHECKPOINT, |path| checkpoint.save(path, &text))?;
            dir.write(files::METRICS, metrics.as_bytes())?;
            saved = Instant::now();
        }
        if stop && step < config.epochs {
            return Ok(MachineOutcome::Stopped { step });
        }
    }
    let seconds = before + started.elapsed().as_secs_f64();
    let net = trainer.model().clone();
    dir.write(files::MODEL, &net.parameters().to_bytes())?;
    let run = MachineRun::new(config.clone(), machine, net);
    let mut results = match finish(&run, &views, seconds, Stop::when(session.stop)) {
        Err(Error::Stopped) => return Ok(MachineOutcome::Stopped { step: config.epochs }),
        results => results?,
    };
    results.results.arithmetic = arithmetic;
    results.results.files = checksums::of_run(&dir)?;
    dir.write_results(&results)?;
    Ok(MachineOutcome::Finished(Box::new(results)))
}

/// Writes `config.toml`, or refuses a directory that holds another run.
fn settle(dir: &RunDir, config: &MachineConfig) -> Result<String> {
    let path = dir.file(files::CONFIG);
    if !path.exists() {
        let text = versioned(&config.to_toml());
        dir.write(files::CONFIG, text.as_bytes())?;
        return Ok(text);
    }
    let there = match MachineConfig::is_in(dir.path()) {
        true => MachineConfig::load(&path)?.flat(),
        false => RunConfig::load(&path)?.flat(),
    };
    match settings::difference(&config.flat(), &there) {
        None => files::read_text(&path),
        Some(difference) => Err(other_run(dir.path(), difference)),
    }
}

fn line(step: u64, losses: &MachineLosses, (right, views): (usize, usize), margin: f32) -> String {
    let line = MachineMetrics {
        epoch: step,
        loss: losses.total,
        pointers: losses.pointers,
        toggles: losses.toggles,
        marks: losses.marks,
        registers: losses.registers,
        controls: losses.controls,
        states: losses.states,
        right,
        views,
        margin,
    };
    let mut text = serde_json::to_string(&line).unwrap_or_default();
    text.push('\n');
    text
}

/// Counts views and scores the trained machine on its test sets.
fn finish(run: &MachineRun, views: &Views, seconds: f64, stop: Stop<'_>) -> Result<MachineResults> {
    let (config, net) = (run.config(), run.net());
    let met_right = judge(net, &views.met)?.right;
    let judged = judge(net, &views.consistent)?;
    let tested = Instant::now();
    let validation = run.validation_scores(stop)?;
    let test = run.test(&config.test, config.seed, super::Mode::Memoised, stop)?;
    let defaults = MachineConfig::new(&config.task, config.seed);
    let results = Results {
        task: config.task.clone(),
        model: config.model.clone(),
        seed: config.seed,
        epochs: config.epochs,
        best_epoch: config.epochs,
        parameters: net.parameters().values().len(),
        departures: departures(config, &defaults),
        validation,
        test,
        timing: Timing {
            train_seconds: seconds,
            epochs_per_second: config.epochs as f64 / seconds.max(1e-9),
            test_seconds: tested.elapsed().as_secs_f64(),
            threads: rayon::current_num_threads(),
        },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        arithmetic: Vec::new(),
        files: Checksums::new(),
    };
    Ok(MachineResults {
        results,
        supervision: "micro-steps: views and actions of the program".to_owned(),
        views: ViewCounts {
            met: views.met.len(),
            consistent: views.consistent.len(),
            trained_on: views.train.len(),
            met_right,
            consistent_right: judged.right,
            margin: judged.margin,
        },
    })
}

/// Settings that differ from the defaults, by key.
fn departures(
    config: &MachineConfig,
    defaults: &MachineConfig,
) -> std::collections::BTreeMap<String, String> {
    let (mut ours, theirs) = (config.flat(), defaults.flat());
    ours.retain(|key, value| theirs.get(key) != Some(value));
    ours
}
