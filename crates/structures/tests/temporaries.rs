//! Removing the temporary files of a process that is about to end. A program of its own, with one
//! test: it removes every temporary file of its process, those of other tests included.

use std::fs;

use pgn_structures::files::{atomic_write_with, remove_temporaries};

#[test]
fn temporary_files_under_way_can_be_removed_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let files = || fs::read_dir(folder.path()).unwrap().count();
    let written = atomic_write_with(folder.path().join("a.bin"), |file| {
        file.write_all(b"half")?;
        assert_eq!(files(), 1);
        remove_temporaries();
        assert_eq!(files(), 0);
        Ok(())
    });
    assert!(written.is_err());
    assert_eq!(files(), 0);
}
