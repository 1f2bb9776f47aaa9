//! Rollouts that can be stopped, and data from files.

use std::sync::atomic::AtomicBool;

use pgn_engine::{Config, Example, Model};
use pgn_lab::{
    Data, RunConfig,
    evaluate::{evaluate_set, evaluate_stream},
    rollouts::rollouts,
};
use pgn_runs::Stop;
use pgn_structures::{Dataset, Sampling, Split, Task};

fn forest(count: usize) -> (Task, Sampling, Dataset) {
    let task = Task::named("forest").unwrap();
    let sampling = Sampling { count, split: Split::Test, ..Sampling::paper(9) };
    let set = Dataset::sample(&task, &sampling).unwrap();
    (task, sampling, set)
}

#[test]
fn the_same_as_without_a_flag_and_an_end_with_it() {
    let (_, _, set) = forest(3);
    let model = Model::new(Config::preset("pgn").unwrap(), 2).unwrap();
    let examples: Vec<Example<'_>> = set.sequences().map(Example::from).collect();
    let ours = rollouts(&model, &examples, Stop::NEVER).unwrap();
    assert_eq!(ours, model.rollouts(&examples).unwrap());
    let flag = AtomicBool::new(true);
    let stopped = rollouts(&model, &examples, Stop::when(&flag));
    assert!(stopped.is_err_and(|error| error.is_stopped()));
    assert_eq!(evaluate_set(&model, &set.into(), Stop::NEVER).unwrap().execution, None);
}

#[test]
fn execution_is_that_of_streams() {
    let (task, sampling, set) = forest(4);
    let model = Model::new(Config::preset("pgn-exact").unwrap(), 1).unwrap();
    let ours = evaluate_set(&model, &set.into(), Stop::NEVER).unwrap();
    let theirs = evaluate_stream(&model, &task, &sampling, Stop::NEVER).unwrap();
    assert!(ours.execution.is_some() && ours.trivial.is_some());
    assert_eq!(ours, theirs);
}

/// A file from elsewhere may hold other fields than the structure would have.
#[test]
fn fields_of_a_file_are_those_that_are_trained_on() {
    let task = Task::named("lct").unwrap();
    let sampling = Sampling { count: 2, ..Sampling::paper(5) };
    let mut set = Dataset::sample(&task, &sampling).unwrap().with_fields(&task).unwrap();
    set.fields.pointers[0].values.fill(3);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("elsewhere.safetensors");
    set.save(&path).unwrap();
    let settings = toml::toml! { task = "lct" network = { pointer_types = ["left"] } };
    let config = RunConfig::resolve(settings).unwrap();
    let data = Data::tests_only(&config, &task, folder.path()).unwrap();
    assert_eq!(data.file(&path).unwrap().set, set);
}
