//! What the repository shows is what its results say.

mod common;

use std::{fs, path::Path};

use common::stdout;

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn committed_tables_come_from_the_committed_runs() {
    let folder = tempfile::tempdir().unwrap();
    let results = repository().join("results/paper");
    fs::copy(results.join("runs.json"), folder.path().join("runs.json")).unwrap();
    stdout(folder.path(), "reproduce --tables .");
    let again = fs::read_to_string(folder.path().join("tables.md")).unwrap();
    let committed = fs::read_to_string(results.join("tables.md")).unwrap();
    assert_eq!(again, committed, "run: pgn reproduce --tables results/paper");
}

#[test]
fn the_table_of_the_readme_is_that_of_the_results() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let tables = fs::read_to_string(repository().join("results/paper/tables.md")).unwrap();
    let between = |text: &str, begin: &str, end: &str| {
        let block = text.split(begin).nth(1).unwrap().split(end).next().unwrap();
        block.trim().to_owned()
    };
    assert_eq!(
        between(&readme, "<!-- results: begin -->", "<!-- results: end -->"),
        between(&tables, "## Summary\n", "## "),
        "copy the summary of results/paper/tables.md"
    );
}

#[test]
fn committed_results_have_a_version_and_checksums() {
    let mut found = 0;
    let mut folders = vec![repository().join("results"), repository().join("crates/viewer/models")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name == "results.json") {
                let results: serde_json::Value =
                    serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
                for key in ["format_version", "files", "crc32c"] {
                    assert!(results.get(key).is_some(), "{}: {key}", path.display());
                }
                let run = path.parent().unwrap();
                pgn_lab::Results::load(run).unwrap().check_files(run).unwrap();
                found += 1;
            }
        }
    }
    assert!(found > 150, "{found}");
}

/// Other languages have lists of the built-in programs too.
#[test]
fn every_list_of_built_in_programs_has_all_of_them() {
    for (file, before, after) in [
        ("bindings/python/python/pgn/machines/__init__.py", "``\"", "\"``"),
        ("bindings/python/python/pgn/_structure.py", "\"", "\","),
        ("crates/viewer/web/src/pseudo-code.ts", " ", ": "),
        ("bench/machines/seeds.toml", "\"", "\""),
    ] {
        let text = fs::read_to_string(repository().join(file)).unwrap();
        for name in pgn_machines::programs::NAMES {
            assert!(text.contains(&format!("{before}{name}{after}")), "{file}: {name}");
        }
    }
    for name in pgn_machines::programs::NAMES {
        assert!(repository().join("results/machines").join(name).is_dir(), "{name}");
    }
}
