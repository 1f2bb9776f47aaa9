//! Output that cannot be written ends no work.
#![cfg(unix)]

mod common;

use std::{fs, path::Path, process::Command};

use common::{SMALL, assert_same_outcome, pgn, stdout};

/// `pgn ARGUMENTS` with its output redirected by a shell.
fn shell(here: &Path, arguments: &str, redirection: &str) -> std::process::Output {
    let program = assert_cmd::cargo::cargo_bin("pgn");
    let script = format!("{} {arguments} {redirection}", program.display());
    Command::new("sh").args(["-c", &script]).current_dir(here).output().unwrap()
}

#[test]
fn training_goes_on_when_nobody_hears_of_its_progress() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --epochs 40 --out whole {SMALL}"));
    let train = format!("train --epochs 40 --out full {SMALL}");
    let output = shell(here, &train, "2>/dev/full");
    assert!(output.status.success(), "{output:?}");
    assert_same_outcome(&here.join("whole"), &here.join("full"));
    // Told again that it is finished, which it cannot say.
    assert!(shell(here, &train, "2>/dev/full").status.success());

    // The reader leaves after one line; the shell's status is the reader's.
    shell(here, &format!("train --epochs 40 --out piped {SMALL}"), "2>&1 >/dev/null | head -1");
    assert_same_outcome(&here.join("whole"), &here.join("piped"));
}

#[test]
fn a_grid_writes_its_tables_when_nobody_hears_of_its_progress() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let grid = format!("reproduce --out grid --models gnn,pgn --epochs 3 {SMALL}");
    shell(here, &grid, "2>&1 >/dev/null | head -1");
    for name in ["runs.json", "tables.md"] {
        assert!(here.join("grid").join(name).is_file(), "{name}");
    }
    fs::remove_dir_all(here.join("grid")).unwrap();
    assert!(shell(here, &grid, "2>/dev/full").status.success());
    assert!(here.join("grid/tables.md").is_file());
}

#[test]
fn output_that_cannot_be_written_is_an_error_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --epochs 2 --out run {SMALL}"));
    let output = shell(here, "eval run", ">/dev/full");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("error: cannot write to standard output"), "{stderr}");
    // Neither can be written: nobody is told, and nothing panics.
    assert_eq!(shell(here, "eval run", ">/dev/full 2>/dev/full").status.code(), Some(1));
    let closed = shell(here, "eval run --json", "| true; exit 0");
    assert!(!String::from_utf8_lossy(&closed.stderr).contains("panicked"), "{closed:?}");
}

#[test]
fn the_size_of_latents_has_a_new_name() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let epochs = "train --epochs 1 --out";
    let old = pgn(here, &format!("{epochs} old --features 16 {SMALL}")).output().unwrap();
    assert!(old.status.success());
    for (name, flag) in [("new", "--latents"), ("short", "--k")] {
        let new = pgn(here, &format!("{epochs} {name} {flag} 16 {SMALL}")).output().unwrap();
        assert!(new.status.success());
        assert_same_outcome(&here.join("old"), &here.join(name));
    }
}
