//! The checksums of a finished run's files, which its `results.json` has.

use std::{collections::BTreeMap, path::Path};

use crate::{Error, Result, files};

/// CRC-32C by the name of the file in the run directory.
pub type Checksums = BTreeMap<String, u32>;

/// The checksums of those of the files that a run directory has.
pub fn of_files(run: &Path, names: impl IntoIterator<Item = String>) -> Result<Checksums> {
    let there =
        names.into_iter().map(|name| (run.join(&name), name)).filter(|(path, _)| path.exists());
    there.map(|(path, name)| Ok((name, of_file(&path)?))).collect()
}

/// The checksum of a file.
pub fn of_file(path: &Path) -> Result<u32> {
    Ok(crc32c::crc32c(&files::read(path)?))
}

/// Refuses a file that is there and has another checksum than the one in `checksums`, if any.
pub fn check(checksums: &Checksums, run: &Path, name: &str) -> Result<()> {
    let path = run.join(name);
    let Some(&expected) = checksums.get(name).filter(|_| path.exists()) else { return Ok(()) };
    let found = of_file(&path)?;
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
