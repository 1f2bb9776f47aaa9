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
    time::{Duration, Instant, SystemTime},
};

use crate::{Backend, Entry, EntryState, Error, Lease, Outcome, Queue, Result, RunError};

/// How to work through a queue; nothing in here changes any outcome.
pub struct Work<'a, B: Backend> {
    /// Runs at a time.
    pub workers: usize,
    /// Threads for each run.
    pub threads_per_run: usize,
    /// Time from one checkpoint of a run to the next.
    pub checkpoint_every: Duration,
    /// Set by someone else to stop.
    pub stop: &'a AtomicBool,
    /// Told what happens, from any thread.
    pub observe: &'a (dyn Fn(&Entry, Event<'_, B>) + Sync),
}

/// What happens to an entry.
pub enum Event<'a, B: Backend> {
    /// It was finished already.
    Skipped,
    /// Another process is at it.
    Elsewhere,
    /// It has done an epoch.
    Progress(&'a B::Progress),
    /// It is finished.
    Finished(&'a B::Results),
    /// It failed.
    Failed(&'a B::Error),
}

/// How a [`work`] ended.
#[derive(Debug, Default)]
pub struct Summary {
    /// Entries that are finished, whoever did them.
    pub finished: usize,
    /// Entries that failed, by index, and why.
    pub failed: Vec<(usize, String)>,
    /// Entries that could not be begun, by index, and why: what they depend on is not finished, or
    /// another process is at them. Only where entries were named.
    pub not_ready: Vec<(usize, String)>,
    /// Whether it was told to stop.
    pub stopped: bool,
}

/// Time from one look at an entry that another process is at to the next.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

const PENDING: Stage = Stage::Pending { not_before: None, beat: None };

#[derive(Clone, Debug)]
enum Stage {
    /// `beat` is the last heartbeat of another process that was at it.
    Pending {
        not_before: Option<Instant>,
        beat: Option<SystemTime>,
    },
    Active,
    Finished,
    Failed(String),
    NotReady(String),
}

struct Shared<'a, B> {
    queue: &'a Queue<B>,
    /// Whether an entry is wanted.
    wanted: Vec<bool>,
    /// Whether entries were named, which then are not waited for.
    named: bool,
    stages: Mutex<Vec<Stage>>,
    changed: Condvar,
}

/// Works until every entry is finished or has failed, or until told to stop.
///
/// With `only`, these entries are worked on and no others, and nobody waits for anybody else: an
/// entry that depends on an unfinished one, or that another process is at, is not ready. To tell
/// a process that is at work from one that is gone, its next heartbeat is waited for; if there is
/// none until its lease has expired, the run is taken over.
pub fn work<B: Backend>(
    queue: &Queue<B>,
    only: Option<&[usize]>,
    work: &Work<'_, B>,
) -> Result<Summary> {
    let count = queue.entries().len();
    let mut wanted = vec![only.is_none(); count];
    let mut stages = vec![PENDING; count];
    for &index in only.unwrap_or_default() {
        wanted[queue.entry(index)?.index] = true;
    }
    for &index in only.unwrap_or_default() {
        let teacher = queue.waits_for(queue.entry(index)?);
        if let Some(teacher) = teacher.filter(|teacher| !wanted[teacher.index]) {
            let of = format!("{} (entry {})", teacher.name(), teacher.index);
            stages[index] = match queue.state(teacher) {
                EntryState::Other => {
                    let at = teacher.directory.display();
                    Stage::Failed(format!("{at} holds another run than its teacher, {of}"))
                }
                _ => Stage::NotReady(format!("it waits for {of}")),
            };
        }
    }
    let stages = Mutex::new(stages);
    let named = only.is_some();
    let shared = Shared { queue, wanted, named, stages, changed: Condvar::new() };
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..work.workers.max(1)).map(|_| scope.spawn(|| shared.worker(work))).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| {
                Err(Error::request("a worker of the queue panicked; this is a bug"))
            })
        })
    })?;
    let stages = shared.stages.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut summary = Summary { stopped: work.stop.load(Ordering::Relaxed), ..Summary::default() };
    for (index, stage) in stages.into_iter().enumerate() {
        match stage {
            Stage::Finished => summary.finished += 1,
            Stage::Failed(why) => summary.failed.push((index, why)),
            Stage::NotReady(why) => summary.not_ready.push((index, why)),
            _ => {}
        }
    }
    Ok(summary)
}

impl<B: Backend> Shared<'_, B> {
    fn worker(&self, work: &Work<'_, B>) -> Result<()> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(work.threads_per_run.max(1))
            .build()
            .map_err(|error| Error::request(format!("cannot start threads: {error}")))?;
        while let Some((entry, beat)) = self.next(work.stop) {
            let stage = pool.install(|| self.train(entry, beat, work));
            self.set(entry.index, stage);
        }
        Ok(())
    }

    fn train(&self, entry: &Entry, beat: Option<SystemTime>, work: &Work<'_, B>) -> Stage {
        let mut observe = |progress: &B::Progress| (work.observe)(entry, Event::Progress(progress));
        let outcome = self.queue.config(entry).and_then(|config| {
            let Work { checkpoint_every, stop, .. } = *work;
            let backend = self.queue.backend();
            backend.train(&config, &entry.directory, checkpoint_every, stop, &mut observe)
        });
        match outcome {
            Ok(Outcome::Finished(results)) => {
                (work.observe)(entry, Event::Finished(&results));
                Stage::Finished
            }
            Ok(Outcome::AlreadyFinished(_)) => {
                (work.observe)(entry, Event::Skipped);
                Stage::Finished
            }
            Ok(Outcome::Stopped { .. }) => PENDING,
            // Lost: whoever took it over is at it now.
            Err(error) if is_elsewhere(&error) => {
                (work.observe)(entry, Event::Elsewhere);
                let last = Lease::holder(&entry.directory).map(|holder| holder.beat);
                if self.named && beat.is_some() && last.is_some() && beat != last {
                    return Stage::NotReady("another process is training it".to_owned());
                }
                let not_before = Some(Instant::now() + LOOK_AGAIN);
                Stage::Pending { not_before, beat: beat.or(last) }
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
    fn next(&self, stop: &AtomicBool) -> Option<(&Entry, Option<SystemTime>)> {
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let now = Instant::now();
            let mut left = false;
            for entry in self.queue.entries().iter().filter(|entry| self.wanted[entry.index]) {
                let teacher = entry.depends_on.filter(|&index| self.wanted[index]);
                let teacher = teacher.map(|index| stages[index].clone());
                match (&stages[entry.index], teacher) {
                    (Stage::Pending { .. }, Some(Stage::Failed(_))) => {
                        let why = "its teacher failed".to_owned();
                        stages[entry.index] = Stage::Failed(why);
                    }
                    (Stage::Pending { .. }, Some(Stage::NotReady(_))) => {
                        let why = "what it depends on is not ready either".to_owned();
                        stages[entry.index] = Stage::NotReady(why);
                    }
                    (&Stage::Pending { not_before, beat }, None | Some(Stage::Finished))
                        if not_before.is_none_or(|time| time <= now) =>
                    {
                        stages[entry.index] = Stage::Active;
                        return Some((entry, beat));
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

/// Whether a run could not be trained because another process trains it.
fn is_elsewhere(error: &impl RunError) -> bool {
    matches!(error.as_run_error(), Some(Error::Locked { .. } | Error::Lost { .. }))
}
