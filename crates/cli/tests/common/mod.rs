//! What the tests of the program share.
#![allow(dead_code, reason = "not every test file uses all of it")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command as StdCommand, Output, Stdio};

use assert_cmd::Command;

/// A training setting small enough for a test.
pub const SMALL: &str = "--sequences 6 --validation-sequences 4 --nodes 8 --test-nodes 8,12 \
                         --test-sequences 3";

/// `pgn ARGUMENTS` in a folder.
pub fn pgn(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::cargo_bin("pgn").unwrap();
    command.current_dir(folder).args(arguments.split_whitespace());
    command
}

/// What a command that succeeds prints to standard output.
pub fn stdout(folder: &Path, arguments: &str) -> String {
    let output = pgn(folder, arguments).assert().success().get_output().clone();
    String::from_utf8(output.stdout).unwrap()
}

/// The one line on standard error of a command that fails.
pub fn refused(folder: &Path, arguments: &str) -> String {
    let output = pgn(folder, arguments).output().unwrap();
    one_sentence(arguments, &output)
}

/// Checks that a command failed in one sentence, and returns it.
pub fn one_sentence(what: &str, output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{what} should have failed");
    assert!(output.stdout.is_empty(), "{what} printed something");
    // Before it there may be lines of progress, after it the hints that clap adds.
    let mut errors = stderr.lines().filter(|line| line.starts_with("error: "));
    let sentence = errors.next().unwrap_or_else(|| panic!("{what}: {stderr}")).to_owned();
    assert_eq!(errors.next(), None, "{what}: {stderr}");
    let after = stderr.lines().skip_while(|line| *line != sentence).skip(1);
    let hint = |line: &&str| {
        line.is_empty()
            || line.trim_start().starts_with("[possible values")
            || line.starts_with("For more information")
    };
    let more: Vec<&str> = after.filter(|line| !hint(line)).collect();
    assert!(more.is_empty(), "{what}: {stderr}");
    sentence
}

/// Starts `pgn ARGUMENTS` in a folder, without waiting.
pub fn start(folder: &Path, arguments: &str) -> Child {
    StdCommand::new(assert_cmd::cargo::cargo_bin("pgn"))
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// `results.json` without the times, which are never the same, and the checksum over them.
pub fn results_without_times(run: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(run.join("results.json")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value.as_object_mut().unwrap().remove("timing").unwrap();
    value.as_object_mut().unwrap().remove("crc32c").unwrap();
    value
}

/// Asserts that two run directories hold the same outcome, byte for byte.
pub fn assert_same_outcome(a: &Path, b: &Path) {
    for name in ["config.toml", "model.safetensors", "metrics.jsonl"] {
        let [x, y] = [a, b].map(|run| std::fs::read(run.join(name)).unwrap());
        assert!(x == y, "{name} differs between {} and {}", a.display(), b.display());
    }
    assert_eq!(results_without_times(a), results_without_times(b));
}

/// The names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Waits until `done` says so.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    // Only a hanging program ever gets near the limit.
    for _ in 0..60_000 {
        if done() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("waited in vain for {what}");
}

/// The path of a run under a grid.
pub fn run(out: &Path, task: &str, model: &str, seed: u64) -> PathBuf {
    out.join(task).join(model).join(format!("seed-{seed}"))
}
