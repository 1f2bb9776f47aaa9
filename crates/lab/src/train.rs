//! The training loop: epochs of Adam steps, early stopping, checkpoints, the final test.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use pgn_engine::{Model, Parameters, SimdLevel, Trainer, TrainerOptions};
use pgn_structures::{Curriculum, OwnedTransition, Task};
use rayon::prelude::*;

use crate::{
    EpochLosses, Metrics, Result, Results, RunConfig, RunDir, Timing, batches,
    best::Best,
    checkpoint::Checkpoint,
    checksums,
    data::Data,
    error::Error,
    evaluate::evaluate,
    events::{EventFile, check_events},
    files, limits,
    metrics::MetricsFile,
    results::is_finished,
    schedule::linear,
    stop::Stop,
    teacher::Teacher,
    test::test,
};

/// What [`train`] needs to know besides the config; nothing in here changes the outcome.
pub struct Session<'a> {
    /// The data structure, if it is not one of the built-in ones.
    pub task: Option<Task>,
    /// Time from one checkpoint to the next.
    pub checkpoint_every: Duration,
    /// Set by someone else to stop the run after the current epoch, or while it is tested.
    pub stop: &'a AtomicBool,
    /// Told after every epoch.
    pub observe: &'a mut (dyn FnMut(&Progress) + Send),
}

/// Where a run stands after an epoch.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Epochs done.
    pub epoch: u64,
    /// Epochs to do in all.
    pub epochs: u64,
    /// The total loss of the last epoch; `None` before the first of this session.
    pub loss: Option<f64>,
    /// Validation F₁ at the last evaluation.
    pub f1: Option<f64>,
    /// The best so far, and its epoch.
    pub best: Option<(f64, u64)>,
    /// What the user should know about this session, each one sentence: what is damaged, or not
    /// as it was. Told once, before the first epoch.
    pub notes: Vec<String>,
}

/// How a session of training ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The run is finished.
    Finished(Results),
    /// It had been finished before; nothing was done.
    AlreadyFinished(Results),
    /// It was told to stop, and stopped after this epoch, with a checkpoint.
    Stopped {
        /// Epochs done.
        epoch: u64,
    },
}

/// Trains in the directory `run`, or goes on where an earlier session left off.
///
/// Parallel on the current rayon pool; the outcome is the same bits for any number of threads
/// and however often the run was cut short, on machines with the same set of instructions: see
/// [`Results::arithmetic`].
///
/// ```
/// use std::{sync::atomic::AtomicBool, time::Duration};
/// use pgn_lab::{Outcome, RunConfig, Session, train};
///
/// let config = RunConfig::resolve(toml::toml! {
///     task = "dsu"
///     model = "pgn"
///     epochs = 3
///     data = { sequences = 4, validation_sequences = 2 }
///     test = { nodes = [20], sequences = 2 }
/// })?;
/// let dir = tempfile::tempdir().unwrap();
/// let session = Session {
///     task: None,
///     checkpoint_every: Duration::from_secs(30),
///     stop: &AtomicBool::new(false),
///     observe: &mut |progress| assert!(progress.epoch <= 3),
/// };
/// let Outcome::Finished(results) = train(&config, dir.path(), session)? else { panic!() };
/// assert!((0.0..=1.0).contains(&results.at(20).unwrap().f1));
/// # Ok::<(), pgn_lab::Error>(())
/// ```
pub fn train(config: &RunConfig, run: &Path, session: Session<'_>) -> Result<Outcome> {
    config.validate()?;
    limits::check_training(config)?;
    let task = match session.task.clone() {
        Some(task) if task.name() == config.task => task,
        Some(task) => {
            return Err(Error::Config(format!(
                "task is {}, but the structure to train on is {}",
                config.task,
                task.name()
            )));
        }
        None => {
            pgn_machines::programs::build_in_tasks();
            Task::named(&config.task)?
        }
    };
    let run = RunDir::take(run)?;
    let config_text = run.settle_config(config)?;
    if is_finished(run.path()) {
        let results = Results::load(run.path())?;
        results.check_files(run.path())?;
        let [checkpoint, events] = [files::CHECKPOINT, files::EVENTS].map(|name| run.file(name));
        if checkpoint.exists() {
            Checkpoint::load(&checkpoint, &config_text, &config.network)?;
        }
        if events.exists() {
            check_events(&events)?;
        }
        return Ok(Outcome::AlreadyFinished(results));
    }
    if let Some(teacher) = &config.data.teacher {
        Teacher::keep(teacher, config.data.teacher_crc32c, &run)?;
    }
    let mut training = Training::start(config, &task, run, config_text)?;
    training.run(session)
}

