//! Ctrl-C, SIGTERM and SIGUSR1: ask for an orderly stop. A second Ctrl-C ends the program there and
//! then.
//!
//! SIGTERM is what schedulers and shutting-down machines send; SIGUSR1 is what a Slurm job is
//! usually sent some time before its limit, so that it can be requeued.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

use crate::output;

static STOP: AtomicBool = AtomicBool::new(false);

/// Installs the handlers and returns the flag they set.
pub fn flag() -> Result<&'static AtomicBool> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            // Every file is written under another name first, so that nothing is half there.
            std::process::exit(output::STOPPED.into());
        }
    })
    .context("cannot listen for Ctrl-C")?;
    #[cfg(unix)]
    listen().context("cannot listen for SIGTERM and SIGUSR1")?;
    Ok(&STOP)
}

#[cfg(unix)]
fn listen() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let context = runtime.enter();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut user = signal(SignalKind::user_defined1())?;
    drop(context);
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(async {
            loop {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = user.recv() => {}
                }
                STOP.store(true, Ordering::Relaxed);
            }
        });
    })?;
    Ok(())
}
