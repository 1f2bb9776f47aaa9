//! Ctrl-C, SIGTERM, SIGHUP and SIGUSR1: ask for an orderly stop. A second Ctrl-C ends the program there and
//! then.
//!
//! SIGTERM is what schedulers and shutting-down machines send; SIGUSR1 is what a Slurm job is
//! usually sent some time before its limit, so that it can be requeued; SIGHUP is what a terminal
//! sends when it is closed.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use pgn_structures::files::remove_temporaries;

use crate::output;

static STOP: AtomicBool = AtomicBool::new(false);

/// Installs the handlers and returns the flag they set.
pub fn flag() -> Result<&'static AtomicBool> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            end();
        }
    })
    .context("cannot listen for Ctrl-C")?;
    #[cfg(unix)]
    listen(|| STOP.store(true, Ordering::Relaxed)).context("cannot listen for signals")?;
    Ok(&STOP)
}

/// For commands that cannot be resumed: a signal ends them at once, but leaves no temporary files
/// behind.
pub fn leave_nothing() -> Result<()> {
    ctrlc::set_handler(|| end()).context("cannot listen for Ctrl-C")?;
    #[cfg(unix)]
    listen(|| end()).context("cannot listen for signals")?;
    Ok(())
}

/// Ends the program. Every file is written under another name first, so that nothing is half
/// there.
fn end() -> ! {
    remove_temporaries();
    std::process::exit(output::STOPPED.into());
}

#[cfg(unix)]
fn listen(mut then: impl FnMut() + Send + 'static) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let context = runtime.enter();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut user = signal(SignalKind::user_defined1())?;
    // Under `nohup` a closed terminal must not matter.
    let mut hangup = match hangup_is_ignored() {
        true => None,
        false => Some(signal(SignalKind::hangup())?),
    };
    drop(context);
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(async move {
            loop {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = user.recv() => {}
                    Some(_) = async { hangup.as_mut()?.recv().await } => {}
                }
                then();
            }
        });
    })?;
    Ok(())
}

/// Whether SIGHUP was ignored when the program was started. Where nobody can tell, it is left alone.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}
