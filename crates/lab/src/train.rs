//! The training loop: epochs, early stopping, checkpoints, the final test. There is one for
//! everything that learns.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use pgn_structures::Task;

use pgn_runs::{RunDir, Stop, checksums, files, files::is_finished};

use crate::{
    AnyConfig, ConfigOf, Error, Result, Results, Timing,
    checkpoint::Checkpoint,
    config::either,
    learner::{Best, Evaluation, Initial, Learner, Network},
    metrics::{EpochLosses, EventFile, Metrics, MetricsFile, is_whole},
    results::{Diverged, FILES},
    teacher::Teacher,
};

/// What [`train`] needs to know besides the config; nothing in here but the task and the initial
/// weights changes the outcome.
pub struct Session<'a> {
    /// The data structure, if it is not one of the built-in ones.
    pub task: Option<Task>,
    /// A file of weights to begin with instead of random ones, of which the run keeps a copy. One
    /// that is begun goes on without it as well.
    pub initial: Option<&'a Path>,
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
    /// The losses of the last epoch; `None` before the first of this session.
    pub losses: Option<EpochLosses>,
    /// What the last evaluation of this session found.
    pub evaluation: Option<Evaluation>,
    /// The best score so far (see [`Evaluation::score`]), and its epoch.
    pub best: Option<(f64, u64)>,
    /// What the user should know about this session, each one sentence: what is damaged, or not
    /// as it was. Told once, before the first epoch.
    pub notes: Vec<String>,
}

/// How a session of training ended.
pub type Outcome = pgn_runs::Outcome<Box<Results>>;

/// Trains in the directory `run`, or goes on where an earlier session left off.
///
/// Parallel on the current rayon pool; the outcome is the same bits for any number of threads
/// and instruction set, and however often the run was cut short.
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
///     initial: None,
///     checkpoint_every: Duration::from_secs(30),
///     stop: &AtomicBool::new(false),
///     observe: &mut |progress| assert!(progress.epoch <= 3),
/// };
/// let Outcome::Finished(results) = train(&config, dir.path(), session)? else { panic!() };
/// assert!((0.0..=1.0).contains(&results.at(20).unwrap().f1));
/// # Ok::<(), pgn_lab::Error>(())
/// ```
pub fn train<N: Network>(
    config: &ConfigOf<N>,
    run: &Path,
    mut session: Session<'_>,
) -> Result<Outcome> {
    match begin(config, run, &mut session)? {
        Begun::Finished(results) => Ok(Outcome::AlreadyFinished(results)),
        Begun::Training(mut training) => training.run(session),
    }
}

/// Ends a run that was stopped after the epoch of its last checkpoint, as patience would: the best
/// model so far is tested, and the run is finished.
pub fn end<N: Network>(
    config: &ConfigOf<N>,
    run: &Path,
    mut session: Session<'_>,
) -> Result<Outcome> {
    match begin(config, run, &mut session)? {
        Begun::Finished(results) => Ok(Outcome::AlreadyFinished(results)),
        Begun::Training(mut training) => training.finish(session.stop),
    }
}

/// A run as a session finds it.
enum Begun<'a, N> {
    Finished(Box<Results>),
    Training(Box<Training<'a, N>>),
}

