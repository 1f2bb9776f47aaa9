//! `pgn-machine`: a network that learns a program's action on each view.

use std::collections::HashSet;

use pgn_engine::{MachineNet, MachineSettings, Parameters, Trainer};
use pgn_machines::{Action, Machine, Trial, View, programs};
use pgn_structures::{Task, did_you_mean};

use super::{Initial, Learner, LearnerState, Network, Tested, options};
use pgn_runs::Stop;

use crate::{
    Decay, Error, MachineConfig, Result, TestSets, ViewCounts, batches,
    learner::{Best, Evaluation, ViewsRight},
    machine::{MACHINE_MODEL, MachineRun, Mode},
    metrics::EpochLosses,
};

impl Network for MachineSettings {
    const MODEL: &'static str = MACHINE_MODEL;

    fn preset(model: &str) -> Result<MachineSettings> {
        match model {
            MACHINE_MODEL => Ok(MachineSettings::default()),
            _ => Err(Error::config("model", format!("model is {model}; expected {MACHINE_MODEL}"))),
        }
    }

    fn adjust_defaults(config: &mut MachineConfig) {
        config.epochs = 1_600;
        config.learning_rate = 0.01;
        config.decay = Decay::Cosine;
        config.final_fraction = 0.0;
        config.clip = 0.0;
        config.batch = 64;
        config.evaluate_every = 20;
        config.data.ops = vec![900];
        config.data.sequences = 100;
    }

    fn adapt(_: &mut MachineConfig, _: Option<&Task>) -> Result<()> {
        Ok(())
    }

    /// Rare views are those of trees that many operations have made.
    fn settle(
        config: &mut MachineConfig,
        _: Option<&Task>,
        [_, ops_given, _]: [bool; 3],
        _: bool,
    ) -> Result<()> {
        if !ops_given {
            config.data.ops = config.data.nodes.iter().map(|n| n.saturating_mul(45)).collect();
        }
        Ok(())
    }

    fn validate(config: &MachineConfig) -> Result<()> {
        let invalid = |key: &str, what: &str| Err(Error::config(key, what));
        config.network.check()?;
        if config.model != MACHINE_MODEL {
            return Err(Error::config(
                "model",
                format!("model is {}; expected {MACHINE_MODEL}", config.model),
            ));
        }
        if config.batch == 0 {
            return invalid("batch", "batch is 0; expected at least 1 view");
        }
        let data = &config.data;
        if data.train.is_some() || data.validation.is_some() || data.teacher.is_some() {
            return invalid(
                "data.train",
                "data.train, data.validation and data.teacher are for models; a machine learns from its program",
            );
        }
        if data.stream || data.transitions.is_some() || config.teacher_probability > 0.0 {
            return invalid(
                "data.stream",
                "data.stream, data.transitions and teacher_probability are for models",
            );
        }
        if !data.consistent && data.sequences == 0 {
            return invalid(
                "data.sequences",
                "data.sequences is 0 and data.consistent is false: there is nothing to train on",
            );
        }
        config.machine().map(drop)
    }

    /// Views are few and small.
    fn check_memory(_: &MachineConfig) -> Result<()> {
        Ok(())
    }

    fn learner<'a>(
        config: &'a MachineConfig,
        _: Option<Task>,
        initial: Option<&Initial>,
    ) -> Result<Box<dyn Learner + 'a>> {
        if let Some(Initial { path, .. }) = initial {
            let what = "it cannot be where a machine begins; only models take initial weights";
            return Err(Error::file(path, what));
        }
        let machine = config.machine()?;
        let net = MachineNet::new(machine.signature().clone(), config.network, config.seed)?;
        let views = views_of(config, &machine)?;
        let order = (0, Vec::new());
        let trainer = Trainer::new(net, options(config))?;
        Ok(Box::new(MachineLearner {
            config,
            machine,
            views,
            trainer,
            hard: Vec::new(),
            taken: 0,
            order,
        }))
    }
}

