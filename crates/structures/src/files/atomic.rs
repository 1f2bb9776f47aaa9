//! Writing a file so that nobody ever sees half of it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Error, Result};

/// Writes `bytes` to `path`, replacing what was there, in one step: see [`atomic_write_with`].
pub fn atomic_write(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    atomic_write_with(path, |file| file.write_all(bytes))
}

/// Lets `write` fill a temporary file beside `path`, then renames it to `path`.
///
/// A crash or an error at any moment leaves either the old file or the new one, whole; on an
/// error the temporary file is removed.
pub fn atomic_write_with(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let path = path.as_ref();
    let fail = |cause| Error::Io { verb: "write", path: path.to_path_buf(), cause };
    // A folder cannot be replaced by a file; better said before the work than after.
    if path.is_dir() {
        return Err(fail(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")));
    }
    let (temporary, file) = create_beside(path).map_err(fail)?;
    let written = fill(file, write).and_then(|()| fs::rename(&temporary, path));
    if let Err(source) = written {
        // The first error is the one to report, whatever becomes of the clean-up.
        let _ = fs::remove_file(&temporary);
        return Err(fail(source));
    }
    // The rename itself must reach the disk too. Not every file system can do this for a
    // folder, and the file is whole either way.
    #[cfg(unix)]
    let _ = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
    Ok(())
}

fn fill(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffered = BufWriter::with_capacity(1 << 16, file);
    write(&mut buffered)?;
    buffered.into_inner().map_err(|error| error.into_error())?.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A new file in the folder of `path`, hidden, with a name that no other writer uses.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it is not a file name"))?;
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{number}.tmp", std::process::id()));
        let temporary = folder_of(path).join(hidden);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            // Left behind by a process of the same number that was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn replaces_the_whole_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        atomic_write(&path, b"a longer first version").unwrap();
        atomic_write(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(names(folder.path()), ["a.bin"]);
    }

    #[test]
    fn an_error_while_writing_keeps_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        atomic_write(&path, b"old").unwrap();
        let error = atomic_write_with(&path, |file| {
            file.write_all(b"half of it")?;
            Err(io::Error::other("the disk is full"))
        })
        .unwrap_err();
        assert!(error.to_string().contains("a.bin: the disk is full"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a.bin"]);
    }

    #[test]
    fn folders_and_missing_folders_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_path_buf(), folder.path().join("none").join("a.bin")] {
            let error = atomic_write(&path, b"").unwrap_err().to_string();
            assert!(error.starts_with(&format!("cannot write {}: ", path.display())), "{error}");
        }
        assert!(names(folder.path()).is_empty());
    }
}
