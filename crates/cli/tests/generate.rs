//! `pgn generate` from the outside.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

fn pgn(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::cargo_bin("pgn").unwrap();
    command.current_dir(folder).arg("generate").args(arguments.split_whitespace());
    command
}

fn output(folder: &TempDir, arguments: &str) -> String {
    let output = pgn(folder.path(), arguments).assert().success().get_output().clone();
    assert!(output.stderr.is_empty());
    String::from_utf8(output.stdout).unwrap()
}

/// The one line on standard error of a command that fails with `code`.
fn error(folder: &TempDir, arguments: &str, code: i32) -> String {
    let output = pgn(folder.path(), arguments).assert().code(code).get_output().clone();
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

fn files(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn generates_what_it_describes() {
    let folder = tempfile::tempdir().unwrap();
    let made = output(&folder, "--task dsu --nodes 20 --ops 30 --count 70 --seed 1 --out a.st");
    let summary =
        "a.st: 70 sequences of 30 operations on 20 nodes (task dsu, split train, seed 1)\n";
    assert_eq!(made, summary);
    assert_eq!(files(&folder), ["a.st"]);

    let text = output(&folder, "--describe a.st");
    assert!(text.starts_with(summary), "{text}");
    for line in ["answers 1", "masks 0", "self-pointing", "mean depth", "maximum depth"] {
        assert!(text.contains(&format!("\n  {line} ")), "{text}");
    }
    assert!(text.contains("ground truth   reproduced exactly"), "{text}");

    let json: serde_json::Value =
        serde_json::from_str(&output(&folder, "--describe a.st --json")).unwrap();
    assert_eq!(json["task"], "dsu");
    assert_eq!(json["count"], 70);
    assert_eq!(json["reproduced"], true);
    assert_eq!(json["final_pointers"].as_array().unwrap().len(), 20);
    assert!((json["answers_one"].as_f64().unwrap() - 0.60).abs() < 0.03);
    assert!((json["masks_zero"].as_f64().unwrap() - 0.152).abs() < 0.01);
    assert!((json["self_pointing"].as_f64().unwrap() - 0.40).abs() < 0.02);
}

#[test]
fn further_fields_are_described() {
    let folder = tempfile::tempdir().unwrap();
    output(&folder, "--task lct --nodes 10 --count 5 --out a.st");
    let text = output(&folder, "--describe a.st");
    assert!(
        text.contains("\n  further fields pointers.left, pointers.right, bits.flip\n"),
        "{text}"
    );
    assert!(text.contains("ground truth   reproduced exactly"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&output(&folder, "--describe a.st --json")).unwrap();
    assert_eq!(json["fields"], serde_json::json!(["pointers.left", "pointers.right", "bits.flip"]));

    output(&folder, "--task dsu --nodes 10 --count 5 --out b.st");
    assert!(!output(&folder, "--describe b.st").contains("further fields"));
}

#[test]
fn defaults_are_the_papers() {
    let folder = tempfile::tempdir().unwrap();
    let json = output(&folder, "--task lct --nodes 50 --out a.st --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["ops"], 75);
    assert_eq!(json["count"], 70);
    assert_eq!(json["seed"], 0);
    assert_eq!(json["split"], "train");
}

#[test]
fn the_same_options_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for (name, threads) in [("a.st", "1"), ("b.st", "4")] {
        pgn(folder.path(), "--task lct --nodes 20 --seed 7 --out")
            .arg(name)
            .env("RAYON_NUM_THREADS", threads)
            .assert()
            .success();
    }
    output(&folder, "--task lct --nodes 20 --seed 8 --out c.st");
    output(&folder, "--task lct --nodes 20 --seed 7 --split test --out d.st");
    let bytes = |name| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(bytes("a.st"), bytes("b.st"));
    assert_ne!(bytes("a.st"), bytes("c.st"));
    assert_ne!(bytes("a.st"), bytes("d.st"));
}

#[test]
fn operations_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.csv"), "u,v\n0,1\n1,2\n0,2 # known by now\n").unwrap();
    output(&folder, "--task dsu --nodes 4 --operations mine.csv --seed 5 --out a.st");
    let text = output(&folder, "--describe a.st");
    assert!(text.starts_with("a.st: 1 sequence of 3 operations on 4 nodes"), "{text}");
    assert!(text.contains("split given, seed 5"), "{text}");
    assert!(text.contains("answers 1      0.667"), "{text}");

    // Several sequences in a file, several files, and as many nodes as the operands need.
    fs::write(folder.path().join("two.csv"), "0,1\n1,2\n0,2\n\n\n# another\n5,1\n1,2\n2,1\n\n")
        .unwrap();
    let text = output(&folder, "--task dsu --ops mine.csv --ops two.csv --out b.st");
    assert!(text.starts_with("b.st: 3 sequences of 3 operations on 6 nodes"), "{text}");
    assert!(error(&folder, "--task dsu --ops two.csv --count 2 --out c.st", 2).contains("--count"));
    fs::write(folder.path().join("long.csv"), "0,1\n\n0,1\n1,2\n").unwrap();
    let message = error(&folder, "--task dsu --ops long.csv --out c.st", 1);
    assert!(message.contains("long.csv: sequence 1 has 2 operations and sequence 0"), "{message}");
}

#[test]
fn trouble_is_one_line_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let csv = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    csv("same.csv", "0,1\n2,2\n");
    csv("large.csv", "0,1\n1,4\n");
    csv("empty.csv", "u,v\n");
    csv("not.st", "no tensors in here, but more than eight bytes");
    fs::create_dir(folder.path().join("folder")).unwrap();
    let before = files(&folder).len();
    for (arguments, sentence) in [
        ("--task dsu --nodes 0 --out a.st", "two different nodes, but nodes = 0"),
        ("--task dsu --nodes 1 --out a.st", "two different nodes, but nodes = 1"),
        ("--task dsu --nodes 20000000 --ops 1 --out a.st", "at most 2^24"),
        ("--task dsu --nodes 20 --ops 0 --out a.st", "ops = 0"),
        ("--task dsu --nodes 20 --count 0 --out a.st", "count = 0"),
        (
            "--task stack --nodes 20 --out a.st",
            "there is no task 'stack'; expected one of dsu, lct",
        ),
        (
            "--task dsu --nodes 4 --operations same.csv --out a.st",
            "same.csv: line 2: u and v are both 2",
        ),
        (
            "--task dsu --nodes 4 --operations large.csv --out a.st",
            "large.csv: line 2: node 4 is out of range",
        ),
        (
            "--task dsu --nodes 4 --operations empty.csv --out a.st",
            "empty.csv: no operations; expected",
        ),
        ("--task dsu --nodes 4 --operations none.csv --out a.st", "cannot read none.csv: "),
        ("--task dsu --nodes 20 --out none/a.st", "cannot write none/a.st: "),
        ("--task dsu --nodes 20 --out folder", "cannot write folder: it is a folder"),
        ("--describe none.st", "cannot read none.st: "),
        ("--describe not.st", "not.st: "),
    ] {
        let code = if arguments.contains("stack") { 2 } else { 1 };
        let message = error(&folder, arguments, code);
        assert!(message.starts_with("error: "), "{message}");
        assert!(message.contains(sentence), "`{message}` does not say `{sentence}`");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert_eq!(files(&folder).len(), before, "{arguments} left a file");
    }
    assert!(fs::read_dir(folder.path().join("folder")).unwrap().next().is_none());
}

#[test]
fn wrong_usage_has_a_code_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        "",
        "--task dsu --nodes 20",
        "--task dsu --nodes -3 --out a.st",
        "--task dsu --nodes many --out a.st",
        "--task dsu --nodes 20 --split weights --out a.st",
        "--describe a.st --nodes 20",
        "--nodes 4 --ops mine.csv --out a.st",
    ] {
        assert!(error(&folder, arguments, 2).contains("try '--help'"), "{arguments}");
    }
    assert!(files(&folder).is_empty());
}

#[test]
fn help_has_examples() {
    let folder = tempfile::tempdir().unwrap();
    let help = output(&folder, "--help");
    assert!(help.contains("pgn generate --task dsu --nodes 20"), "{help}");
}

/// As in `pgn generate --describe FILE | head -1`: not an error, and above all no panic.
#[test]
#[cfg(unix)]
fn a_closed_pipe_is_no_trouble() {
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().unwrap();
    // Too large a picture for a pipe's buffer, were it not for the reader that goes away.
    output(&folder, "--task dsu --nodes 20000 --ops 2 --count 1 --out a.st");
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("pgn"))
        .current_dir(folder.path())
        .args(["generate", "--describe", "a.st", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