/// Notes the set of instructions of a session after those of the sessions before it. Says so if it
/// is another.
pub(crate) fn note_arithmetic(before: &mut Vec<String>, now: &str) -> Option<String> {
    if before.last().is_some_and(|last| last == now) {
        return None;
    }
    let change = before.last().map(|last| {
        format!(
            "this run was trained with {last} instructions so far and continues with {now}: its \
             bits will differ from those of a run on one kind of machine"
        )
    });
    before.push(now.to_owned());
    change
}

/// A run in progress.
struct Training<'a> {
    config: &'a RunConfig,
    run: RunDir,
    config_text: String,
    data: Data,
    trainer: Trainer,
    epoch: u64,
    best: Option<Best>,
    metrics: MetricsFile,
    events: EventFile,
    /// The sets of instructions trained with, this session's last.
    arithmetic: Vec<String>,
    notes: Vec<String>,
    /// Time spent by earlier sessions, and when this one began.
    seconds: f64,
    started: Instant,
}

impl<'a> Training<'a> {
    /// From the checkpoint if there is one, else from the initial weights.
    fn start(
        config: &'a RunConfig,
        task: &Task,
        run: RunDir,
        config_text: String,
    ) -> Result<Training<'a>> {
        let data = Data::new(config, task, run.path())?;
        let options = TrainerOptions {
            learning_rate: config.learning_rate as f32,
            clip: (config.clip > 0.0).then_some(config.clip as f32),
            seed: config.seed,
            // Set anew in every epoch.
            teacher_probability: 0.0,
        };
        let path = run.file(files::CHECKPOINT);
        let (mut arithmetic, mut expected) = (Vec::new(), None);
        let (trainer, epoch, best, seconds) = if path.exists() {
            let checkpoint = Checkpoint::load(&path, &config_text, &config.network)?;
            let Checkpoint { epoch, trainer, best, seconds, .. } = checkpoint;
            (arithmetic, expected) = (checkpoint.arithmetic, checkpoint.metrics_crc32c);
            let model = Model::from_parameters(config.network.clone(), trainer.parameters.clone())?;
            (Trainer::resume(model, options, trainer)?, epoch, best, seconds)
        } else {
            let given = run.file(files::INITIAL);
            let model = if given.exists() {
                let parameters = Parameters::load(&config.network, &given)?;
                Model::from_parameters(config.network.clone(), parameters)?
            } else {
                Model::new(config.network.clone(), config.seed)?
            };
            (Trainer::new(model, options)?, 0, None, 0.0)
        };
        let every = config.evaluate_every;
        let (metrics, damage) =
            run.reopen(files::METRICS, |path| MetricsFile::open(path, epoch, every))?;
        let metrics = metrics.known_as(run.file(files::METRICS));
        let damage = damage.or_else(|| {
            let damaged = expected.is_some_and(|expected| metrics.crc32c() != expected);
            damaged.then(|| {
                format!("{} is damaged: it is not what it was at epoch {epoch}", files::METRICS)
            })
        });
        let (events, rebuilt) =
            run.reopen(files::EVENTS, |path| EventFile::resume(path, epoch, &metrics))?;
        let change = note_arithmetic(&mut arithmetic, SimdLevel::best().name());
        Ok(Training {
            metrics,
            events: events.known_as(run.file(files::EVENTS)),
            config,
            run,
            config_text,
            data,
            trainer,
            epoch,
            best,
            arithmetic,
            notes: damage.into_iter().chain(rebuilt).chain(change).collect(),
            seconds,
            started: Instant::now(),
        })
    }

    fn run(&mut self, session: Session<'_>) -> Result<Outcome> {
        let mut f1 = None;
        let mut saved = Instant::now();
        let notes = std::mem::take(&mut self.notes);
        (session.observe)(&Progress { notes, ..self.progress(None, f1) });
        while self.epoch < self.config.epochs {
            if session.stop.load(Ordering::Relaxed) {
                self.save()?;
                return Ok(Outcome::Stopped { epoch: self.epoch });
            }
            self.run.check()?;
            let (losses, learning_rate) = match self.train_epoch() {
                Err(Error::Engine(pgn_engine::Error::Diverged(why))) => return self.give_up(why),
                trained => trained?,
            };
            let last = self.epoch == self.config.epochs;
            if last || self.epoch.is_multiple_of(self.config.evaluate_every) {
                f1 = Some(self.evaluate(losses, learning_rate)?);
            }
            (session.observe)(&self.progress(Some(losses.total), f1));
            if saved.elapsed() >= session.checkpoint_every {
                self.save()?;
                saved = Instant::now();
            }
        }
        self.save()?;
        self.finish(session.stop)
    }

    /// One pass over the training sequences.
    fn train_epoch(&mut self) -> Result<(EpochLosses, f32)> {
        let config = self.config;
        let epoch = self.epoch + 1;
        if config.data.stream && config.data.transitions.is_none() {
            self.data.refresh(config, epoch)?;
        }
        let learning_rate =
            config.decay.rate(config.learning_rate, config.final_fraction, epoch, config.epochs);
        self.trainer.set_learning_rate(learning_rate)?;
        let first = config.teacher_probability;
        let last = config.final_teacher_probability.unwrap_or(first);
        let probability = linear(first, last, epoch, config.epochs);
        self.trainer.set_teacher_probability(probability as f32)?;
        if let Some(transitions) = config.data.curriculum() {
            let losses = self.train_on(&transitions, epoch)?;
            self.epoch = epoch;
            return Ok((losses, learning_rate));
        }
        let sequences = self.data.train();
        let order = batches::order(config.seed, epoch, sequences.len(), config.batch);
        let mut losses = EpochLosses::default();
        for batch in order.chunks(config.batch) {
            let batch: Vec<_> = batch.iter().map(|&index| sequences[index]).collect();
            let share = batch.len() as f64 / sequences.len() as f64;
            losses.add(&self.trainer.step(&batch)?, share);
        }
        self.epoch = epoch;
        Ok((losses, learning_rate))
    }

    /// As many fresh transitions as there would be sequences.
    fn train_on(&mut self, curriculum: &Curriculum, epoch: u64) -> Result<EpochLosses> {
        let (config, task) = (self.config, self.data.task());
        let count = config.data.sequences as u64;
        let owned: Vec<OwnedTransition> = (0..count)
            .into_par_iter()
            .map(|index| curriculum.sample(task, config.seed, epoch, index))
            .collect::<pgn_structures::Result<_>>()?;
        let transitions: Vec<_> = owned.iter().map(OwnedTransition::get).collect();
        let mut losses = EpochLosses::default();
        for batch in transitions.chunks(config.batch) {
            let share = batch.len() as f64 / transitions.len() as f64;
            losses.add(&self.trainer.step_on(batch)?, share);
        }
        Ok(losses)
    }

    /// Scores the model on the validation set, keeps it if it is the best, and writes it down.
    fn evaluate(&mut self, losses: EpochLosses, learning_rate: f32) -> Result<f64> {
        let model = self.trainer.model();
        let validation = evaluate(model, self.data.validation())?;
        if Best::improves(self.best.as_ref(), &validation, self.config.data.transitions.is_some()) {
            let parameters = model.parameters().clone();
            let epoch = self.epoch;
            self.best = Some(Best { epoch, validation: validation.clone(), parameters });
        }
        let f1 = validation.f1;
        let metrics = Metrics { epoch: self.epoch, learning_rate, losses, validation };
        self.metrics.add(&metrics)?;
        self.events.add(&metrics)?;
        Ok(f1)
    }

    /// Leaves the best model so far in place of the one that training would have ended with: the
    /// same command would diverge again.
    fn give_up(&self, why: String) -> Result<Outcome> {
        let Some(Best { epoch, validation, parameters }) = &self.best else {
            return Err(Error::Request(format!("{why}; no epoch before was evaluated")));
        };
        self.run.place(files::MODEL, |path| Ok(parameters.save(path)?))?;
        Err(Error::Request(format!(
            "{why}; the best model so far (epoch {epoch}, validation F1 {:.3}) is now {}, which \
             `pgn eval` scores",
            validation.f1,
            self.run.file(files::MODEL).display()
        )))
    }

    fn progress(&self, loss: Option<f64>, f1: Option<f64>) -> Progress {
        Progress {
            epoch: self.epoch,
            epochs: self.config.epochs,
            loss,
            f1,
            best: self.best.as_ref().map(|best| (best.validation.f1, best.epoch)),
            notes: Vec::new(),
        }
    }

    /// Writes a checkpoint, after the lines that belong before it.
    fn save(&mut self) -> Result<()> {
        self.metrics.sync()?;
        self.events.flush()?;
        let checkpoint = Checkpoint {
            epoch: self.epoch,
            trainer: self.trainer.state(),
            best: self.best.clone(),
            seconds: self.seconds + self.started.elapsed().as_secs_f64(),
            arithmetic: self.arithmetic.clone(),
            metrics_crc32c: Some(self.metrics.crc32c()),
        };
        self.run.place(files::CHECKPOINT, |path| checkpoint.save(path, &self.config_text))
    }

    /// Writes the best model and tests it. Stopped meanwhile, the run has its last checkpoint to
    /// go on from.
    fn finish(&mut self, stop: &AtomicBool) -> Result<Outcome> {
        let config = self.config;
        let train_seconds = self.seconds + self.started.elapsed().as_secs_f64();
        let best = match self.best.take() {
            Some(best) => best,
            // No epochs: the initial model is all there is.
            None => Best {
                epoch: 0,
                validation: evaluate(self.trainer.model(), self.data.validation())?,
                parameters: self.trainer.model().parameters().clone(),
            },
        };
        self.run.place(files::MODEL, |path| Ok(best.parameters.save(path)?))?;
        let weights = best.parameters.values().len();
        let model = Model::from_parameters(config.network.clone(), best.parameters)?;
        let test_started = Instant::now();
        let seeds = (config.seed, config.seed);
        let test = match test(&model, &self.data, &config.test, seeds, Stop::when(stop)) {
            Err(Error::Stopped) => return Ok(Outcome::Stopped { epoch: self.epoch }),
            test => test?,
        };
        let results = Results {
            task: config.task.clone(),
            model: config.model.clone(),
            seed: config.seed,
            epochs: config.epochs,
            best_epoch: best.epoch,
            parameters: weights,
            departures: config.departures(),
            validation: best.validation,
            test,
            timing: Timing {
                train_seconds,
                epochs_per_second: config.epochs as f64 / train_seconds.max(1e-9),
                test_seconds: test_started.elapsed().as_secs_f64(),
                threads: rayon::current_num_threads(),
            },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            arithmetic: self.arithmetic.clone(),
            files: checksums::of_run(&self.run)?,
        };
        self.run.write_results(&results)?;
        Ok(Outcome::Finished(results))
    }
}
