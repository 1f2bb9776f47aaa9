//! Models with an iterated processor in runs: trained on transitions, resumed to the bit,
//! evaluated one operation at a time.

use std::{path::Path, sync::atomic::AtomicBool, time::Duration};

use pgn_lab::{
    Outcome, Results, Run, RunConfig, Session,
    evaluate::{evaluate_set, evaluate_stream},
    train,
    verify::verify_all,
};
use pgn_runs::Stop;
use pgn_structures::{Dataset, Sampling, Split, Task};
use toml::toml;

fn config(task: &str, epochs: i64) -> RunConfig {
    let mut settings = toml! {
        model = "pgn-exact"
        evaluate_every = 5
        data = { sequences = 24, validation_sequences = 3 }
        network = { k = 8 }
        test = { nodes = [12, 30], sequences = 5 }
    };
    settings.insert("task".into(), task.into());
    settings.insert("epochs".into(), epochs.into());
    settings.insert("batch".into(), 12.into());
    RunConfig::resolve(settings).unwrap()
}

/// Trains until finished, or until the epoch at which it is told to stop.
fn run(config: &RunConfig, dir: &Path, stop_at: u64, threads: usize) -> Option<Results> {
    let stop = AtomicBool::new(false);
    let session = Session {
        task: None,
        initial: None,
        checkpoint_every: Duration::from_secs(1000),
        stop: &stop,
        observe: &mut |progress| {
            stop.store(progress.epoch == stop_at, std::sync::atomic::Ordering::Relaxed);
        },
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    match pool.install(|| train(config, dir, session)).unwrap() {
        Outcome::Finished(results) | Outcome::AlreadyFinished(results) => Some(*results),
        Outcome::Stopped { .. } => None,
    }
}

#[test]
fn a_run_cut_short_ends_in_the_same_bits() {
    let config = config("forest", 17);
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let expected = run(&config, whole.path(), u64::MAX, 1).unwrap();
    assert!(run(&config, parts.path(), 7, 2).is_none());
    let resumed = run(&config, parts.path(), u64::MAX, 2).unwrap();
    for file in ["model.safetensors", "metrics.jsonl", "config.toml"] {
        let [a, b] = [&whole, &parts].map(|dir| std::fs::read(dir.path().join(file)).unwrap());
        assert!(a == b, "{file}");
    }
    assert_eq!(expected.test, resumed.test);
    assert!(expected.departures.contains_key("network.k"));
}

/// One operation at a time or from a data set: the same scores.
#[test]
fn streams_score_as_data_sets_do() {
    for task in ["forest", "dsu-ordered"] {
        let dir = tempfile::tempdir().unwrap();
        // So short that it is wrong here and there.
        run(&config(task, 40), dir.path(), u64::MAX, 2).unwrap();
        let run = Run::load(dir.path()).unwrap();
        let model = run.model();
        let task = Task::named(task).unwrap();
        for (nodes, ops) in [(9, 13), (25, 40)] {
            let sampling = Sampling { nodes, ops, count: 6, seed: 3, split: Split::Test };
            let streamed = evaluate_stream(model, &task, &sampling, Stop::NEVER).unwrap();
            let set = Dataset::sample(&task, &sampling).unwrap();
            let from_set = evaluate_set(model, &set.into(), Stop::NEVER).unwrap();
            assert_eq!(streamed, from_set);
            let exact = streamed.scores.sequences_exact.unwrap();
            let execution = streamed.execution.unwrap();
            assert_eq!(execution.first_error.is_none(), exact == 1.0);
            assert!(execution.max_participants <= streamed.nodes);
        }
    }
}

#[test]
fn an_untrained_model_fails_and_the_failure_is_drawn() {
    let config = config("forest", 0);
    let dir = tempfile::tempdir().unwrap();
    run(&config, dir.path(), u64::MAX, 1).unwrap();
    let run = Run::load(dir.path()).unwrap();
    let model = run.model();
    let verdict = verify_all(model, &Task::named("forest").unwrap(), 3).unwrap();
    // 16 forests on 3 nodes, 6 pairs each.
    assert_eq!(verdict.transitions, 96);
    assert!(verdict.wrong > 0);
    let failure = verdict.failure.unwrap();
    assert!(failure.guess != failure.answer || failure.guessed != failure.after);
    assert!(failure.text().contains("should answer"), "{}", failure.text());
}

#[test]
fn the_paper_s_models_cannot_be_trained_on_transitions() {
    let settings = toml! { model = "pgn"  data = { transitions = { forests = 0.5, depth = 1.0 } } };
    let error = RunConfig::resolve(settings).unwrap_err().to_string();
    assert!(error.contains("must be trained on whole sequences"), "{error}");
}
