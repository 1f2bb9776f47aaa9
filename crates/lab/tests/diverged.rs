//! A run that diverges leaves the best model it had.

use std::{sync::atomic::AtomicBool, time::Duration};

use pgn_lab::{Run, RunConfig, Session, Stop, TestSets, is_finished, train};

#[test]
fn the_best_model_so_far_is_left() {
    let config = RunConfig::resolve(toml::toml! {
        task = "dsu"
        epochs = 50
        learning_rate = 1e30
        clip = 0.0
        data = { sequences = 3, validation_sequences = 2 }
        test = { nodes = [5], sequences = 2 }
    })
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    // The same command diverges again, and says the same.
    for _ in 0..2 {
        let session = Session {
            task: None,
            checkpoint_every: Duration::ZERO,
            stop: &AtomicBool::new(false),
            observe: &mut |_| {},
        };
        let sentence = train(&config, dir.path(), session).unwrap_err().to_string();
        for words in ["training diverged at step", "best model so far (epoch ", "`pgn eval`"] {
            assert!(sentence.contains(words), "{words} in: {sentence}");
        }
        assert!(!is_finished(dir.path()));
    }
    let run = Run::load(dir.path()).unwrap();
    assert_eq!(run.test(&TestSets::default(), Stop::NEVER).unwrap().len(), 1);
}
