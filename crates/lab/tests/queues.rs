//! Queues and sweeps of experiments: which runs there are, and what is refused.

use std::path::Path;

use pgn_lab::{AnyConfig, Experiments, Queue, RunConfig};
use pgn_runs::{Entry, EntryState, Sweep};
use toml::Table;

fn entry(directory: &str, settings: Table) -> Entry {
    Entry {
        index: 0,
        task: "dsu".into(),
        model: "gnn".into(),
        seed: 0,
        variant: None,
        directory: directory.into(),
        depends_on: None,
        settings,
    }
}

#[test]
fn entries_may_differ_in_any_setting() {
    let settings = [toml::toml! { epochs = 3 }, toml::toml! { clip = 2.0 }];
    let entries: Vec<Entry> =
        settings.into_iter().zip(["a", "b"]).map(|(s, dir)| entry(dir, s)).collect();
    let queue = Queue::new(Experiments, Path::new("x"), entries).unwrap();
    let [a, b] = [0, 1].map(|index| queue.entry(index).unwrap());
    assert_eq!((a.index, b.index), (0, 1));
    assert_eq!((queue.epochs(a).unwrap(), queue.epochs(b).unwrap()), (3, 5000));
    assert!(matches!(queue.config(b), Ok(AnyConfig::Model(config)) if config.clip == 2.0));
    assert!(queue.entry(2).is_err());
}

#[test]
fn mistakes_are_told_before_anything_is_trained() {
    let refused = |entries: Vec<Entry>, words: &str| {
        let sentence = Queue::new(Experiments, Path::new("x"), entries).unwrap_err().to_string();
        assert!(sentence.contains(words), "{sentence}");
    };
    let empty = Table::new;
    refused(vec![], "no runs");
    refused(vec![entry("a", empty()), entry("a", empty())], "asked for twice");
    refused(vec![entry("a", toml::toml! { seed = 1 })], "seed is set");
    refused(vec![entry("a", toml::toml! { learning_rate = -1.0 })], "learning_rate is -1");
    refused(vec![Entry { depends_on: Some(0), ..entry("a", empty()) }], "a later run");
}

fn model(queue: &Queue, entry: usize) -> RunConfig {
    match queue.config(&queue.entries()[entry]).unwrap() {
        AnyConfig::Model(config) => config,
        other => panic!("{other:?}"),
    }
}

fn directories(text: &str) -> Vec<String> {
    let queue = Sweep::parse(text).unwrap().queue(Experiments, Path::new("x")).unwrap();
    queue.entries().iter().map(|entry| entry.directory.display().to_string()).collect()
}

#[test]
fn all_combinations_seed_by_seed() {
    let text = "epochs = 3\ntask = 'dsu'\n[sweep]\nmodel = ['gnn', 'deepsets']\nseed = '0-1'\n\
                clip = [1.0, 5.0]\n[[condition]]\nname = 'a'\n[[condition]]\nname = 'b'\n\
                decay = 'cosine'\n[[exclude]]\nclip = 5.0\nmodel = 'gnn'\n";
    let found = directories(text);
    assert_eq!(found.len(), 12);
    assert_eq!(
        found[..6],
        [
            "x/dsu/gnn/a/clip=1.0/seed-0",
            "x/dsu/deepsets/a/clip=1.0/seed-0",
            "x/dsu/deepsets/a/clip=5.0/seed-0",
            "x/dsu/gnn/b/clip=1.0/seed-0",
            "x/dsu/deepsets/b/clip=1.0/seed-0",
            "x/dsu/deepsets/b/clip=5.0/seed-0",
        ]
    );
    let queue = Sweep::parse(text).unwrap().queue(Experiments, Path::new("x")).unwrap();
    let config = model(&queue, 5);
    assert_eq!((config.clip, config.epochs, config.decay), (5.0, 3, pgn_lab::Decay::Cosine));
    assert_eq!(queue.entries()[5].name(), "dsu deepsets b clip=5.0 seed 0");
}

#[test]
fn lists_may_be_values() {
    let text = "task = 'dsu'\nmodel = 'gnn'\n[sweep]\ndata.nodes = [[20], [10, 20]]\n";
    let found = directories(text);
    assert_eq!(found, ["x/dsu/gnn/data.nodes=20/seed-0", "x/dsu/gnn/data.nodes=10+20/seed-0"]);
    let queue = Sweep::parse(text).unwrap().queue(Experiments, Path::new("x")).unwrap();
    assert_eq!(model(&queue, 1).data.nodes, [10, 20]);
}

