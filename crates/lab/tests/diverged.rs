//! A run that diverges leaves the best model it had.

use std::{sync::atomic::AtomicBool, time::Duration};

use pgn_lab::{Run, RunConfig, Session, TestSets, train};
use pgn_runs::{Stop, files::is_finished};

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
            initial: None,
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

    // A flipped bit is noticed, as in the model of a finished run.
    let path = dir.path().join("model.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 4;
    bytes[last] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let error = Run::load(dir.path()).unwrap_err().to_string();
    assert!(error.contains("model.safetensors: it is damaged or of another run"), "{error}");
}
