//! `pgn bench` from the outside: that it measures, never how long anything takes.

mod common;

use common::{SMALL, refused, stdout};

#[test]
fn a_report_has_a_line_for_every_measurement() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --task lct --model gnn --epochs 1 --out run {SMALL}"));
    let quick = "bench --models deepsets --sizes 5,600 --ops 3 --repeats 1 --threads 1";
    for (flags, name) in [("", "untrained pgn"), ("--run run", "gnn")] {
        let report: serde_json::Value =
            serde_json::from_str(&stdout(here, &format!("{quick} --json {flags}"))).unwrap();
        assert_eq!(report["threads"], 1);
        let lines = report["measurements"].as_array().unwrap();
        let what: Vec<&str> = lines.iter().map(|line| line["what"].as_str().unwrap()).collect();
        let rollouts = [5, 600].map(|n| format!("{name}, an operation at n = {n}"));
        assert_eq!(what, ["deepsets, an epoch", &rollouts[0], &rollouts[1]]);
        for line in lines {
            assert!(line["seconds"].as_f64().unwrap() > 0.0, "{line}");
            assert!(line["needed_gflop"].as_f64().unwrap() > 0.0, "{line}");
        }
    }
    assert!(stdout(here, quick).contains("of peak"));
    assert!(refused(here, "bench --run nowhere --models gnn --repeats 1").contains("nowhere"));
    assert!(refused(here, "bench --models pgm --repeats 1").contains("'pgm'"));
}

#[test]
fn instructions_are_chosen_by_name() {
    let run = |name: &str| {
        let mut pgn = assert_cmd::Command::cargo_bin("pgn").unwrap();
        pgn.arg("models").env("PGN_SIMD", name).assert()
    };
    run("portable").success();
    let refusal = run("abacus").code(1).get_output().stderr.clone();
    let refusal = String::from_utf8(refusal).unwrap();
    assert!(refusal.starts_with("error: PGN_SIMD is \"abacus\"; this machine has"), "{refusal}");
}