#[test]
fn a_student_follows_the_teacher_with_its_settings() {
    let text = "task = 'dsu'\n[sweep]\nmodel = ['pgn-ptrs', 'gnn']\nclip = [1.0, 5.0]\n";
    let queue = Sweep::parse(text).unwrap().queue(Experiments, Path::new("x")).unwrap();
    let models: Vec<&str> = queue.entries().iter().map(|entry| &*entry.model).collect();
    assert_eq!(models, ["gnn", "pgn", "pgn-ptrs", "gnn", "pgn", "pgn-ptrs"]);
    for student in [&queue.entries()[2], &queue.entries()[5]] {
        let teacher = &queue.entries()[student.depends_on.unwrap()];
        assert_eq!((&*teacher.model, &teacher.variant), ("pgn", &student.variant));
        assert!(teacher.index < student.index);
    }
    let free = text.replace("pgn-ptrs", "pgn-ptrs-free");
    let queue = Sweep::parse(&free).unwrap().queue(Experiments, Path::new("x")).unwrap();
    let student = &queue.entries()[2];
    assert_eq!(queue.entries()[student.depends_on.unwrap()].model, "pgn-free");
    let none = format!("{text}[[exclude]]\nmodel = 'pgn'\n");
    assert!(Sweep::parse(&none).unwrap().queue(Experiments, Path::new("x")).is_err());
}

#[test]
fn mistakes_in_a_sweep_are_told_in_one_sentence() {
    for (text, words) in [
        ("[sweep]\nmodel = ['pgn']", "task is missing"),
        ("task = 'dsu'", "model is missing"),
        ("task = 'dsu'\nmodel = 'pgn'\n[sweep]\nclip = 1.0", "expected a list of values"),
        ("task = 'dsu'\nmodel = 'pgn'\n[sweep]\nclip = []", "sweep.clip is empty"),
        ("task = 'dsu'\nmodel = 'pgn'\n[sweep]\nclip = [1.0, 1.0]", "holds 1.0 twice"),
        ("task = 'dsu'\nmodel = 'pgn'\nclip = 2.0\n[sweep]\nclip = [1.0]", "inside and outside"),
        ("task = 'dsu'\nmodel = 'pgn'\n[sweep]\ntask = ['lct']", "inside and outside"),
        ("task = 'dsu'\nmodel = 'pgn'\nseed = -1", "expected numbers from 0"),
        ("task = 'dsu'\nmodel = 'pgn'\nseed = '3-1'", "seed is \"3-1\""),
        ("task = 'dsu'\nmodel = 'pgn'\n[[condition]]\nclip = 1.0", "has no name"),
        ("task = 'dsu'\nmodel = 'pgn'\n[[condition]]\nname = '../x'", "expected letters"),
        ("task = 'dsu'\nmodel = 'pgn'\n[sweep]\ndata.train = ['a/b']", "folder's name"),
        ("task = 'dsu'\nmodel = 'pgn'\nclip = ", "line 3"),
        ("task = 'dsu'\nmodel = 'pgm'", "there is no model 'pgm'"),
        ("task = 'dsu'\nmodel = 'pgn'\n[sweep]\nclop = [1]", "clop"),
        ("task = 'dsu'\nmodel = 'pgn'\n[sweep]\nseed = '0-99999999'", "99999999"),
    ] {
        let sweep = Sweep::parse(text)
            .map_err(Into::into)
            .and_then(|sweep| sweep.queue(Experiments, Path::new("x")));
        let sentence = sweep.unwrap_err().to_string();
        assert!(sentence.contains(words) && !sentence.contains('\n'), "{text:?}: {sentence}");
    }
}

#[test]
fn a_finished_run_with_other_settings_is_no_teacher() {
    let dir = tempfile::tempdir().unwrap();
    let small = "[data]\nsequences = 2\nvalidation_sequences = 1\nnodes = [5]\n\
                 [test]\nnodes = [5]\nsequences = 1\n[sweep]\ntask = ['dsu']\n\
                 model = ['pgn-ptrs']\n";
    let queue = |epochs: u64| {
        let text = format!("epochs = {epochs}\n{small}");
        Sweep::parse(&text).unwrap().queue(Experiments, dir.path()).unwrap()
    };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let work = pgn_runs::Work {
        workers: 1,
        threads_per_run: 1,
        checkpoint_every: std::time::Duration::from_secs(60),
        stop: &stop,
        observe: &|_, _| {},
    };
    let first = queue(1);
    assert_eq!(pgn_runs::work(&first, Some(&[0]), &work).unwrap().finished, 1);
    assert_eq!(first.state(first.entry(0).unwrap()), EntryState::Finished);
    let other = queue(2);
    let (teacher, student) = (other.entry(0).unwrap(), other.entry(1).unwrap());
    assert_eq!(other.state(teacher), EntryState::Other);
    assert_eq!(other.waits_for(student), Some(teacher));
    let summary = pgn_runs::work(&other, Some(&[1]), &work).unwrap();
    let (_, why) = &summary.failed[0];
    assert!(why.contains("holds another run than its teacher, dsu pgn seed 0"), "{why}");
    assert!(!student.directory.exists());
    // With the settings that it was trained with, it is one.
    assert_eq!(pgn_runs::work(&first, Some(&[1]), &work).unwrap().finished, 1);
}
