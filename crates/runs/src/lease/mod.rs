//! Who may write in a run directory: a lock that survives the loss of a machine.
//!
//! A `flock` dies with its process, but not every shared folder has it, and nobody can tell a
//! process on another machine that is slow from one whose machine is gone. So the right to write
//! is a *lease*: a folder in the run directory that its holder keeps fresh.
//!
//! ```text
//! run/.lease/HOLDER/heartbeat    rewritten every sixth of the lease time
//! run/.lease/HOLDER/...          files that are being written
//! run/.lock                      held by flock too, where that works
//! ```
//!
//! `HOLDER` is machine, process and a random number, so no two holders ever share a name.
//!
//! **Taking it.** A folder with the claimant's heartbeat is made under another name and renamed to
//! `.lease`, which fails where a `.lease` with something in it exists.
//!
//! **Taking it over.** A lease whose heartbeat is older than its own lease time has expired; one
//! whose process has died on this very machine, as its `flock` proves, counts as expired at once.
//! A heartbeat dated further in the future than its lease lasts is watched, by one's own clock: one
//! that stands still for the lease time has expired too.
//! The successor renames that holder's folder away, which fails if it is no longer there, before it
//! reads or writes anything.
//!
//! **The fence.** Every file is written in the holder's own folder and renamed into place
//! ([`Lease::place`]). Once that folder is elsewhere, neither step can succeed, however long the
//! process was stopped and wherever it was stopped. So a holder that lost its lease cannot
//! overwrite anything, and no clock takes part in that argument: the times only decide when a
//! takeover is tried. The same holds for a run directory that was removed and made anew.
//! `tests/lease_model.rs` goes through every interleaving of a few processes.
//!
//! **What it assumes** of the file system: a rename within it is atomic, opening a file shows its
//! latest contents and time (NFS promises that unless mounted with `nocto`), and times of files
//! come from one clock (the server's). Clocks of the machines do not matter.

mod claim;
mod holder;
#[cfg(test)]
mod tests;

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant, SystemTime},
};

use claim::{CLAIM, EXPIRED, LOCK, claim_and_take, is_lock, lock, remove_leftovers};
pub use holder::Holder;
use holder::{HEARTBEAT, Record, machine, read_heartbeat, unique_name};

use pgn_structures::files::check_replaceable;

use crate::{Error, Result};

/// The folder that is the lease.
const LEASE: &str = ".lease";
/// Heartbeats in the time of a lease.
const BEATS: u32 = 6;

/// How long a lease lasts without a heartbeat unless told otherwise.
pub const LEASE_TIME: Duration = Duration::from_secs(60);

/// How long leases of run directories last without a heartbeat: [`LEASE_TIME`], or the seconds
/// that the environment variable `PGN_LEASE_SECONDS` has.
pub fn lease_time() -> Result<Duration> {
    let Some(text) = std::env::var_os("PGN_LEASE_SECONDS") else { return Ok(LEASE_TIME) };
    let seconds = text.to_str().and_then(|text| text.trim().parse::<f64>().ok());
    match seconds {
        Some(seconds) if (0.1..=holder::MOST).contains(&seconds) => {
            Ok(Duration::from_secs_f64(seconds))
        }
        _ => Err(Error::request(format!(
            "PGN_LEASE_SECONDS is {}; expected a number of seconds from 0.1 to 1000000",
            text.to_string_lossy()
        ))),
    }
}

/// The right to write in a directory. Dropping it gives it back.
#[derive(Debug)]
pub struct Lease {
    shared: Arc<Shared>,
    beating: Option<JoinHandle<()>>,
    // Dropped last, after the lease itself is gone.
    _lock: Option<File>,
}

/// What the heartbeat's thread and the holder share.
#[derive(Debug)]
struct Shared {
    directory: PathBuf,
    /// `.lease/HOLDER`.
    folder: PathBuf,
    record: Record,
    time: Duration,
    beats: AtomicU64,
    lost: AtomicBool,
    last: Mutex<Instant>,
    stop: Mutex<bool>,
    wake: Condvar,
}

impl Lease {
    /// Takes the lease of a directory, which is made if need be; `time` is how long it lasts
    /// without a heartbeat.
    pub fn take(directory: &Path, time: Duration) -> Result<Lease> {
        let mut lease = Lease::take_still(directory, time, true)?;
        let shared = Arc::clone(&lease.shared);
        let beating = std::thread::Builder::new()
            .name("heartbeat".into())
            .spawn(move || shared.keep_beating())
            .map_err(Error::io("start the heartbeat of", directory))?;
        lease.beating = Some(beating);
        Ok(lease)
    }

    /// Takes it without starting a heartbeat, and without `flock` if told so.
    fn take_still(directory: &Path, time: Duration, flock: bool) -> Result<Lease> {
        fs::create_dir_all(directory).map_err(Error::io("create", directory))?;
        let (lock, blocked) = if flock { lock(directory)? } else { (None, false) };
        let name = unique_name();
        let record = Record {
            machine: machine().to_owned(),
            seconds: time.as_secs_f64(),
            flock: lock.is_some(),
        };
        let claim = directory.join(format!("{CLAIM}{name}"));
        let taken = claim_and_take(directory, &claim, &name, &record, blocked);
        let _ = fs::remove_dir_all(&claim);
        let now = taken?;
        remove_leftovers(directory, now);
        let shared = Shared {
            directory: directory.to_owned(),
            folder: directory.join(LEASE).join(&name),
            record,
            time,
            beats: AtomicU64::new(0),
            lost: AtomicBool::new(false),
            last: Mutex::new(Instant::now()),
            stop: Mutex::new(false),
            wake: Condvar::new(),
        };
        Ok(Lease { shared: Arc::new(shared), beating: None, _lock: lock })
    }

