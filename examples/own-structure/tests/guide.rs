//! docs/adding-a-structure.md, followed literally.

use std::{path::Path, process::Command};

use assert_cmd::cargo::cargo_bin;

/// The fenced blocks of a language in the guide.
fn blocks(language: &str) -> Vec<String> {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/adding-a-structure.md");
    let text = std::fs::read_to_string(guide).unwrap();
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == format!("```{language}") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(block.join("\n") + "\n");
        }
    }
    blocks
}

#[test]
fn the_program_in_the_guide_is_the_one_that_is_tested() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/main.rs");
    assert_eq!(blocks("rust")[0], std::fs::read_to_string(source).unwrap());
}

#[test]
fn every_command_in_the_guide_works() {
    let folder = tempfile::tempdir().unwrap();
    let mut ran = 0;
    for block in blocks("console") {
        for line in block.lines().filter_map(|line| line.strip_prefix("$ cargo run --release -- "))
        {
            let output = Command::new(cargo_bin("own-structure"))
                .args(line.split_whitespace())
                .current_dir(folder.path())
                .output()
                .unwrap();
            assert!(output.status.success(), "{line}: {output:?}");
            let text = String::from_utf8_lossy(&output.stdout);
            if line == "tasks" {
                assert!(text.contains("  move-to-front "), "{text}");
            }
            if line.starts_with("eval") {
                assert!(text.contains("pointer accuracy"), "{text}");
            }
            ran += 1;
        }
    }
    assert!(ran >= 4, "only {ran} commands were found");
    // It is a task like any other, also in what a mistake is answered with.
    let output = Command::new(cargo_bin("own-structure"))
        .args(["train", "--task", "move-to-fron", "--out", "x"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("did you mean move-to-front?"), "{text}");
}
