//! Works through a queue: several runs at a time, in this process and in others beside it.
//!
//! Nothing is kept but the run directories themselves. A run is claimed by locking its
//! directory, and finished when its `results.json` is there, so that any number of processes on
//! a shared folder can work on one queue, be stopped at any moment, and be started again.

use std::{
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{Entry, Error, Outcome, Progress, Queue, Result, Results, Session, train};

/// How to work through a queue; nothing in here changes any outcome.
pub struct Work<'a> {
    /// Runs at a time.
    pub workers: usize,
    /// Threads for each run.
    pub threads_per_run: usize,
    /// Time from one checkpoint of a run to the next.
    pub checkpoint_every: Duration,
    /// Set by someone else to stop.
    pub stop: &'a AtomicBool,
    /// Told what happens, from any thread.
    pub observe: &'a (dyn Fn(&Entry, Event<'_>) + Sync),
}

/// What happens to an entry.
#[derive(Debug)]
pub enum Event<'a> {
    /// It was finished already.
    Skipped,
    /// Another process is at it.
    Elsewhere,
    /// It has done an epoch.
    Progress(&'a Progress),
    /// It is finished.
    Finished(&'a Results),
    /// It failed.
    Failed(&'a Error),
}

/// How a [`work`] ended.
#[derive(Debug, Default)]
pub struct Summary {
    /// Entries that are finished, whoever did them.
    pub finished: usize,
    /// Entries that failed, by index, and why.
    pub failed: Vec<(usize, String)>,
    /// Whether it was told to stop.
    pub stopped: bool,
}

/// Time from one look at an entry that another process is at to the next.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

#[derive(Clone, Debug)]
enum Stage {
    Pending { not_before: Option<Instant> },
    Active,
    Finished,
    Failed(String),
}

struct Shared<'a> {
    queue: &'a Queue,
    /// Whether an entry is wanted; others are only done where one that is wanted needs them.
    wanted: Vec<bool>,
    stages: Mutex<Vec<Stage>>,
    changed: Condvar,
}

/// Works until every wanted entry is finished or has failed, or until told to stop. `only` says
/// which are wanted; what they depend on is done as well where nobody else is at it.
pub fn work(queue: &Queue, only: Option<&[usize]>, work: &Work<'_>) -> Result<Summary> {
    let count = queue.entries().len();
    let mut wanted = vec![only.is_none(); count];
    for &index in only.unwrap_or_default() {
        let entry = queue.entry(index)?;
        for index in [Some(index), entry.depends_on].into_iter().flatten() {
            wanted[index] = true;
        }
    }
    let stages = vec![Stage::Pending { not_before: None }; count];
    let shared = Shared { queue, wanted, stages: Mutex::new(stages), changed: Condvar::new() };
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..work.workers.max(1)).map(|_| scope.spawn(|| shared.worker(work))).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| {
                Err(Error::Request("a worker of the queue panicked; this is a bug".into()))
            })
        })
    })?;
    let stages = shared.stages.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut summary = Summary { stopped: work.stop.load(Ordering::Relaxed), ..Summary::default() };
    for (index, stage) in stages.into_iter().enumerate() {
        match stage {
            Stage::Finished => summary.finished += 1,
            Stage::Failed(why) => summary.failed.push((index, why)),
            _ => {}
        }
    }
    Ok(summary)
}

impl Shared<'_> {
    fn worker(&self, work: &Work<'_>) -> Result<()> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(work.threads_per_run.max(1))
            .build()
            .map_err(|error| Error::Request(format!("cannot start threads: {error}")))?;
        while let Some(entry) = self.next(work.stop) {
            let stage = pool.install(|| self.train(entry, work));
            self.set(entry.index, stage);
        }
        Ok(())
    }

    fn train(&self, entry: &Entry, work: &Work<'_>) -> Stage {
        let session = Session {
            task: None,
            checkpoint_every: work.checkpoint_every,
            stop: work.stop,
            observe: &mut |progress| (work.observe)(entry, Event::Progress(progress)),
        };
        let outcome =
            self.queue.config(entry).and_then(|config| train(&config, &entry.directory, session));
        match outcome {
            Ok(Outcome::Finished(results)) => {
                (work.observe)(entry, Event::Finished(&results));
                Stage::Finished
            }
            Ok(Outcome::AlreadyFinished(_)) => {
                (work.observe)(entry, Event::Skipped);
                Stage::Finished
            }
            Ok(Outcome::Stopped { .. }) => Stage::Pending { not_before: None },
            // Lost: whoever took it over is at it now.
            Err(Error::Locked { .. } | Error::Lost { .. }) => {
                (work.observe)(entry, Event::Elsewhere);
                Stage::Pending { not_before: Some(Instant::now() + LOOK_AGAIN) }
            }
            Err(error) => {
                (work.observe)(entry, Event::Failed(&error));
                Stage::Failed(error.to_string())
            }
        }
    }

    fn set(&self, index: usize, stage: Stage) {
        self.stages.lock().unwrap_or_else(PoisonError::into_inner)[index] = stage;
        self.changed.notify_all();
    }

    /// The next entry to do, waiting for one if need be; `None` when there are no more.
    fn next(&self, stop: &AtomicBool) -> Option<&Entry> {
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let now = Instant::now();
            let mut left = false;
            for entry in self.queue.entries().iter().filter(|entry| self.wanted[entry.index]) {
                let teacher = entry.depends_on.map(|index| stages[index].clone());
                match (&stages[entry.index], teacher) {
                    (Stage::Pending { .. }, Some(Stage::Failed(_))) => {
                        let why = "its teacher failed".to_owned();
                        stages[entry.index] = Stage::Failed(why);
                    }
                    (Stage::Pending { not_before }, None | Some(Stage::Finished))
                        if not_before.is_none_or(|time| time <= now) =>
                    {
                        stages[entry.index] = Stage::Active;
                        return Some(entry);
                    }
                    (Stage::Pending { .. } | Stage::Active, _) => left = true,
                    _ => {}
                }
            }
            if !left {
                return None;
            }
            let (guard, _) = self
                .changed
                .wait_timeout(stages, LOOK_AGAIN / 5)
                .unwrap_or_else(PoisonError::into_inner);
            stages = guard;
        }
    }
}
