//! A run that is told to stop when all epochs are done, before its tests.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use pgn_lab::{Outcome, Results, RunConfig, Session, is_finished, train};

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
