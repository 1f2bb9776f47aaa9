//! The checksums of a finished run's files, which its `results.json` has.

use std::{collections::BTreeMap, path::Path};

use crate::{Error, Result, Results, RunDir, files, format::Versioned, json_checksum};

/// CRC-32C by the name of the file in the run directory.
pub type Checksums = BTreeMap<String, u32>;

/// The files that a run may hold when it ends, beside its results. Event files and checkpoints have
/// checksums inside; they also hold times, so that those of two equal runs differ.
const FILES: [&str; 6] = [
    files::CONFIG,
    files::MODEL,
    files::METRICS,
    files::INITIAL,
    "teacher/config.toml",
    "teacher/model.safetensors",
];

/// The checksums of the files that a run has.
pub(crate) fn of_run(run: &RunDir) -> Result<Checksums> {
    let there = FILES.into_iter().filter(|name| run.file(name).exists());
    there
        .map(|name| Ok((name.to_owned(), crc32c::crc32c(&files::read(&run.file(name))?))))
        .collect()
}

impl Results {
    /// Refuses a run directory in which a file is not the one that these results were written
    /// with. Files that are gone are no trouble here, and neither are results of versions that
    /// noted no checksums.
    pub fn check_files(&self, run: &Path) -> Result<()> {
        self.files.keys().try_for_each(|name| self.check_file(run, name))
    }

    /// Notes the checksum of a file that was changed on purpose.
    pub fn note_file(&mut self, run: &Path, name: &str) -> Result<()> {
        self.files.insert(name.to_owned(), crc32c::crc32c(&files::read(&run.join(name))?));
        Ok(())
    }

    /// Writes `results.json` to a directory that nobody trains in.
    pub fn save(&self, run: &Path) -> Result<()> {
        let path = run.join(files::RESULTS);
        files::write(&path, &json_checksum::add(files::json_bytes(&path, &Versioned::new(self))?))
    }

    /// The same as [`Results::check_files`] for one file, by its name in the run directory.
    pub fn check_file(&self, run: &Path, name: &str) -> Result<()> {
        let path = run.join(name);
        let Some(&expected) = self.files.get(name) else { return Ok(()) };
        if !path.exists() {
            return Ok(());
        }
        let found = crc32c::crc32c(&files::read(&path)?);
        if found == expected {
            return Ok(());
        }
        Err(Error::file(
            &path,
            format!(
                "it is damaged or of another run: its checksum is {found}, but the run's {} has \
                 {expected}",
                files::RESULTS
            ),
        ))
    }
}
