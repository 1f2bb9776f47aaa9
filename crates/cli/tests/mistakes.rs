//! What a mistaken or hostile command leaves as it was.
#![cfg(unix)]

mod common;

use std::{fs, path::Path, process::Command};

use common::{SMALL, names, pgn, refused, stdout};

/// All files below a folder with their bytes.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for name in names(folder) {
        let path = folder.join(&name);
        match path.is_dir() {
            true => found.extend(contents(&path)),
            false => found.push((path.display().to_string(), fs::read(&path).unwrap())),
        }
    }
    found
}

#[test]
fn a_failed_start_leaves_the_directory_to_the_corrected_command() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for model in ["gnn", "pgn"] {
        stdout(here, &format!("train --model {model} --epochs 1 --out {model} {SMALL}"));
    }
    let student = "train --model pgn-ptrs --epochs 1 --out run";
    for wrong in [
        &format!("{student} --teacher gnn {SMALL}"),
        &format!("{student} --task lct --teacher pgn {SMALL}"),
        &format!("train --task lct --model pgn-exact --epochs 1 --out run {SMALL}"),
        &format!("train --task lct --pointer-types up --epochs 1 --out run {SMALL}"),
        &format!("train --input-graph edges --epochs 1 --out run {SMALL}"),
    ] {
        refused(here, wrong);
        assert!(!here.join("run/config.toml").exists(), "{wrong}");
    }
    stdout(here, &format!("{student} --teacher pgn {SMALL}"));
}

#[test]
fn nothing_is_overwritten_without_being_told() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --epochs 1 --out run {SMALL}"));
    stdout(here, "generate --task dsu --nodes 6 --count 2 --out set");
    for command in [
        "rollout run --data set --out out",
        "compile dsu --out out",
        "report run --out out",
        "generate --task dsu --nodes 6 --count 2 --out out",
    ] {
        fs::write(here.join("out"), "precious").unwrap();
        let error = refused(here, command);
        assert!(error.ends_with("out already exists; use --force to overwrite it"), "{error}");
        assert_eq!(fs::read(here.join("out")).unwrap(), b"precious");
        stdout(here, &format!("{command} --force"));
        assert_ne!(fs::read(here.join("out")).unwrap(), b"precious");
        // Neither are links, nor devices.
        let _ = fs::remove_file(here.join("link"));
        std::os::unix::fs::symlink("set", here.join("link")).unwrap();
        for target in ["link", "/dev/null"] {
            let command =
                format!("{command} --force").replace("--out out", &format!("--out {target}"));
            assert!(refused(here, &command).contains("is not a regular file"), "{command}");
        }
    }
}

#[test]
fn a_lost_terminal_leaves_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    // As from a terminal, even where the tests themselves run under nohup.
    let mut child = Command::new("env")
        .arg("--default-signal=HUP")
        .arg(assert_cmd::cargo::cargo_bin("pgn"))
        .args(format!("train --epochs 1000000 --patience 0 --out run {SMALL}").split_whitespace())
        .current_dir(here)
        .stderr(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    common::wait_until("metrics", || here.join("run/metrics.jsonl").exists());
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(here.join("run/checkpoint.safetensors").exists());
}

#[test]
fn nohup_outlives_its_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let program = assert_cmd::cargo::cargo_bin("pgn");
    let mut child = Command::new("nohup")
        .arg(program)
        .args(format!("train --epochs 1000000 --patience 0 --out run {SMALL}").split_whitespace())
        .current_dir(here)
        .stderr(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    common::wait_until("metrics", || here.join("run/metrics.jsonl").exists());
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    // Asked to stop, it does: it was still there.
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn an_error_is_one_line_whatever_a_file_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::create_dir(here.join("a\nerror: b\u{1b}[31m")).unwrap();
    let output = pgn(here, "eval").arg("a\nerror: b\u{1b}[31m").output().unwrap();
    let error = common::one_sentence("eval", &output);
    assert!(error.contains(r"a\nerror: b\u{1b}[31m"), "{error}");
}

/// A note may be a link to a file whose contents are nobody's business.
#[test]
fn what_a_note_of_a_class_says_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --epochs 1 --out run {SMALL}"));
    fs::write(here.join("secret"), "the password is xyzzy\n").unwrap();
    std::os::unix::fs::symlink(here.join("secret"), here.join("run/structure.txt")).unwrap();
    let before = contents(&here.join("run"));
    let error = refused(here, "eval run");
    assert!(error.contains("run/structure.txt") && !error.contains("xyzzy"), "{error}");
    assert_eq!(contents(&here.join("run")), before);
}