fn begin<'a, N: Network>(
    config: &'a ConfigOf<N>,
    run: &Path,
    session: &mut Session<'_>,
) -> Result<Begun<'a, N>> {
    config.validate()?;
    if let Some(task) = session.task.as_ref().filter(|task| task.name() != config.task) {
        let (expected, found) = (&config.task, task.name());
        return Err(Error::config(
            "task",
            format!("task is {expected}, but the structure to train on is {found}"),
        ));
    }
    N::check_memory(config)?;
    let given = session
        .initial
        .map(|path| files::read(path).map(|bytes| Initial { path: path.to_owned(), bytes }));
    let given = given.transpose()?;
    let run = RunDir::take(run)?;
    let begun = begun(&run, config)?;
    let initial = initial(&run, begun.is_some(), given)?;
    if let (Some(text), true) = (&begun, is_finished(run.path())) {
        let results = Results::load(run.path())?;
        results.check_files(run.path())?;
        let [checkpoint, events] = [files::CHECKPOINT, files::EVENTS].map(|name| run.file(name));
        if checkpoint.exists() {
            Checkpoint::check(&checkpoint, text)?;
        }
        if events.exists() && !is_whole(&events)? {
            let metrics = run.file(files::METRICS);
            let (_, note) = run.place(files::EVENTS, |path| EventFile::anew(path, &metrics))?;
            (session.observe)(&Progress {
                epoch: 0,
                epochs: results.epochs,
                losses: None,
                evaluation: None,
                best: None,
                notes: vec![note],
            });
        }
        return Ok(Begun::Finished(Box::new(results)));
    }
    // Whatever is wrong with settings, teacher and weights is found before anything is written: a
    // directory with a config belongs to that run for good.
    let learner = N::learner(config, session.task.clone(), initial.as_ref())?;
    if let Some(teacher) = &config.data.teacher {
        Teacher::keep(teacher, config.data.teacher_crc32c, &run)?;
    }
    let config_text = match begun {
        Some(text) => text,
        None => {
            if let Some(Initial { bytes, .. }) = &initial {
                run.write(files::INITIAL, bytes)?;
            }
            write_config(&run, config)?
        }
    };
    Ok(Begun::Training(Box::new(Training::start(config, learner, run, config_text)?)))
}

/// The text of the `config.toml` that is there, if any. Refuses a directory that holds another run.
fn begun<N: Network>(run: &RunDir, config: &ConfigOf<N>) -> Result<Option<String>> {
    let path = run.file(files::CONFIG);
    if !path.exists() {
        return Ok(None);
    }
    run.check_settings(&config.flat(), &AnyConfig::load(&path)?.flat())?;
    Ok(Some(files::read_text(&path)?))
}

/// The weights that the run begins with: those it keeps if it is begun, else those that are given.
fn initial(run: &RunDir, begun: bool, given: Option<Initial>) -> Result<Option<Initial>> {
    let path = run.file(files::INITIAL);
    let there = match files::read(&path) {
        Err(error) if error.is_not_found() => None,
        bytes => Some(Initial { path, bytes: bytes? }),
    };
    let why = match (&there, &given) {
        (_, Some(_)) if !begun => return Ok(given),
        (None, _) if !begun => return Ok(None),
        (Some(there), Some(given)) if there.bytes != given.bytes => {
            format!("{} holds other weights than {}", there.path.display(), given.path.display())
        }
        (None, Some(_)) => {
            format!("{} holds a run that began with other weights", run.path().display())
        }
        (Some(there), _) if !begun => format!("{} belongs to no run", there.path.display()),
        _ => return Ok(there),
    };
    Err(Error::request(format!("{why}; choose another directory")))
}

/// Writes `config.toml`; returns its text. The teacher it names is the copy that the run keeps,
/// so that the file is the same wherever the original lies.
fn write_config<N: Network>(run: &RunDir, config: &ConfigOf<N>) -> Result<String> {
    let mut config = config.clone();
    if let Some(teacher) = &mut config.data.teacher {
        *teacher = files::TEACHER.into();
    }
    let text = config.file_text();
    run.write(files::CONFIG, text.as_bytes())?;
    Ok(text)
}

impl AnyConfig {
    /// [`train`] for whichever kind it is.
    pub fn train(&self, run: &Path, session: Session<'_>) -> Result<Outcome> {
        either!(self, config => train(config, run, session))
    }

    /// [`end`] for whichever kind it is.
    pub fn end(&self, run: &Path, session: Session<'_>) -> Result<Outcome> {
        either!(self, config => end(config, run, session))
    }
}

/// A run in progress.
struct Training<'a, N> {
    config: &'a ConfigOf<N>,
    learner: Box<dyn Learner + 'a>,
    run: RunDir,
    config_text: String,
    epoch: u64,
    best: Option<Best>,
    metrics: MetricsFile,
    events: EventFile,
    notes: Vec<String>,
    /// Time spent by earlier sessions, and when this one began.
    seconds: f64,
    started: Instant,
}

