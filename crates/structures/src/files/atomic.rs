//! Writing a file so that nobody ever sees half of it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{Error, Result};

/// Writes `bytes` to `path`, replacing what was there, in one step: see [`atomic_write_with`].
pub fn atomic_write(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    atomic_write_with(path, |file| file.write_all(bytes))
}

/// Lets `write` fill a temporary file beside `path`, then renames it to `path`.
///
/// A crash or an error at any moment leaves either the old file or the new one, whole. On an
/// error the temporary file is removed. One that a killed process left behind is removed by the
/// next write to the same path.
pub fn atomic_write_with(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let path = path.as_ref();
    let fail = |cause| Error::Io { verb: "write", path: path.to_path_buf(), cause };
    check_replaceable(path).map_err(fail)?;
    remove_stale(path);
    let (temporary, file) = Temporary::beside(path).map_err(fail)?;
    // On an error `temporary` removes its file when it is dropped.
    fill(&file, write).and_then(|()| fs::rename(&temporary.path, path)).map_err(fail)?;
    drop((temporary, file));
    // The rename itself must reach the disk too. Not every file system can do this for a
    // folder, and the file is whole either way.
    #[cfg(unix)]
    let _ = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Refuses what a file must not replace: a folder, a device, a pipe, a symbolic link.
pub fn check_replaceable(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => {
            Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"))
        }
        Ok(there) if !there.is_file() => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file; expected one, or nothing",
        )),
        _ => Ok(()),
    }
}

fn fill(file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffered = BufWriter::with_capacity(1 << 16, file);
    write(&mut buffered)?;
    buffered.flush()?;
    file.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The temporary files that this process is writing.
static UNDER_WAY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files that this process is writing: for a program that is about to end
/// in the middle of its work, on a signal say.
pub fn remove_temporaries() {
    for path in UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// A temporary file, which is removed with this value unless it was renamed.
///
/// Its writer holds a lock on it, so that [`remove_stale`] can tell it from one that a killed
/// process left behind.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// A new file in the folder of `path`, hidden, with a name that no other writer uses.
    fn beside(path: &Path) -> io::Result<(Temporary, File)> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let prefix = prefix(path)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it is not a file name"))?;
        loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let mut name = prefix.clone();
            name.push(format!("{}-{number}{SUFFIX}", std::process::id()));
            let path = folder_of(path).join(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    let temporary = Temporary { path };
                    UNDER_WAY
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(temporary.path.clone());
                    // Another writer may take it for stale before it is locked. Not every file
                    // system has locks; there nothing is ever taken for stale.
                    let locked = file.try_lock();
                    if !matches!(locked, Err(TryLockError::WouldBlock)) && temporary.path.exists() {
                        return Ok((temporary, file));
                    }
                }
                // Left behind by a process of the same number that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut all = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|path| *path != self.path);
        // Gone already if it was renamed. The first error is the one to report, so not this one.
        let _ = fs::remove_file(&self.path);
    }
}

const SUFFIX: &str = ".tmp";

/// What the names of the temporary files of `path` begin with.
fn prefix(path: &Path) -> Option<OsString> {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name()?);
    prefix.push(".");
    Some(prefix)
}

/// Removes temporary files of `path` that nobody is writing any more.
pub fn remove_stale(path: &Path) {
    let Some(prefix) = prefix(path) else { return };
    for entry in fs::read_dir(folder_of(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let rest = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        let Some(rest) = rest.and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes())) else {
            continue;
        };
        // Process and number, so that a file of another name that begins alike is left alone.
        let is_ours = !rest.is_empty() && rest.iter().all(|&b| b.is_ascii_digit() || b == b'-');
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(file) = File::open(entry.path()) else { continue };
        // Locked until it is gone: its writer, who locks it too, makes another then.
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}
