//! Work that Ctrl-C interrupts: it runs on threads of a pool, while the caller's thread listens.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    time::Duration,
};

use pgn_structures::{
    Error as StructureError, Feature, Node, Operation, OperationKind, PointerStructure, Rng,
    Schema, Task, TaskText, Visited,
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

/// The same task, whose structures fail once the flag is set: an end to sampling.
pub fn until(task: &Task, stop: &Arc<AtomicBool>) -> Task {
    let (task, stop) = (task.clone(), Arc::clone(stop));
    Task::boxed(move || Box::new(Stoppable { inner: task.make(), stop: Arc::clone(&stop) }))
}

struct Stoppable {
    inner: Box<dyn PointerStructure>,
    stop: Arc<AtomicBool>,
}

impl PointerStructure for Stoppable {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn about(&self) -> TaskText {
        self.inner.about()
    }

    fn schema(&self) -> Schema {
        self.inner.schema()
    }

    fn features(&self) -> &[Feature] {
        self.inner.features()
    }

    fn kinds(&self) -> Vec<OperationKind> {
        self.inner.kinds()
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.inner.reset(priorities);
    }

    fn sample(&self, nodes: Node, rng: &mut Rng) -> Operation {
        self.inner.sample(nodes, rng)
    }

    fn apply(
        &mut self,
        operation: Operation,
        visited: &mut Visited,
    ) -> pgn_structures::Result<bool> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(StructureError::structure(self.name(), "was interrupted"));
        }
        self.inner.apply(operation, visited)
    }

    fn pointer(&self, node: Node) -> Node {
        self.inner.pointer(node)
    }

    fn start_from(&mut self, pointers: &[Node]) -> bool {
        self.inner.start_from(pointers)
    }

    fn pointers(&self, row: &mut [Node]) {
        self.inner.pointers(row);
    }

    fn pointer_field(&self, field: usize, row: &mut [Node]) -> pgn_structures::Result<()> {
        self.inner.pointer_field(field, row)
    }

    fn bit_field(&self, bit: usize, row: &mut [u8]) -> pgn_structures::Result<()> {
        self.inner.bit_field(bit, row)
    }
}
