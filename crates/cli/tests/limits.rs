//! What cannot be done is refused at once, and what is ended leaves nothing behind.
#![cfg(unix)]

mod common;

use std::{fs, process::Command};

use common::{SMALL, names, refused, start, stdout, wait_until};

#[test]
fn too_many_threads_and_too_large_models_are_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for (arguments, expected) in [
        (format!("train --threads 20000 --out run {SMALL}"), "--threads is 20000; expected from 1"),
        (
            "reproduce --jobs 20000 --out grid".to_owned(),
            "--jobs is 20000; expected from 1 to 1024",
        ),
        ("train --nodes 1000000 --out large".to_owned(), "GiB of memory"),
        ("train --latents 1000000 --out wide".to_owned(), "k is 1000000"),
    ] {
        let sentence = refused(here, &arguments);
        assert!(sentence.contains(expected), "{arguments}: {sentence}");
    }
}

#[test]
fn a_data_set_that_is_not_finished_leaves_no_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for signal in ["-INT", "-TERM"] {
        // Large enough to be caught in the middle of writing it, sooner or later: on a busy machine
        // it may be finished before the signal arrives.
        let caught = (0..100).any(|_| {
            let mut child =
                start(here, "generate --task lct --nodes 200 --count 150 --out set.safetensors");
            wait_until("a temporary file", || !names(here).is_empty());
            let id = child.id().to_string();
            assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
            let code = child.wait().unwrap().code();
            assert!(matches!(code, Some(0 | 130)), "{signal}: {code:?}");
            code == Some(130) || fs::remove_file(here.join("set.safetensors")).is_err()
        });
        assert!(caught, "{signal}: always too late");
        assert!(names(here).is_empty(), "{signal}: {:?}", names(here));
    }
}

/// A pipe would block its reader, a device never ends, and a large file of zeros fills the memory.
#[test]
fn a_data_set_that_is_no_file_or_has_no_header_is_refused_unread() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    assert!(Command::new("mkfifo").arg(here.join("pipe")).status().unwrap().success());
    fs::File::create(here.join("sparse")).unwrap().set_len(1 << 42).unwrap();
    for (file, expected) in [
        ("pipe", "it is not a regular file"),
        ("/dev/zero", "it is not a regular file"),
        ("sparse", "not a valid safetensors file"),
    ] {
        let sentence = refused(here, &format!("generate --describe {file}"));
        assert!(sentence.contains(expected), "{file}: {sentence}");
    }
    // A header that does not describe the rest.
    stdout(here, "generate --task dsu --nodes 5 --count 2 --out set.safetensors");
    let file = fs::OpenOptions::new().write(true).open(here.join("set.safetensors")).unwrap();
    file.set_len(1 << 42).unwrap();
    let sentence = refused(here, "generate --describe set.safetensors");
    assert!(sentence.contains("the file has 4398046511104 bytes, which is not"), "{sentence}");
}
