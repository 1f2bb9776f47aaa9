//! Reading files that others may have put in place.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::{Error, Result};

/// The bytes of a regular file of at most `limit` bytes.
///
/// For files that are found, not chosen: a pipe would block its reader, a device would never end,
/// and a file of any size would take all memory.
///
/// ```
/// use pgn_structures::files::read_regular;
///
/// let error = read_regular("/dev/zero", 100).unwrap_err();
/// assert_eq!(error.to_string(), "cannot read /dev/zero: it is not a regular file");
/// ```
pub fn read_regular(path: impl AsRef<Path>, limit: u64) -> Result<Vec<u8>> {
    let path = path.as_ref();
    let read = || -> io::Result<Vec<u8>> {
        let (file, length) = open_regular(path, limit)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length as usize)?;
        // It may grow meanwhile.
        file.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|cause| Error::Io { verb: "read", path: path.to_path_buf(), cause })
}

/// Opens a regular file of at most `limit` bytes; also returns its length.
pub(super) fn open_regular(path: &Path, limit: u64) -> io::Result<(File, u64)> {
    // Before it is opened, since opening a pipe waits for its writer.
    regular(&fs::metadata(path)?, limit)?;
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    regular(&metadata, limit)?;
    Ok((file, metadata.len()))
}

fn regular(metadata: &fs::Metadata, limit: u64) -> io::Result<()> {
    let trouble = if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    } else if !metadata.is_file() {
        "it is not a regular file".to_owned()
    } else if metadata.len() > limit {
        format!("it has {} bytes; expected at most {limit}", metadata.len())
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, trouble))
}