    /// Whether the lease is still held. Cheap: to be asked before every piece of work.
    pub fn check(&self) -> Result<()> {
        let shared = &self.shared;
        // After a stop the thread with the heartbeat may not have run yet.
        if !shared.is_lost() && shared.since_beat() >= shared.time / 2 {
            shared.beat();
        }
        if shared.is_lost() { Err(self.lost()) } else { Ok(()) }
    }

    /// Lets `write` make a file at the path it is given, and puts that in place as `name`, in one
    /// step. If the lease is lost, before or meanwhile, what is there stays as it is.
    pub fn place<T, E: From<Error>>(
        &self,
        name: &str,
        write: impl FnOnce(&Path) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.check()?;
        let shared = &self.shared;
        let draft = shared.folder.join(name.replace('/', "-"));
        let target = shared.directory.join(name);
        let lost = |otherwise: E| if shared.find_out() { self.lost().into() } else { otherwise };
        let value = write(&draft).map_err(lost)?;
        let placed = check_replaceable(&target).and_then(|()| fs::rename(&draft, &target));
        let placed = placed.map_err(Error::io("write", &target));
        placed.map_err(|error| lost(error.into()))?;
        // The rename must reach the disk too. Not every file system can do this for a folder.
        #[cfg(unix)]
        let _ = File::open(target.parent().unwrap_or(&target)).and_then(|folder| folder.sync_all());
        Ok(value)
    }

    /// Who holds the lease of a directory, fresh or not.
    pub fn holder(directory: &Path) -> Option<Holder> {
        let lease = directory.join(LEASE);
        let entry = fs::read_dir(lease).ok()?.flatten().find(|entry| entry.path().is_dir())?;
        let (record, beat) = read_heartbeat(&entry.path())?;
        Some(Holder {
            name: entry.file_name().to_string_lossy().into_owned(),
            machine: record.machine,
            time: Duration::try_from_secs_f64(record.seconds).unwrap_or(LEASE_TIME),
            beat,
            flock: record.flock,
        })
    }

    /// Whether some process, this one included, is at work in a directory. For display: it goes
    /// by this machine's clock.
    pub fn is_held(directory: &Path) -> bool {
        let lock = directory.join(LOCK);
        let lock = is_lock(&lock).then(|| File::open(lock).map(|lock| lock.try_lock_shared()));
        let blocked = matches!(lock, Some(Ok(Err(TryLockError::WouldBlock))));
        match Lease::holder(directory) {
            None => blocked,
            Some(holder) if holder.is_dead(matches!(lock, Some(Ok(Ok(()))))) => false,
            Some(holder) => {
                let now = SystemTime::now();
                !holder.is_expired(now) && !holder.is_in_the_future(now)
            }
        }
    }

    fn lost(&self) -> Error {
        Error::Lost { path: self.shared.directory.clone() }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let shared = &self.shared;
        *shared.stop.lock().unwrap_or_else(PoisonError::into_inner) = true;
        shared.wake.notify_all();
        if let Some(beating) = self.beating.take() {
            let _ = beating.join();
        }
        // All of it fails where the lease is another's by now, as it should. The folder goes away in
        // one step: without its heartbeat, after a kill, it would be a lease of nobody in particular.
        let name = shared.folder.file_name().unwrap_or_default().to_string_lossy();
        let away = shared.directory.join(format!("{EXPIRED}{name}"));
        if fs::rename(&shared.folder, &away).is_ok() {
            let _ = fs::remove_dir(shared.directory.join(LEASE));
            let _ = fs::remove_dir_all(&away);
        }
    }
}

impl Shared {
    fn keep_beating(&self) {
        let mut stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        while !*stop && !self.is_lost() {
            let waited = self.wake.wait_timeout(stop, self.time / BEATS);
            stop = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !*stop {
                self.beat();
            }
        }
    }

    /// Rewrites the heartbeat. Its path has this holder's name in it, so that it can only be
    /// opened while the lease is held.
    fn beat(&self) {
        let number = self.beats.fetch_add(1, Ordering::Relaxed) + 1;
        let path = self.folder.join(HEARTBEAT);
        let written = OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut file| file.write_all(self.record.text(number).as_bytes()));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match written {
            Ok(()) => *last = Instant::now(),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.lost.store(true, Ordering::Relaxed)
            }
            // A full disk or a server that hiccups: others see an old heartbeat soon enough.
            Err(_) => drop(self.find_out()),
        }
    }

    fn since_beat(&self) -> Duration {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Looks whether the lease is lost, and notes it.
    fn find_out(&self) -> bool {
        let there = File::open(self.folder.join(HEARTBEAT));
        if there.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            self.lost.store(true, Ordering::Relaxed);
        }
        self.is_lost()
    }
}
