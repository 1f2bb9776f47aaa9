//! A run that is told to stop when all epochs are done: before its tests, and while it is tested.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use pgn_lab::{AnyConfig, Outcome, Results, RunConfig, Session, train};
use pgn_runs::files::is_finished;
use pgn_structures::{RootedForest, Task};

fn session(dir: &Path, stop_at: u64) -> Outcome {
    let config = RunConfig::resolve(toml::toml! {
        task = "dsu"
        epochs = 2
        data = { sequences = 3, validation_sequences = 2 }
        test = { nodes = [5, 6], sequences = 2 }
    });
    let stop = AtomicBool::new(false);
    let session = Session {
        task: None,
        initial: None,
        checkpoint_every: Duration::from_secs(30),
        stop: &stop,
        observe: &mut |progress| stop.store(progress.epoch == stop_at, Ordering::Relaxed),
    };
    train(&config.unwrap(), dir, session).unwrap()
}

#[test]
fn stopped_before_its_tests_a_run_goes_on_with_them() {
    let (stopped, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(session(stopped.path(), 2), Outcome::Stopped { epoch: 2 });
    assert!(!is_finished(stopped.path()));
    assert!(matches!(session(stopped.path(), u64::MAX), Outcome::Finished(_)));
    assert!(matches!(session(whole.path(), u64::MAX), Outcome::Finished(_)));
    let scores = |dir: &Path| {
        let results = Results::load(dir).unwrap();
        (results.best_epoch, results.validation, results.test)
    };
    assert_eq!(scores(stopped.path()), scores(whole.path()));
}

/// Models with an iterated processor are tested one operation at a time. The structure itself asks
/// for the stop here, as soon as a sequence of the final test is made.
#[test]
fn stopped_while_it_is_tested_a_run_is_tested_again() {
    let config = RunConfig::resolve(toml::toml! {
        task = "forest"
        model = "pgn-exact"
        epochs = 2
        batch = 3
        data = { sequences = 3, validation_sequences = 2 }
        network = { k = 8 }
        test = { nodes = [6, 9], sequences = 3 }
    })
    .unwrap();
    let session = |dir: &Path, stops: bool| {
        let stop = Arc::new(AtomicBool::new(false));
        let (model, flag) = (dir.join("model.safetensors"), stop.clone());
        let task = Task::boxed(move || {
            flag.fetch_or(stops && model.exists(), Ordering::Relaxed);
            Box::new(RootedForest::default())
        });
        let session = Session {
            task: Some(task),
            initial: None,
            checkpoint_every: Duration::from_secs(30),
            stop: &stop,
            observe: &mut |_| {},
        };
        train(&config, dir, session).unwrap()
    };
    let (stopped, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(session(stopped.path(), true), Outcome::Stopped { epoch: 2 });
    assert!(!is_finished(stopped.path()));
    let Outcome::Finished(resumed) = session(stopped.path(), false) else { panic!() };
    let Outcome::Finished(expected) = session(whole.path(), false) else { panic!() };
    assert_eq!(resumed.test, expected.test);
    for name in ["model.safetensors", "metrics.jsonl", "config.toml"] {
        let [a, b] = [&stopped, &whole].map(|dir| std::fs::read(dir.path().join(name)).unwrap());
        assert!(a == b, "{name}");
    }
}

#[test]
fn a_structure_that_is_not_the_configs_is_refused() {
    let config = RunConfig::resolve(toml::toml! { task = "dsu"  epochs = 0 }).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let session = Session {
        task: Some(Task::named("lct").unwrap()),
        initial: None,
        checkpoint_every: Duration::from_secs(30),
        stop: &AtomicBool::new(false),
        observe: &mut |_| {},
    };
    let sentence = train(&config, &run, session).unwrap_err().to_string();
    assert!(sentence.contains("task is dsu, but the structure to train on is lct"), "{sentence}");
    assert!(!run.exists());
}

/// Where the score stands still, equals may replace the kept weights, but they are no progress.
#[test]
fn patience_counts_from_the_first_epoch_that_reached_the_best_score() {
    let run = |config: &AnyConfig, dir: &Path, stop_at: u64| {
        let stop = AtomicBool::new(false);
        let session = Session {
            task: None,
            initial: None,
            checkpoint_every: Duration::from_secs(30),
            stop: &stop,
            observe: &mut |progress| stop.store(progress.epoch == stop_at, Ordering::Relaxed),
        };
        config.train(dir, session).unwrap()
    };
    let machine = toml::toml! {
        task = "forest"
        model = "pgn-machine"
        seed = 3
        epochs = 400
        patience = 40
        test = { nodes = [5], sequences = 1 }
    };
    let exact = toml::toml! {
        task = "forest"
        model = "pgn-exact"
        epochs = 90
        patience = 40
        evaluate_every = 10
        learning_rate = 1e-30
        batch = 2
        data = { sequences = 2, validation_sequences = 2 }
        network = { k = 8 }
        test = { nodes = [5], sequences = 1 }
    };
    for settings in [machine, exact] {
        let config = AnyConfig::resolve(settings).unwrap();
        let whole = tempfile::tempdir().unwrap();
        let Outcome::Finished(results) = run(&config, whole.path(), u64::MAX) else { panic!() };
        let stopped_at = results.stopped_at.expect("patience ends it");
        assert!(stopped_at < config.epochs());
        // The kept weights are still the latest of equals.
        assert_eq!(results.best_epoch, stopped_at);

        // A run that is stopped on the plateau and resumed ends there too.
        let parts = tempfile::tempdir().unwrap();
        let stopped = run(&config, parts.path(), stopped_at - 5);
        assert_eq!(stopped, Outcome::Stopped { epoch: stopped_at - 5 });
        let Outcome::Finished(resumed) = run(&config, parts.path(), u64::MAX) else { panic!() };
        assert_eq!(resumed.stopped_at, results.stopped_at);
        for name in ["model.safetensors", "metrics.jsonl", "config.toml"] {
            let [a, b] = [&whole, &parts].map(|dir| std::fs::read(dir.path().join(name)).unwrap());
            assert!(a == b, "{name}");
        }
    }
}
