//! Every setting of the network, from a config to a trained run that is loaded and tested again.

use std::{sync::atomic::AtomicBool, time::Duration};

use pgn_lab::{Outcome, Results, Run, RunConfig, Session, TestSets, train};
use pgn_runs::{Stop, settings::overlay};
use toml::{Table, toml};

/// Trains a small run, and tests it again from its directory.
fn trained(settings: Table) -> RunConfig {
    let mut all = toml! {
        epochs = 2
        data = { sequences = 3, validation_sequences = 2 }
        test = { nodes = [5, 9], sequences = 2 }
    };
    overlay(&mut all, settings);
    let config = RunConfig::resolve(all).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let session = Session {
        task: None,
        initial: None,
        checkpoint_every: Duration::from_secs(30),
        stop: &AtomicBool::new(false),
        observe: &mut |_| {},
    };
    assert!(matches!(train(&config, dir.path(), session).unwrap(), Outcome::Finished(_)));
    let run = Run::load(dir.path()).unwrap();
    let again = run.test(&TestSets::default(), Stop::NEVER).unwrap();
    let results = Results::load(dir.path()).unwrap();
    let f1s = |tests: &[pgn_lab::TestScores]| tests.iter().map(|test| test.scores.f1).collect();
    let (first, second): (Vec<f64>, Vec<f64>) = (f1s(&results.test), f1s(&again));
    assert_eq!(first, second, "{}", config.to_toml());
    let written = RunConfig::load(&dir.path().join("config.toml")).unwrap();
    assert_eq!(written, config);
    config
}

#[test]
fn settings_of_the_paper_s_processor() {
    trained(toml! { network = { message_aggregation = "sum", readout_aggregation = "mean" } });
    trained(toml! {
        task = "lct"
        network = { layers = 2, test_layers = { nodes = 5 }, pointer_processor = true }
    });
    trained(toml! { model = "oracle-ptrs" network = { test_layers = { depth = 1 } } });
}

#[test]
fn several_pointer_types() {
    for model in ["pgn", "pgn-free", "oracle-ptrs"] {
        let mut settings = toml! { task = "lct" network = { pointer_types = ["left", "right"] } };
        settings.insert("model".into(), model.into());
        let config = trained(settings);
        assert_eq!(config.network.pointer_types, ["left", "right"]);
    }
    // A structure without such a field says so.
    let config = RunConfig::resolve(toml! { network = { pointer_types = ["left"] } }).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let session = Session {
        task: None,
        initial: None,
        checkpoint_every: Duration::from_secs(30),
        stop: &AtomicBool::new(false),
        observe: &mut |_| {},
    };
    let sentence = train(&config, dir.path(), session).unwrap_err().to_string();
    assert!(sentence.contains("`left`, which is no further pointer field of `dsu`"), "{sentence}");
}

#[test]
fn an_input_graph() {
    for how in ["none", "edges", "head"] {
        let mut settings = toml! { task = "kruskal" };
        let network = Table::from_iter([("input_graph".to_owned(), how.into())]);
        settings.insert("network".into(), network.into());
        trained(settings);
    }
}

/// Configs of the paper's models say nothing of settings that are at their defaults.
#[test]
fn defaults_are_left_out() {
    let text = RunConfig::defaults("dsu", "pgn", 0).unwrap().to_toml();
    for key in [
        "message_aggregation",
        "readout_aggregation",
        "layers",
        "test_layers",
        "pointer_processor",
        "pointer_types",
        "input_graph",
    ] {
        assert!(!text.contains(key), "{key}");
    }
}

#[test]
fn what_is_laid_over_a_file_is_not_looked_for_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.toml");
    std::fs::write(&path, "model = \"png\"\n[network]\nk = 7\n").unwrap();
    let at = |error: pgn_lab::Error, over: &toml::Table| {
        pgn_lab::located(error, &path, over).to_string()
    };
    let invalid = |key: &str, what: &str| {
        let (key, what) = (key.to_owned(), what.to_owned());
        pgn_lab::Error::Engine(pgn_engine::Error::InvalidConfig { key, what })
    };
    let k = || invalid("k", "k is 7; expected 8");
    let none = toml::Table::new();
    assert!(at(k(), &none).ends_with("my.toml: line 3: network.k is 7; expected 8"));
    let k_by_key = invalid("k", "expected a multiple of 8");
    assert!(at(k_by_key, &none).ends_with("line 3: network.k: expected a multiple of 8"));
    let mut network = toml::Table::new();
    network.insert("k".into(), 7.into());
    let over = toml::Table::from_iter([("network".to_owned(), toml::Value::Table(network))]);
    assert_eq!(at(k(), &over), "invalid model config: k is 7; expected 8");
    let model = pgn_engine::Error::UnknownModel { name: "png".into(), known: "pgn".into() };
    assert!(at(model.into(), &none).contains("my.toml: line 1: there is no model 'png'"));
}
