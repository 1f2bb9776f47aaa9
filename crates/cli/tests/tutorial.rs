//! docs/tutorial.md, followed literally: every command is run, and what it prints is compared.
#![cfg(unix)]

use std::{
    path::Path,
    process::{Command, Output},
};

/// The commands of a page's console blocks, each with the lines that it should print.
fn commands(page: &str) -> Vec<(String, Vec<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in std::fs::read_to_string(path).unwrap().lines() {
        match (inside, line, line.strip_prefix("$ ")) {
            (false, "```console", _) => inside = true,
            (true, "```", _) => inside = false,
            (true, _, Some(command)) => found.push((command.to_owned(), Vec::new())),
            (true, ..) => found.last_mut().unwrap().1.push(line.to_owned()),
            _ => {}
        }
    }
    found
}

fn run(folder: &Path, command: &str) -> Output {
    let program = assert_cmd::cargo::cargo_bin("pgn");
    let path =
        format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    Command::new("sh").args(["-c", command]).current_dir(folder).env("PATH", path).output().unwrap()
}

/// Whether `found` has the lines of `expected`, where `…` stands for any lines, or for the rest of
/// its own.
fn fits(expected: &[String], found: &[&str]) -> bool {
    let Some((first, rest)) = expected.split_first() else { return found.is_empty() };
    if first == "…" {
        return (0..=found.len()).any(|skipped| fits(rest, &found[skipped..]));
    }
    let same = |line: &&&str| match first.strip_suffix('…') {
        Some(beginning) => line.starts_with(beginning),
        None => *line == first,
    };
    found.first().filter(same).is_some_and(|_| fits(rest, &found[1..]))
}

#[test]
fn the_tutorial_works_and_prints_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let commands = commands("tutorial.md");
    assert!(commands.len() >= 12, "{}", commands.len());
    for (command, expected) in commands {
        let output = run(folder.path(), &command);
        let text = String::from_utf8(output.stdout).unwrap();
        let fails = expected.iter().any(|line| line.contains("NOT CERTIFIED"));
        assert_eq!(output.status.code(), Some(i32::from(fails)), "{command}: {text}");
        let lines: Vec<&str> = text.lines().collect();
        assert!(fits(&expected, &lines), "{command} printed\n{text}\nexpected\n{expected:#?}");
    }
}
