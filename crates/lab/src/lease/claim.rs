//! Taking a lease, from nobody or from a holder that is gone.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Write},
    path::Path,
    time::{Duration, SystemTime},
};

use super::{
    LEASE, LEASE_TIME, Lease, LeaseError, failed,
    holder::{HEARTBEAT, Record},
};

/// Locked with `flock` by the holder, where that works.
pub(super) const LOCK: &str = ".lock";
pub(super) const LOCK_MARK: &[u8] = b"the lease beside this file says who may write here\n";
/// Before the holder's name: a claim that is not yet a lease, and a lease that has been taken away.
pub(super) const CLAIM: &str = ".claim-";
pub(super) const EXPIRED: &str = ".expired-";

/// Locks `.lock` where that works. Else says whether it is held by a process that knows nothing of
/// leases: one that does leaves a mark in the file, since its lock may outlive its lease.
pub(super) fn lock(directory: &Path) -> Result<(Option<File>, bool), LeaseError> {
    let path = directory.join(LOCK);
    let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let mut lock = opened.map_err(failed("write", &path))?;
    match lock.try_lock() {
        Ok(()) => {
            lock.write_all(LOCK_MARK).map_err(failed("write", &path))?;
            Ok((Some(lock), false))
        }
        Err(TryLockError::WouldBlock) => {
            let unmarked = lock.metadata().is_ok_and(|metadata| metadata.len() == 0);
            Ok((None, unmarked))
        }
        // There are shared folders without it: the lease alone has to do.
        Err(TryLockError::Error(_)) => Ok((None, false)),
    }
}

/// Makes a claim and turns it into the lease. Returns the file system's time.
pub(super) fn claim_and_take(
    directory: &Path,
    claim: &Path,
    name: &str,
    record: &Record,
    blocked: bool,
) -> Result<SystemTime, LeaseError> {
    let folder = claim.join(name);
    fs::create_dir_all(&folder).map_err(failed("create", &folder))?;
    let heartbeat = folder.join(HEARTBEAT);
    fs::write(&heartbeat, record.text(0)).map_err(failed("write", &heartbeat))?;
    let written = File::open(&heartbeat).and_then(|file| file.metadata()?.modified());
    let now = written.map_err(failed("read", &heartbeat))?;
    let lease = directory.join(LEASE);
    // Every round somebody else was quicker; after a few of them, let them have it.
    for _ in 0..4 {
        let Some(holder) = Lease::holder(directory) else {
            if blocked {
                return Err(LeaseError::Held(directory.to_owned(), None));
            }
            // What counts is whose folder is there in the end: over a network a rename may
            // succeed and yet report an error.
            let renamed = fs::rename(claim, &lease);
            if lease.join(name).is_dir() {
                return Ok(now);
            }
            match renamed {
                Err(error) if !is_taken(&error) => {
                    return Err(LeaseError::Io("create", lease, error));
                }
                _ => continue,
            }
        };
        if !holder.is_dead(record.flock) && !holder.is_expired(now) {
            return Err(LeaseError::Held(directory.to_owned(), Some(holder)));
        }
        let away = directory.join(format!("{EXPIRED}{name}"));
        if fs::rename(&lease, &away).is_err() {
            continue;
        }
        if !away.join(&holder.name).is_dir() {
            // Somebody else was quicker, and this is their fresh lease.
            if fs::rename(&away, &lease).is_ok() {
                continue;
            }
        }
        // The fence: once this folder is gone, the last holder can put nothing in place.
        remove_for_good(&away)?;
    }
    Err(LeaseError::Held(directory.to_owned(), Lease::holder(directory)))
}

/// Whether a rename failed because the lease is taken, or because a new holder has swept this
/// claim away.
fn is_taken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists | ErrorKind::NotFound
    )
}

/// Removes a folder in which somebody may still be writing.
fn remove_for_good(folder: &Path) -> Result<(), LeaseError> {
    let mut outcome = Ok(());
    for _ in 0..20 {
        outcome = fs::remove_dir_all(folder);
        match &outcome {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                std::thread::sleep(Duration::from_millis(50));
            }
            _ => return Ok(()),
        }
    }
    outcome.map_err(failed("remove", folder))
}

/// Removes what processes that were killed have left behind. Only the holder of the lease writes
/// here, so no temporary file is in use; a claim is left alone while its process may be at it.
pub(super) fn remove_leftovers(directory: &Path, now: SystemTime) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with('.')) else { continue };
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|time| now.duration_since(time).ok());
        if name.ends_with(".tmp") {
            let _ = fs::remove_file(entry.path());
        } else if (name.starts_with(CLAIM) || name.starts_with(EXPIRED))
            && age.is_some_and(|age| age >= LEASE_TIME)
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
