//! Asking work to end early.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Error, Result};

/// Whether somebody asks for an early end, as Ctrl-C does. Work that takes long looks now and then.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use pgn_runs::{Error, Stop};
///
/// let flag = AtomicBool::new(false);
/// let stop = Stop::when(&flag);
/// assert!(stop.check().is_ok());
/// flag.store(true, Ordering::Relaxed);
/// assert!(matches!(stop.check(), Err(Error::Stopped)));
/// assert!(Stop::NEVER.check().is_ok());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Stop<'a>(Option<&'a AtomicBool>);

impl<'a> Stop<'a> {
    /// Nobody asks.
    pub const NEVER: Stop<'static> = Stop(None);

    /// Asked for as soon as the flag is set.
    pub fn when(flag: &'a AtomicBool) -> Stop<'a> {
        Stop(Some(flag))
    }

    /// [`Error::Stopped`] if an early end is asked for.
    pub fn check(self) -> Result<()> {
        match self.0 {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(Error::Stopped),
            _ => Ok(()),
        }
    }
}