impl MachineConfig {
    /// The program with its lenses.
    pub fn machine(&self) -> Result<Machine> {
        let Some(program) = programs::named(&self.task) else {
            return Err(Error::config(
                "task",
                format!(
                    "there is no program '{}' for model {MACHINE_MODEL}; expected one of {}{}",
                    self.task,
                    programs::NAMES.join(", "),
                    did_you_mean(&self.task, programs::NAMES)
                ),
            ));
        };
        Ok(Machine::new(program)?)
    }
}

/// The pairs that a config trains on: those met in traces, all consistent ones, and what is
/// trained on.
struct Views {
    met: Vec<(View, Action)>,
    consistent: Vec<(View, Action)>,
    train: Vec<(View, Action)>,
}

fn views_of(config: &MachineConfig, machine: &Machine) -> Result<Views> {
    let mut seen = HashSet::new();
    let mut met = Vec::new();
    let sizes = config.data.nodes.len();
    for (index, (&nodes, &ops)) in config.data.nodes.iter().zip(&config.data.ops).enumerate() {
        let share = (config.data.sequences + sizes - 1 - index) / sizes;
        let trial = Trial { sequences: share as u64, nodes, operations: ops, seed: config.seed };
        // A view that is not consistent is best explained by the clause that excludes it.
        let pairs = machine.sampled_traces(trial).or_else(|error| {
            if matches!(error, pgn_machines::Error::Undefined { .. }) {
                machine.test_assumptions(trial)?;
            }
            Err(error)
        })?;
        met.extend(pairs.into_iter().filter(|pair| seen.insert(pair.0.clone())));
    }
    let consistent = machine.consistent();
    let mut train = met.clone();
    if config.data.consistent {
        train.extend(consistent.iter().filter(|pair| seen.insert(pair.0.clone())).cloned());
    }
    if train.is_empty() {
        return Err(Error::config("data", "no view was met: there is nothing to train on"));
    }
    Ok(Views { met, consistent: consistent.to_vec(), train })
}

/// A machine with what it is trained on. An epoch is one step of Adam.
struct MachineLearner<'a> {
    config: &'a MachineConfig,
    machine: Machine,
    views: Views,
    trainer: Trainer<MachineNet>,
    /// The training views that are not yet right by a clear margin.
    hard: Vec<u32>,
    /// Views taken so far from passes over the training set, each in an order of its own.
    taken: u64,
    /// The pass that [`MachineLearner::taken`] is in, and its order.
    order: (u64, Vec<usize>),
}

impl MachineLearner<'_> {
    /// The places of the views of the next step. Up to a quarter of a batch repeats hard views; the
    /// rest goes on where the last batch ended, if need be into the next pass.
    fn batch(&mut self, step: u64) -> Vec<usize> {
        let views = self.views.train.len();
        let size = self.config.batch.min(views);
        let repeated = self.hard.len().min(size / 4);
        let again = |index: usize| {
            let place = (step as usize * repeated + index) % self.hard.len();
            self.hard[place] as usize % views
        };
        let mut batch: Vec<usize> = (0..repeated).map(again).collect();
        for _ in repeated..size {
            let pass = self.taken / views as u64;
            if self.order.1.is_empty() || self.order.0 != pass {
                self.order = (pass, batches::shuffled(self.config.seed, pass, views));
            }
            batch.push(self.order.1[(self.taken % views as u64) as usize]);
            self.taken += 1;
        }
        batch
    }
}

