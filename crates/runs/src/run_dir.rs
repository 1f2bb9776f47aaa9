//! A run directory: who may write in it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{Error, Lease, Result, RunError, files, lease_time, settings};

/// A run directory that this process alone may write in.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    lease: Lease,
}

impl RunDir {
    /// Makes the directory if need be and takes its lease.
    ///
    /// Refuses a directory another process is training in. The lease lasts as long as
    /// [`lease_time`] says without a heartbeat.
    pub fn take(path: &Path) -> Result<RunDir> {
        Ok(RunDir { path: path.to_owned(), lease: Lease::take(path, lease_time()?)? })
    }

    /// [`Error::Lost`] if the directory was removed or taken over. To be asked before every piece
    /// of work.
    pub fn check(&self) -> Result<()> {
        self.lease.check()
    }

    /// Lets `write` make a file at a path it is given, and puts that in place as `name`, unless the
    /// directory is no longer this process's: see [`Lease::place`].
    pub fn place<T, E: RunError>(
        &self,
        name: &str,
        write: impl FnOnce(&Path) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let target = self.file(name);
        self.lease.place(name, |draft| write(draft).map_err(|error| error.about(draft, &target)))
    }

    /// Writes a file whole or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.place(name, |path| files::write(path, bytes))
    }

    /// Writes a JSON file with the format's version and a checksum of its own.
    pub fn write_sealed(&self, name: &str, value: &impl serde::Serialize) -> Result<()> {
        self.write(name, &files::sealed_json(&self.file(name), value)?)
    }

    /// Opens a file to append to. It is a copy in the old one's place, so that what an earlier
    /// process still has open is no longer part of the run.
    pub fn reopen<T, E: RunError>(
        &self,
        name: &str,
        open: impl FnOnce(&Path) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.place(name, |path| {
            let old = self.file(name);
            match files::read(&old) {
                Ok(bytes) => files::write(path, &bytes)?,
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error.into()),
            }
            open(path)
        })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of one of its files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Refuses the directory if the run whose settings it holds, `theirs`, is another than ours.
    pub fn check_settings(
        &self,
        ours: &BTreeMap<String, String>,
        theirs: &BTreeMap<String, String>,
    ) -> Result<()> {
        let Some((key, here, there)) = settings::difference(ours, theirs) else { return Ok(()) };
        Err(Error::request(format!(
            "{} holds another run ({key} is {there} there and {here} here): choose another \
             directory",
            self.path.display()
        )))
    }
}
