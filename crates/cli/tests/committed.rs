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
fn the_tables_of_the_readme_are_those_of_the_results() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let tables = fs::read_to_string(repository().join("results/paper/tables.md")).unwrap();
    let block = readme.split("<!-- results: begin -->").nth(1).unwrap();
    let block = block.split("<!-- results: end -->").next().unwrap();
    let rows: Vec<&str> = block.lines().filter(|line| line.starts_with("| `")).collect();
    assert!(rows.len() >= 4, "at least two models, ours and the paper's, on two tasks");
    for row in rows {
        // Ours and the paper's stand side by side there.
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let model = cells.next().unwrap().split(' ').next().unwrap();
        let scores: Vec<&str> = cells.filter(|cell| *cell != "–").collect();
        assert!(scores.len() >= 3 && scores.iter().all(|score| score.contains(" ± ")), "{row}");
        let same = |line: &str| {
            line.starts_with(&format!("| {model} |"))
                && scores.iter().all(|score| line.contains(score))
        };
        assert!(tables.lines().any(same), "not in results/paper/tables.md: {row}");
    }
}

#[test]
fn the_scores_of_the_models_are_those_of_the_results() {
    let page = fs::read_to_string(repository().join("docs/models.md")).unwrap();
    let tables = fs::read_to_string(repository().join("results/paper/tables.md")).unwrap();
    let (_, section) = page.split_once("## Scores\n").unwrap();
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    assert!(rows.len() >= 11, "{section}");
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [model, scores @ ..] = &cells[..] else { panic!("{row}") };
        assert_eq!(scores.len(), 6, "{row}");
        // Three sizes of one task, then of the other.
        for scores in scores.chunks(3) {
            let same = |line: &str| {
                line.starts_with(&format!("| {model} "))
                    && scores.iter().all(|score| line.contains(score))
            };
            assert!(tables.lines().any(same), "not in results/paper/tables.md: {row}");
        }
    }
}
