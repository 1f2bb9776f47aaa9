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

/// Whenever the signal comes, no temporary file stays behind.
#[test]
fn commands_that_write_results_leave_no_temporary_files_after_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::create_dir(here.join("kept")).unwrap();
    stdout(here, &format!("train --out grid/dsu/pgn/seed-0 --epochs 1 {SMALL}"));
    stdout(here, "train --task dsu --model pgn-machine --epochs 120 --test-nodes 5 --out machine");
    for (arguments, written, expected) in [
        ("certify machine", "machine", vec!["certificate.json", "proof.safetensors"]),
        ("compile dsu --emit json --out tree.json --force", ".", vec!["tree.json"]),
        ("reproduce --tables grid --export kept", "kept", vec![]),
    ] {
        for delay in 0..12 {
            let before = names(&here.join(written));
            let child = start(here, arguments);
            std::thread::sleep(std::time::Duration::from_millis(15 * delay));
            let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
            let code = child.wait_with_output().unwrap().status;
            // Before its handler stands, the signal ends it as it would any program.
            assert!(matches!(code.code(), None | Some(0 | 130)), "{arguments}: {code:?}");
            let after = names(&here.join(written));
            let new = after.iter().filter(|name| !before.contains(name));
            for name in new {
                let known = expected.is_empty() || expected.iter().any(|file| name == file);
                assert!(known && !name.contains("tmp"), "{arguments}: {after:?}");
            }
        }
    }
    let temporary = |name: &String| name.ends_with(".tmp");
    assert!(!all_below(here).iter().any(temporary), "{:?}", all_below(here));
}

fn all_below(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => all_below(&path),
            false => vec![path.display().to_string()],
        })
        .collect()
}

/// A device that pretends to be a list of operations.
#[test]
fn operations_without_end_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::os::unix::fs::symlink("/dev/zero", here.join("mine.csv")).unwrap();
    stdout(here, &format!("train --out run --epochs 0 {SMALL}"));
    for command in [
        "generate --task dsu --operations mine.csv --out set.safetensors",
        "rollout run --operations mine.csv",
        "eval run --operations mine.csv",
        "eval dsu --data mine.csv",
        "train --operations mine.csv --out other",
    ] {
        let sentence = refused(here, command);
        assert!(
            sentence.ends_with("mine.csv: line 1: it is longer than 65536 bytes"),
            "{sentence}"
        );
    }
}

/// Paths are bytes; a name that is no text is a name like any other.
#[test]
fn a_run_directory_whose_name_is_not_utf_8_works() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let name = std::ffi::OsStr::from_bytes(b"run-\xff");
    let train = format!("train --epochs 1 {SMALL}");
    let outcome = common::pgn(here, &train).arg("--out").arg(name).output().unwrap();
    assert!(outcome.status.success(), "{outcome:?}");
    assert!(here.join(name).join("results.json").exists());
    let scored = common::pgn(here, "eval").arg(name).output().unwrap();
    assert!(scored.status.success(), "{scored:?}");
}

#[test]
fn a_machine_without_epochs_is_written_as_it_begins() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let train = "train --task dsu --model pgn-machine --epochs 0 --test-nodes 5 --out run";
    assert!(stdout(here, train).contains("of 21 consistent views are right"));
    let certified = common::pgn(here, "certify run").output().unwrap();
    assert_eq!(certified.status.code(), Some(1), "{certified:?}");
}

#[test]
fn a_mode_of_machines_is_refused_for_other_models() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --out run --epochs 0 {SMALL}"));
    for command in ["eval run --mode compiled", "rollout run --operations a.csv --mode compiled"] {
        let output = common::pgn(here, command).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}");
        let sentence = String::from_utf8(output.stderr).unwrap();
        assert_eq!(sentence, "error: --mode is for machines; run is none\n");
    }
}
