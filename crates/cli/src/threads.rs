//! The threads that work is done on.

use anyhow::{Result, bail};

/// A pool of that many threads; one per core unless given.
///
/// If there is one for every core, each keeps to its own: schedulers are quick to put a thread that
/// was asleep beside the one that woke it, where the two take turns.
pub fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool> {
    if threads == Some(0) {
        bail!("--threads is 0; expected at least 1");
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build()?;
    let cores = cores();
    if cores.len() == pool.current_num_threads() {
        pool.broadcast(|thread| keep_to(cores[thread.index()]));
    }
    Ok(pool)
}

/// The cores this process may use.
#[cfg(target_os = "linux")]
fn cores() -> Vec<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect()
}

/// Binds the calling thread to a core. Where that is not allowed it roams, as it would have.
#[cfg(target_os = "linux")]
fn keep_to(core: usize) {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let mut only = CpuSet::new();
    only.set(core);
    let _ = sched_setaffinity(None, &only);
}

#[cfg(not(target_os = "linux"))]
fn cores() -> Vec<usize> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
fn keep_to(_: usize) {}