impl<'a, N: Network> Training<'a, N> {
    /// From the checkpoint if there is one, else from the initial weights.
    fn start(
        config: &'a ConfigOf<N>,
        mut learner: Box<dyn Learner + 'a>,
        run: RunDir,
        config_text: String,
    ) -> Result<Training<'a, N>> {
        let path = run.file(files::CHECKPOINT);
        let (mut epoch, mut best, mut seconds, mut expected) = (0, None, 0.0, None);
        if path.exists() {
            let checkpoint = Checkpoint::load(&path, &config_text, &learner.shape())?;
            learner.resume(checkpoint.learner)?;
            expected = Some(checkpoint.metrics_crc32c);
            (epoch, best, seconds) = (checkpoint.epoch, checkpoint.best, checkpoint.seconds);
        }
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
        Ok(Training {
            metrics,
            events: events.known_as(run.file(files::EVENTS)),
            config,
            learner,
            run,
            config_text,
            epoch,
            best,
            notes: damage.into_iter().chain(rebuilt).collect(),
            seconds,
            started: Instant::now(),
        })
    }

    fn run(&mut self, session: Session<'_>) -> Result<Outcome> {
        let mut evaluation = None;
        let mut saved = Instant::now();
        let notes = std::mem::take(&mut self.notes);
        (session.observe)(&Progress { notes, ..self.progress(None, None) });
        self.keep()?;
        while self.epoch < self.config.epochs && !self.out_of_patience() {
            if session.stop.load(Ordering::Relaxed) {
                self.save()?;
                return Ok(Outcome::Stopped { epoch: self.epoch });
            }
            self.run.check()?;
            let epoch = self.epoch + 1;
            let ConfigOf { decay, final_fraction, epochs, .. } = *self.config;
            let rate = decay.rate(self.config.learning_rate, final_fraction, epoch, epochs);
            let losses = match self.learner.epoch(epoch, rate) {
                Err(Error::Engine(pgn_engine::Error::Diverged(why))) => return self.give_up(why),
                losses => losses?,
            };
            self.epoch = epoch;
            if epoch == epochs || epoch.is_multiple_of(self.config.evaluate_every) {
                evaluation = Some(self.evaluate(losses.clone(), rate)?);
            }
            self.keep()?;
            (session.observe)(&self.progress(Some(losses), evaluation.as_ref()));
            if saved.elapsed() >= session.checkpoint_every {
                self.save()?;
                saved = Instant::now();
            }
        }
        self.save()?;
        self.finish(session.stop)
    }

    /// Whether the best score was reached too long ago. A model that never answers 1 has not begun to learn:
    /// it may take hundreds of epochs, so they do not count.
    fn out_of_patience(&self) -> bool {
        let best = self.best.as_ref();
        let validation = best.and_then(|best| best.evaluation.validation.as_ref());
        if validation.is_some_and(|scores| scores.f1 == 0.0) {
            return false;
        }
        let since = self.epoch - best.map_or(0, |best| best.reached);
        self.config.patience > 0 && since >= self.config.patience
    }

    /// Evaluates the learner, keeps its weights if they are the best, and writes it down.
    fn evaluate(&mut self, losses: EpochLosses, learning_rate: f32) -> Result<Evaluation> {
        let evaluation = self.learner.evaluate()?;
        let best = self.best.as_ref();
        if best.is_none_or(|best| self.learner.improves(&evaluation, &best.evaluation)) {
            let parameters = self.learner.parameters().clone();
            let epoch = self.epoch;
            let reached = best
                .filter(|best| best.evaluation.score() == evaluation.score())
                .map_or(epoch, |best| best.reached);
            self.best = Some(Best { epoch, reached, evaluation: evaluation.clone(), parameters });
        }
        let Evaluation { validation, views } = evaluation.clone();
        let metrics = Metrics { epoch: self.epoch, learning_rate, losses, validation, views };
        self.metrics.add(&metrics)?;
        self.events.add(&metrics)?;
        Ok(evaluation)
    }

    /// Keeps the weights of this epoch if it is one of those that are kept, so that one can see how
    /// pointers became right.
    fn keep(&self) -> Result<()> {
        let (epoch, every) = (self.epoch, self.config.keep_every);
        if every == 0 || !epoch.is_multiple_of(every) {
            return Ok(());
        }
        let name = files::kept_name(epoch);
        files::make_dir(self.run.file(&name).parent().unwrap_or(self.run.path()))?;
        self.run.place(&name, |path| Result::Ok(self.learner.parameters().save(path)?))
    }

    /// Leaves the best model so far in place of the one that training would have ended with: the
    /// same command would diverge again.
    fn give_up(&self, why: String) -> Result<Outcome> {
        let Some(Best { epoch, evaluation, parameters, .. }) = &self.best else {
            return Err(Error::request(format!("{why}; no epoch before was evaluated")));
        };
        self.run.place(files::MODEL, |path| Result::Ok(parameters.save(path)?))?;
        let files = checksums::of_files(self.run.path(), [files::MODEL.into()])?;
        self.run
            .write_sealed(files::DIVERGED, &Diverged { why: why.clone(), epoch: *epoch, files })?;
        Err(Error::request(format!(
            "{why}; the best model so far (epoch {epoch}, validation {evaluation}) is now {}, \
             which `pgn eval` scores",
            self.run.file(files::MODEL).display()
        )))
    }

    fn progress(&self, losses: Option<EpochLosses>, evaluation: Option<&Evaluation>) -> Progress {
        Progress {
            epoch: self.epoch,
            epochs: self.config.epochs,
            losses,
            evaluation: evaluation.cloned(),
            best: self.best.as_ref().map(|best| (best.evaluation.score(), best.epoch)),
            notes: Vec::new(),
        }
    }

    /// Writes a checkpoint, after the lines that belong before it.
    fn save(&mut self) -> Result<()> {
        self.metrics.sync()?;
        self.events.flush()?;
        let checkpoint = Checkpoint {
            epoch: self.epoch,
            learner: self.learner.state(),
            best: self.best.clone(),
            seconds: self.seconds + self.started.elapsed().as_secs_f64(),
            metrics_crc32c: self.metrics.crc32c(),
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
            // Nothing was evaluated: the latest weights are all there is.
            None => Best {
                epoch: self.epoch,
                reached: self.epoch,
                evaluation: self.learner.evaluate()?,
                parameters: self.learner.parameters().clone(),
            },
        };
        self.run.place(files::MODEL, |path| Result::Ok(best.parameters.save(path)?))?;
        let test_started = Instant::now();
        let tested = match self.learner.test(&best, Stop::when(stop)) {
            Err(error) if error.is_stopped() => {
                return Ok(Outcome::Stopped { epoch: self.epoch });
            }
            tested => tested?,
        };
        let (supervision, views) = tested.views.unzip();
        let results = Results {
            task: config.task.clone(),
            model: config.model.clone(),
            seed: config.seed,
            epochs: config.epochs,
            stopped_at: (self.epoch < config.epochs).then_some(self.epoch),
            best_epoch: best.epoch,
            parameters: best.parameters.values().len(),
            departures: config.departures(),
            validation: tested.validation,
            test: tested.test,
            supervision,
            views,
            timing: Timing {
                train_seconds,
                epochs_per_second: self.epoch as f64 / train_seconds.max(1e-9),
                test_seconds: test_started.elapsed().as_secs_f64(),
                threads: rayon::current_num_threads(),
            },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            files: checksums::of_files(
                self.run.path(),
                files::kept(self.run.path())
                    .into_iter()
                    .map(files::kept_name)
                    .chain(FILES.map(Into::into)),
            )?,
        };
        self.run.write_sealed(files::RESULTS, &results)?;
        Ok(Outcome::Finished(Box::new(results)))
    }
}
