//! Work that Ctrl-C interrupts: it runs on threads of a pool, while the caller's thread listens.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    time::Duration,
};

use pyo3::{exceptions::PyRuntimeError, prelude::*};
use rayon::ThreadPool;

/// How often Python's signal handlers get their turn.
pub const LISTEN: Duration = Duration::from_millis(50);

/// Does some work on the pool, without the interpreter's lock. When a signal handler raises, as
/// that of Ctrl-C does, the flag is set that the work is given, and once it has ended the exception
/// takes the place of its outcome.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    pool: &ThreadPool,
    work: impl FnOnce(&Arc<AtomicBool>) -> T + Send,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (tell, mut told) = channel();
    let (mut raised, mut outcome) = (None, None);
    pool.in_place_scope(|scope| {
        let stop = &stop;
        scope.spawn(move |_| {
            let _ = tell.send(work(stop));
        });
        loop {
            let heard;
            (told, heard) = py.detach(move || {
                let heard = told.recv_timeout(LISTEN);
                (told, heard)
            });
            match heard {
                Ok(value) => {
                    outcome = Some(value);
                    break;
                }
                // The work panicked, which the scope passes on.
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = py.check_signals() {
                raised.get_or_insert(error);
                stop.store(true, Ordering::Relaxed);
            }
        }
    });
    match (raised, outcome) {
        (Some(error), _) => Err(error),
        (None, Some(outcome)) => Ok(outcome),
        (None, None) => Err(PyRuntimeError::new_err("the work ended unexpectedly")),
    }
}