impl Learner for MachineLearner<'_> {
    fn shape(&self) -> Parameters {
        self.trainer.model().parameters().clone()
    }

    fn resume(&mut self, state: LearnerState) -> Result<()> {
        let LearnerState { trainer, hard, taken } = state;
        let net = self.trainer.model().clone();
        self.trainer = Trainer::resume(net, options(self.config), trainer)?;
        (self.hard, self.taken) = (hard, taken);
        Ok(())
    }

    fn state(&self) -> LearnerState {
        LearnerState { trainer: self.trainer.state(), hard: self.hard.clone(), taken: self.taken }
    }

    fn parameters(&self) -> &Parameters {
        self.trainer.model().parameters()
    }

    fn epoch(&mut self, epoch: u64, learning_rate: f32) -> Result<EpochLosses> {
        let places = self.batch(epoch - 1);
        let pair = |place: usize| {
            let (view, action) = &self.views.train[place];
            (view, action)
        };
        let batch: Vec<_> = places.into_iter().map(pair).collect();
        self.trainer.set_learning_rate(learning_rate)?;
        let losses = self.trainer.step(&batch)?;
        Ok(EpochLosses::new(losses.iter(), losses.total))
    }

    fn evaluate(&mut self) -> Result<Evaluation> {
        let counted = count_right(self.trainer.model(), &self.views.train)?;
        self.hard = counted.hard;
        let of = self.views.train.len();
        let views = ViewsRight { right: counted.right, of, margin: counted.margin };
        Ok(Evaluation { validation: None, views: Some(views) })
    }

    /// The views are all that there is to learn: more steps do not overfit them, so the latest
    /// weights are kept unless fewer views are right.
    fn improves(&self, now: &Evaluation, best: &Evaluation) -> bool {
        now.score() >= best.score()
    }

    fn test(&self, best: &Best, stop: Stop<'_>) -> Result<Tested> {
        let config = self.config;
        let signature = self.machine.signature().clone();
        let net = MachineNet::from_parameters(signature, config.network, best.parameters.clone())?;
        let met_right = count_right(&net, &self.views.met)?.right;
        let counted = count_right(&net, &self.views.consistent)?;
        let run = MachineRun::new(config.clone(), self.machine.clone(), net);
        let validation = run.validation_scores(stop)?;
        let test = run.test(&TestSets::default(), Mode::Memoised, stop)?;
        let supervision = match config.data.consistent {
            true => "micro-steps: the program's action on every consistent view",
            false => "micro-steps: views and actions of traces",
        };
        let views = ViewCounts {
            met: self.views.met.len(),
            consistent: self.views.consistent.len(),
            trained_on: self.views.train.len(),
            met_right,
            consistent_right: counted.right,
            margin: counted.margin,
        };
        Ok(Tested { validation, test, views: Some((supervision.to_owned(), views)) })
    }
}

/// How a network does on some views.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counted {
    /// On how many the action is right.
    right: usize,
    /// The smallest margin.
    margin: f32,
    /// The places of those that are wrong or not clear: see [`CLEAR`].
    hard: Vec<u32>,
}

/// The margin from which on a decision is taken to be learned.
const CLEAR: f32 = 1.0;

fn count_right(net: &MachineNet, pairs: &[(View, Action)]) -> Result<Counted> {
    let views: Vec<&View> = pairs.iter().map(|(view, _)| view).collect();
    let mut counted = Counted { margin: f32::INFINITY, ..Counted::default() };
    for (place, prediction) in net.predictions(&views)?.into_iter().enumerate() {
        let right = prediction.action == pairs[place].1;
        counted.right += usize::from(right);
        counted.margin = counted.margin.min(prediction.margin);
        if !right || prediction.margin < CLEAR {
            counted.hard.push(place as u32);
        }
    }
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hard_views_displace_no_other_in_a_pass() {
        let mut config = MachineConfig::defaults("forest", MACHINE_MODEL, 0).unwrap();
        config.batch = 8;
        let machine = config.machine().unwrap();
        let views = views_of(&config, &machine).unwrap();
        let net = MachineNet::new(machine.signature().clone(), config.network, 0).unwrap();
        let trainer = Trainer::new(net, options(&config)).unwrap();
        let (hard, order) = (vec![0, 5], (0, Vec::new()));
        let mut learner =
            MachineLearner { config: &config, machine, views, trainer, hard, taken: 0, order };
        let all = learner.views.train.len();
        let mut seen: Vec<usize> = Vec::new();
        for step in 0..all as u64 {
            // Behind the two that are repeated.
            seen.extend(&learner.batch(step)[2..]);
        }
        for pass in seen.chunks_exact(all) {
            let mut pass = pass.to_vec();
            pass.sort_unstable();
            assert!(pass.into_iter().eq(0..all));
        }
    }
}
