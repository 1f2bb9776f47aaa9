//! Work that nobody waits for any more must end.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use pgn_runs::Stop;

use crate::refusal::{Answer, Refusal};

/// Set once the request that some work is for was given up: it took too long, or the asker left.
#[derive(Clone, Debug, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    /// The flag, for the engine.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.0
    }

    /// The flag, for `pgn-lab`.
    pub fn stop(&self) -> Stop<'_> {
        Stop::when(&self.0)
    }

    /// A refusal that nobody will read, once the request was given up.
    pub fn check(&self) -> Answer<()> {
        if self.0.load(Ordering::Relaxed) {
            return Err(Refusal::new(408, "the request was given up"));
        }
        Ok(())
    }

    /// Sets the flag when it is dropped.
    pub fn when_dropped(&self) -> Giving {
        Giving(self.clone())
    }
}

/// See [`Halt::when_dropped`].
pub struct Giving(Halt);

impl Drop for Giving {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
