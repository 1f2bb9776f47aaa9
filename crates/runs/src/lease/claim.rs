//! Taking a lease, from nobody or from a holder that is gone.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Write},
    path::Path,
    time::{Duration, SystemTime},
};

use pgn_structures::files::remove_stale;

use crate::{Error, Result, files};

use super::{
    LEASE, LEASE_TIME, Lease,
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
pub(super) fn lock(directory: &Path) -> Result<(Option<File>, bool)> {
    let path = directory.join(LOCK);
    if !is_lock(&path) && path.symlink_metadata().is_ok() {
        return Err(Error::file(&path, "it is not a regular file; expected one, or nothing"));
    }
    let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let mut lock = opened.map_err(Error::io("write", &path))?;
    match lock.try_lock() {
        Ok(()) => {
            lock.write_all(LOCK_MARK).map_err(Error::io("write", &path))?;
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

/// Whether there is a file to lock. A pipe would block whoever opens it.
pub(super) fn is_lock(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Makes a claim and turns it into the lease. Returns the file system's time.
pub(super) fn claim_and_take(
    directory: &Path,
    claim: &Path,
    name: &str,
    record: &Record,
    blocked: bool,
) -> Result<SystemTime> {
    let folder = claim.join(name);
    fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
    let heartbeat = folder.join(HEARTBEAT);
    fs::write(&heartbeat, record.text(0)).map_err(Error::io("write", &heartbeat))?;
    let written = File::open(&heartbeat).and_then(|file| file.metadata()?.modified());
    let now = written.map_err(Error::io("read", &heartbeat))?;
    let lease = directory.join(LEASE);
    // Every round somebody else was quicker; after a few of them, let them have it.
    for _ in 0..4 {
        let Some(holder) = Lease::holder(directory) else {
            if blocked {
                return Err(Error::Locked { path: directory.to_owned() });
            }
            remove_strays(&lease);
            // What counts is whose folder is there in the end: over a network a rename may
            // succeed and yet report an error.
            let renamed = fs::rename(claim, &lease);
            if lease.join(name).is_dir() {
                return Ok(now);
            }
            match renamed {
                Err(error) if !is_taken(&error) => {
                    return Err(Error::io("create", &lease)(error));
                }
                _ => continue,
            }
        };
        let over = holder.is_dead(record.flock)
            || holder.is_expired(now)
            || holder.is_still(directory, now);
        if !over {
            return Err(Error::Locked { path: directory.to_owned() });
        }
        // The fence: once this folder is elsewhere, its holder can put nothing in place. It is that
        // holder's and no other's, so that no fresh lease is ever taken away.
        let away = directory.join(format!("{EXPIRED}{name}"));
        if fs::rename(lease.join(&holder.name), &away).is_ok() {
            remove_for_good(&away)?;
        }
    }
    Err(Error::Locked { path: directory.to_owned() })
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
fn remove_for_good(folder: &Path) -> Result<()> {
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
    outcome.map_err(Error::io("remove", folder))
}

/// Removes what others have put beside the holders' folders, which would keep it from being a lease.
fn remove_strays(lease: &Path) {
    for entry in fs::read_dir(lease).into_iter().flatten().flatten() {
        let _ = fs::remove_file(entry.path());
    }
}

/// Removes what processes that were killed have left behind, and nothing else. A claim is left
/// alone while its process may be at it.
pub(super) fn remove_leftovers(directory: &Path, now: SystemTime) {
    files::ALL.iter().for_each(|name| remove_stale(&directory.join(name)));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|time| now.duration_since(time).ok());
        if age.is_none_or(|age| age < LEASE_TIME) {
            continue;
        }
        let there = entry.path();
        if let Some(holder) = name.strip_prefix(CLAIM) {
            // What is in there besides is not ours: then the folder stays.
            let _ = fs::remove_file(there.join(holder).join(HEARTBEAT));
            let _ = fs::remove_dir(there.join(holder));
            let _ = fs::remove_dir(there);
        } else if name.starts_with(EXPIRED) && is_expired_lease(&there) {
            let _ = fs::remove_dir_all(there);
        }
    }
}

/// Whether a folder is a lease that was given back, or has one that was taken away.
fn is_expired_lease(folder: &Path) -> bool {
    let below = fs::read_dir(folder).into_iter().flatten().flatten();
    folder.join(HEARTBEAT).is_file()
        || below.into_iter().any(|entry| entry.path().join(HEARTBEAT).is_file())
}
