//! Many runs: gathered and grouped.

use std::path::PathBuf;

use pgn_lab::{
    Result, Results, RunConfig, TestScores,
    collection::{Collection, chosen, groups},
};
use pgn_runs::files;

fn run(model: &str, seed: u64, epochs: u64, departures: &[(&str, &str)]) -> Results {
    let pair = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    Results {
        task: "dsu".to_owned(),
        model: model.to_owned(),
        seed,
        epochs,
        departures: departures.iter().map(pair).collect(),
        ..Results::default()
    }
}

#[test]
fn runs_that_differ_in_more_than_their_seed_are_apart() {
    let short: &[_] = &[("epochs", "300")];
    let runs = [
        run("pgn", 1, 5000, &[]),
        run("pgn", 0, 300, short),
        run("gnn", 0, 300, short),
        run("pgn", 0, 5000, &[]),
        run("pgn", 2, 300, &[("clip", "2.0"), ("epochs", "300")]),
        run("pgn", 0, 5000, &[]),
    ];
    let of_dsu = groups(&runs, "dsu");
    let told: Vec<(String, Vec<u64>)> = of_dsu
        .iter()
        .map(|group| (group.name(), group.runs.iter().map(|run| run.seed).collect()))
        .collect();
    let expected = [
        ("`gnn`".to_owned(), vec![0]),
        ("`pgn`, `epochs = 5000`".to_owned(), vec![0, 1]),
        ("`pgn`, `clip = 2.0`, `epochs = 300`".to_owned(), vec![2]),
        ("`pgn`, `epochs = 300`".to_owned(), vec![0]),
    ];
    assert_eq!(told, expected);
    let seeds = |model| chosen(&runs, "dsu", model).iter().map(|r| r.seed).collect::<Vec<_>>();
    assert_eq!((seeds("pgn"), seeds("gnn"), seeds("dgm")), (vec![0, 1], vec![0], vec![]));
    assert!(groups(&runs, "lct").is_empty());
}

#[test]
fn without_default_settings_the_most_seeds_speak_for_a_model() {
    let runs = [
        run("pgn", 0, 100, &[("epochs", "100")]),
        run("pgn", 0, 300, &[("epochs", "300")]),
        run("pgn", 1, 300, &[("epochs", "300")]),
    ];
    assert!(chosen(&runs, "dsu", "pgn").iter().all(|run| run.epochs == 300));
    assert_eq!(chosen(&runs, "dsu", "pgn").len(), 2);
}

fn results(seed: u64, test: Vec<TestScores>) -> Results {
    let config = RunConfig::defaults("dsu", "pgn", seed).unwrap();
    Results { task: config.task, model: config.model, seed, test, ..Results::default() }
}

fn gathered(runs: &[Results]) -> Result<Collection> {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> =
        (0..runs.len()).map(|index| dir.path().join(index.to_string())).collect();
    for (path, run) in paths.iter().zip(runs) {
        files::make_dir(path)?;
        files::write_json(&path.join(files::RESULTS), run)?;
    }
    Collection::gather(&paths)
}

fn set(nodes: usize) -> TestScores {
    TestScores { nodes, ops: 2 * nodes, sequences: 3, ..TestScores::default() }
}

#[test]
fn counting_is_what_results_have() {
    let known = TestScores { counting_f1: Some(0.125), ..set(8) };
    let runs = gathered(&[results(0, vec![known])]).unwrap();
    assert_eq!(runs.counting("dsu", 8).unwrap().mean, 0.125);
    assert_eq!(gathered(&[results(0, vec![set(8)])]).unwrap().counting("dsu", 8), None);
}
