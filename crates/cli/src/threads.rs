//! The threads that work is done on.

use anyhow::{Result, bail};
use pgn_lab::MAX_THREADS;

/// The number of threads unless told otherwise: `SLURM_CPUS_PER_TASK` in a Slurm job, else the cores
/// that this process may use, by its affinity and the limit of its control group.
pub fn default() -> usize {
    let allotted = std::env::var("SLURM_CPUS_PER_TASK").ok().and_then(|text| text.parse().ok());
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    allotted.filter(|&cores| cores > 0).unwrap_or(available).min(MAX_THREADS)
}

/// A pool of that many threads; [`default()`] unless given.
///
/// If there is one for every core, each keeps to its own: schedulers are quick to put a thread that
/// was asleep beside the one that woke it, where the two take turns.
pub fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool> {
    if let Some(threads) = threads.filter(|threads| !(1..=MAX_THREADS).contains(threads)) {
        bail!("--threads is {threads}; expected from 1 to {MAX_THREADS}");
    }
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or_else(default)).build()?;
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
