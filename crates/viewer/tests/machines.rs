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
