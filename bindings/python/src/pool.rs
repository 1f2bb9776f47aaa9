//! The threads that work is done on.

use std::sync::{Arc, Mutex, PoisonError};

use pgn_lab::MAX_THREADS;
use pyo3::{
    PyResult,
    exceptions::{PyRuntimeError, PyValueError},
};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The pool of this process. rayon's own would not do: Python programs fork (`multiprocessing`,
/// data loaders), and a child has its parent's memory but none of its threads.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The pool of this process, with as many threads as there are cores.
pub fn shared() -> PyResult<Arc<ThreadPool>> {
    let process = std::process::id();
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = &*pool
        && *owner == process
    {
        return Ok(Arc::clone(pool));
    }
    let fresh = Arc::new(of(None)?);
    if let Some((_, parents)) = pool.replace((process, Arc::clone(&fresh))) {
        // Its threads are not there to be told that it ends.
        std::mem::forget(parents);
    }
    Ok(fresh)
}

/// The pool for a task. One that runs Python code has a pool of its own: that code may wait for a
/// thread that calls this package, whose work would otherwise wait for the same threads.
pub fn for_task(python: bool) -> PyResult<Arc<ThreadPool>> {
    if python { Ok(Arc::new(of(None)?)) } else { shared() }
}

/// A pool of that many threads; one per core unless given.
pub fn of(threads: Option<usize>) -> PyResult<ThreadPool> {
    if let Some(threads) = threads.filter(|&threads| threads > MAX_THREADS) {
        return Err(PyValueError::new_err(format!(
            "threads is {threads}; expected from 1 to {MAX_THREADS}"
        )));
    }
    ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))
}
