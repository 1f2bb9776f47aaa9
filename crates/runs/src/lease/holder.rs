//! Who holds a lease: names, machines, and what a heartbeat says.

use std::{
    fs,
    hash::{BuildHasher, Hasher},
    path::Path,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use pgn_structures::files::read_regular;

use super::{LEASE_TIME, Lease};

/// The file in the holder's folder that is kept fresh.
pub(super) const HEARTBEAT: &str = "heartbeat";

/// Who holds a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The name of its folder.
    pub name: String,
    /// Its machine, and its boot where the system tells.
    pub machine: String,
    /// How long its lease lasts without a heartbeat.
    pub time: Duration,
    /// When its last heartbeat was, by the clock of the file system.
    pub beat: SystemTime,
    /// Whether it holds `.lock` with `flock`.
    pub flock: bool,
}

/// The most seconds that a lease may last.
pub(super) const MOST: f64 = 1e6;

/// What is written in a heartbeat.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) machine: String,
    pub(super) seconds: f64,
    pub(super) flock: bool,
}

impl Holder {
    /// Whether its last heartbeat is longer ago than its lease lasts.
    pub(super) fn is_expired(&self, now: SystemTime) -> bool {
        now.duration_since(self.beat).is_ok_and(|age| age >= self.time)
    }

    /// Whether its last heartbeat is dated later than a lease time from now.
    pub(super) fn is_in_the_future(&self, now: SystemTime) -> bool {
        self.beat.duration_since(now).is_ok_and(|ahead| ahead > self.time)
    }

    /// Whether its heartbeat, dated in the future, stays as it is for as long as the lease lasts by
    /// this machine's clock. Waits to find out.
    pub(super) fn is_still(&self, directory: &Path, now: SystemTime) -> bool {
        let started = Instant::now();
        while self.is_in_the_future(now) && Lease::holder(directory).as_ref() == Some(self) {
            if started.elapsed() >= self.time {
                return true;
            }
            std::thread::sleep((self.time / 20).min(Duration::from_millis(200)));
        }
        false
    }

    /// Whether its process is known to have died: it ran on this machine and held a lock that is
    /// now free.
    pub(super) fn is_dead(&self, lock_is_free: bool) -> bool {
        lock_is_free && self.flock && self.machine == machine()
    }
}

impl Record {
    /// Always as long for one holder, so that a heartbeat never leaves half of the last.
    pub(super) fn text(&self, beat: u64) -> String {
        let Record { machine, seconds, flock } = self;
        format!(
            "pgn lease 1\nmachine {machine}\nseconds {seconds}\nflock {flock}\nbeat {beat:020}\n"
        )
    }

    pub(super) fn parse(text: &str) -> Option<Record> {
        let value =
            |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        Some(Record {
            machine: value("machine")?.to_owned(),
            seconds: value("seconds")?.parse().ok().filter(|time| (0.0..=MOST).contains(time))?,
            flock: value("flock")? == "true",
        })
    }
}

/// What the heartbeat in a holder's folder says, and when it was. A damaged one is held for
/// [`LEASE_TIME`] by nobody in particular.
pub(super) fn read_heartbeat(folder: &Path) -> Option<(Record, SystemTime)> {
    let unknown =
        || Record { machine: String::new(), seconds: LEASE_TIME.as_secs_f64(), flock: false };
    let path = folder.join(HEARTBEAT);
    let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    // Opened before its time is asked for: that is when a network file system asks its server.
    let Ok(bytes) = read_regular(&path, 1 << 12) else {
        return Some((unknown(), modified(folder)?));
    };
    let record = std::str::from_utf8(&bytes).ok().and_then(Record::parse);
    Some((record.unwrap_or_else(unknown), modified(&path)?))
}

/// This machine, and this boot of it where the system tells.
pub(super) fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let kernel = |name: &str| fs::read_to_string(Path::new("/proc/sys/kernel").join(name)).ok();
        let host = kernel("hostname").or_else(|| {
            let output = std::process::Command::new("hostname").output().ok()?;
            String::from_utf8(output.stdout).ok()
        });
        let boot = kernel("random/boot_id").unwrap_or_default();
        let host = host.unwrap_or_default();
        format!("{} {}", host.trim(), boot.trim()).trim().replace(['\n', '/'], "-")
    })
}

/// A name that no other holder has: host, process, random number.
pub(super) fn unique_name() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u64(COUNTER.fetch_add(1, Ordering::Relaxed));
    hasher.write_u32(std::process::id());
    let host = machine().split(' ').next().unwrap_or_default();
    let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    format!("{host}-{}-{:016x}", std::process::id(), hasher.finish())
}
