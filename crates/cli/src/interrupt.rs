//! Ctrl-C: asks for an orderly stop; the second one ends the program there and then.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

static STOP: AtomicBool = AtomicBool::new(false);

/// Installs the handler and returns the flag it sets.
pub fn flag() -> Result<&'static AtomicBool> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            // Every file is written under another name first, so that nothing is half there.
            std::process::exit(130);
        }
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(&STOP)
}
