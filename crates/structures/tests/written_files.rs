//! Files are written whole or not at all, and only regular ones are read.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use pgn_structures::files::{atomic_write, atomic_write_with, read_regular};

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
fn what_a_killed_process_left_is_removed_by_the_next_write() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // Nobody holds the first; a living writer holds the second; the third is another file's.
    for name in [".a.bin.4711-0.tmp", ".a.bin.4712-3.tmp", ".a.bin.old.1-0.tmp"] {
        fs::write(at(name), b"half").unwrap();
    }
    let writer = File::open(at(".a.bin.4712-3.tmp")).unwrap();
    writer.lock().unwrap();
    atomic_write(at("a.bin"), b"new").unwrap();
    let mut left = names(folder.path());
    left.sort();
    assert_eq!(left, [".a.bin.4712-3.tmp", ".a.bin.old.1-0.tmp", "a.bin"]);
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

#[test]
fn only_regular_files_of_a_sensible_size_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    std::fs::write(&path, b"12345").unwrap();
    assert_eq!(read_regular(&path, 5).unwrap(), b"12345");
    let error = read_regular(&path, 4).unwrap_err().to_string();
    assert!(error.ends_with("a.bin: it has 5 bytes; expected at most 4"), "{error}");
    assert!(read_regular(folder.path(), 5).is_err());
    assert!(read_regular(folder.path().join("none"), 5).is_err());
}

#[test]
fn of_many_writers_at_once_none_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    let write = || (0..300).try_for_each(|_| atomic_write(&path, b"whole"));
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8).map(|_| scope.spawn(write)).collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap().unwrap());
    });
    assert_eq!(names(folder.path()), ["a.bin"]);
}

#[cfg(unix)]
#[test]
fn links_pipes_and_devices_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("target"), "precious").unwrap();
    std::os::unix::fs::symlink(at("target"), at("link")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    for path in [at("link"), at("pipe"), "/dev/null".into()] {
        let error = atomic_write(&path, b"new").unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
        assert!(!fs::symlink_metadata(&path).unwrap().is_file());
    }
    assert_eq!(fs::read(at("target")).unwrap(), b"precious");
}
