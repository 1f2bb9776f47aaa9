//! A run directory: who may write in it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{
    AnyConfig, ConfigOf, Error, Lease, Network, Result, files, format::Versioned, json_checksum,
    lease_time, settings,
};

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

    /// Whether some process, this one included, trains in the directory.
    pub fn is_held(path: &Path) -> bool {
        Lease::is_held(path)
    }

    /// [`Error::Lost`] if the directory was removed or taken over. To be asked before every piece
    /// of work.
    pub fn check(&self) -> Result<()> {
        Ok(self.lease.check()?)
    }

    /// Lets `write` make a file at a path it is given, and puts that in place as `name`, unless the
    /// directory is no longer this process's: see [`Lease::place`].
    pub fn place<T>(&self, name: &str, write: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let target = self.file(name);
        self.lease.place(name, |draft| write(draft).map_err(|error| error.about(draft, &target)))
    }

    /// Writes a file whole or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.place(name, |path| files::write(path, bytes))
    }

    /// Writes `results.json`, sealed with a checksum of its own.
    pub(crate) fn write_results(&self, results: &impl serde::Serialize) -> Result<()> {
        let path = self.file(files::RESULTS);
        self.write(
            files::RESULTS,
            &json_checksum::add(files::json_bytes(&path, &Versioned::new(results))?),
        )
    }

    /// Opens a file to append to. It is a copy in the old one's place, so that what an earlier
    /// process still has open is no longer part of the run.
    pub fn reopen<T>(&self, name: &str, open: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        self.place(name, |path| {
            let old = self.file(name);
            match files::read(&old) {
                Ok(bytes) => files::write(path, &bytes)?,
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
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

    /// The text of the `config.toml` that is there, if any. Refuses a directory that holds another
    /// run than the one with these settings.
    pub(crate) fn check_config(&self, flat: &BTreeMap<String, String>) -> Result<Option<String>> {
        let path = self.file(files::CONFIG);
        if !path.exists() {
            return Ok(None);
        }
        match settings::difference(flat, &AnyConfig::load(&path)?.flat()) {
            None => files::read_text(&path).map(Some),
            Some(difference) => Err(other_run(&self.path, difference)),
        }
    }

    /// Writes `config.toml`; returns its text. The teacher it names is the copy that the run keeps,
    /// so that the file is the same wherever the original lies.
    pub(crate) fn write_config<N: Network>(&self, config: &ConfigOf<N>) -> Result<String> {
        let mut config = config.clone();
        if let Some(teacher) = &mut config.data.teacher {
            *teacher = files::TEACHER.into();
        }
        let text = config.file_text();
        self.write(files::CONFIG, text.as_bytes())?;
        Ok(text)
    }
}

/// Why a directory is refused: the setting in which its run differs from the one that was asked
/// for.
fn other_run(dir: &Path, (key, here, there): (String, String, String)) -> Error {
    Error::Request(format!(
        "{} holds another run ({key} is {there} there and {here} here): choose another directory",
        dir.display()
    ))
}
