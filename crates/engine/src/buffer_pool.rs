//! Buffers that outlive the tasks which use them.

use std::sync::{Mutex, PoisonError};

/// Buffers not in use at the moment. A clone has none.
///
/// Tasks on any thread borrow one each, and memory that was touched for the last batch serves the
/// next.
#[derive(Debug)]
pub struct BufferPool<T>(Mutex<Vec<T>>);

impl<T> Clone for BufferPool<T> {
    fn clone(&self) -> BufferPool<T> {
        BufferPool::default()
    }
}

impl<T> Default for BufferPool<T> {
    fn default() -> BufferPool<T> {
        BufferPool(Mutex::new(Vec::new()))
    }
}

impl<T> BufferPool<T> {
    /// A buffer that was put back, or a new one.
    pub fn take(&self, new: impl FnOnce() -> T) -> T {
        // A panic while the lock was held leaves the list intact.
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_else(new)
    }

    /// Puts a buffer back, for others to take.
    pub fn put_back(&self, buffer: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}
