//! Runs of machines in the report and in the table of runs.

use std::path::{Path, PathBuf};

fn committed(names: &[&str]) -> Vec<PathBuf> {
    let machines = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/machines"));
    names.iter().map(|name| machines.join(name)).collect()
}

#[test]
fn a_report_of_machines_has_their_curves_and_a_player() {
    let html = pgn_viewer::report(&committed(&["dsu", "lct"]), None).unwrap();
    for part in ["pgn-machine", "views right", "registers", "the chain (i, i + 1)"] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn machines_whose_operations_have_no_answers_are_reported_too() {
    let html = pgn_viewer::report(&committed(&["heap", "splay"]), None).unwrap();
    assert!(html.contains("heap"));
}

#[test]
fn a_report_shows_pgn_and_pgn_free_on_one_sequence() {
    let models = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/models"));
    let dir = tempfile::tempdir().unwrap();
    // Their test sets are made small, so that the analyses take a moment only.
    let runs: Vec<PathBuf> = ["dsu", "dsu-free"]
        .into_iter()
        .map(|name| {
            let run = dir.path().join(name);
            std::fs::create_dir(&run).unwrap();
            let model = "model.safetensors";
            std::fs::copy(models.join(name).join(model), run.join(model)).unwrap();
            let results = std::fs::read(models.join(name).join("results.json")).unwrap();
            let mut results: pgn_lab::Results = serde_json::from_slice(&results).unwrap();
            let config = std::fs::read_to_string(models.join(name).join("config.toml")).unwrap();
            let config = config
                .replace("nodes = [20, 50, 100, 200]", "nodes = [20]")
                .replace("ops = [30, 75, 150, 300]", "ops = [30]");
            std::fs::write(run.join("config.toml"), config).unwrap();
            results.note_file(&run, "config.toml").unwrap();
            results.save(&run).unwrap();
            run
        })
        .collect();
    let html = pgn_viewer::report(&runs, None).unwrap();
    for title in ["dsu, n = 20: a test", "dsu-free, n = 20: a test", "dsu, n = 12: the chain"] {
        assert!(html.contains(title), "{title}");
    }
}
