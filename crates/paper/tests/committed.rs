//! The committed tables are what the committed numbers give.

use std::{fs, path::Path};

use pgn_lab::{analysis::Analyses, collection::Collection};
use pgn_paper::{analyses, tables};

fn results() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/paper")
}

#[test]
fn analyses_md_comes_from_analyses_json() {
    let found = Analyses::load(&results().join("analyses.json")).unwrap();
    let committed = fs::read_to_string(results().join("analyses.md")).unwrap();
    assert_eq!(analyses::render(&found, analyses::Style::Markdown), committed);
}

/// From the run directories, and from runs.json alone.
#[test]
fn tables_md_comes_from_the_runs() {
    let committed = fs::read_to_string(results().join("tables.md")).unwrap();
    let from_runs = Collection::load(&results()).unwrap();
    assert_eq!(tables::render(&from_runs), committed);
    let folder = tempfile::tempdir().unwrap();
    fs::copy(results().join("runs.json"), folder.path().join("runs.json")).unwrap();
    let from_file = Collection::load(folder.path()).unwrap();
    assert_eq!(from_file, from_runs);
}
