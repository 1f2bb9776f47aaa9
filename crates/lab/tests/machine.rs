//! Learnt machines: training that resumes, certificates that can be trusted, three ways to run.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use pgn_engine::MachineNet;
use pgn_lab::{
    AnyRun, Counting, MachineConfig, Outcome, Progress, Results, Session, TestSets, TrivialRules,
    machine::{MACHINE_MODEL, MachineRun, Mode},
};
use pgn_runs::Stop;
use pgn_structures::{Dataset, Sampling, Split};

fn config(task: &str) -> MachineConfig {
    let mut config = MachineConfig::defaults(task, MACHINE_MODEL, 3).unwrap();
    config.epochs = 120;
    config.test.nodes = vec![20];
    config.test.ops = vec![30];
    config.test.sequences = 5;
    config
}

/// Trains until `stop_at`, if that is given.
fn train(config: &MachineConfig, run: &Path, stop_at: Option<u64>) -> pgn_lab::Result<Outcome> {
    let stop = AtomicBool::new(false);
    let mut observe = |progress: &Progress| {
        if stop_at.is_some_and(|at| progress.epoch >= at) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let checkpoint_every = Duration::from_secs(3600);
    let session =
        Session { task: None, initial: None, checkpoint_every, stop: &stop, observe: &mut observe };
    pgn_lab::train(config, run, session)
}

fn finished(outcome: pgn_lab::Result<Outcome>) -> Results {
    match outcome.unwrap() {
        Outcome::Finished(results) => *results,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_interrupted_run_ends_in_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    let config = config("forest");
    let mut expected = finished(train(&config, &whole, None));
    for at in [20, 65] {
        let outcome = train(&config, &parts, Some(at)).unwrap();
        assert_eq!(outcome, Outcome::Stopped { epoch: at });
        assert!(MachineRun::load(&parts).is_err());
    }
    let mut found = finished(train(&config, &parts, None));
    for file in ["model.safetensors", "metrics.jsonl", "config.toml"] {
        let read = |run: &Path| std::fs::read(run.join(file)).unwrap();
        assert_eq!(read(&whole), read(&parts), "{file}");
    }
    (expected.timing, found.timing) = Default::default();
    assert_eq!(expected, found);
    let views = found.views.unwrap();
    assert_eq!(views.consistent_right, views.consistent);
    assert_eq!(found.test[0].scores.f1, 1.0);
    assert_eq!(found.test[0].scores.sequences_exact, Some(1.0));
    assert!(matches!(train(&config, &parts, None).unwrap(), Outcome::AlreadyFinished(_)));
    // Another config in the same directory.
    let other = MachineConfig { seed: 4, ..config };
    assert!(train(&other, &parts, None).is_err());
}

#[test]
fn a_damaged_model_is_not_certified_and_not_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    finished(train(&config("dsu"), &dir, None));
    let run = MachineRun::load(&dir).unwrap();
    assert!(run.certify_in(&dir).unwrap().certificate.certified);
    MachineRun::load(&dir).unwrap().compile(false).unwrap();

    // One weight of the logits of the next state.
    let mut parameters = run.net().parameters().clone();
    let bias = parameters.get_mut("controller.bias").unwrap();
    *bias.last_mut().unwrap() += 100.0;
    let signature = run.machine().signature().clone();
    let damaged =
        MachineNet::from_parameters(signature, *run.net().settings(), parameters).unwrap();
    damaged.save(&dir.join("model.safetensors")).unwrap();
    let error = MachineRun::load(&dir).err().unwrap().to_string();
    assert!(error.contains("model.safetensors: it is damaged"), "{error}");
    // Without the results, which know the model's checksum, the network is compared anew.
    std::fs::remove_file(dir.join("results.json")).unwrap();
    let run = MachineRun::load(&dir).unwrap();
    assert!(run.compile(false).err().unwrap().to_string().contains("differs from its program on"));
    let certificate = run.certify_in(&dir).unwrap().certificate;
    assert!(!certificate.certified && certificate.right < certificate.views);
    let failure = &certificate.failures[0];
    assert!(failure.view.contains("start: u=a"), "{}", failure.view);
    assert_ne!(failure.expected, failure.found);
    // The rollout of a wrong machine is no error, and scores what it scores.
    assert!(run.verify(8, 2, 0, Mode::Memoised).unwrap().wrong > 0);
}

#[test]
fn built_in_machines_are_certified() {
    for name in MachineRun::built_in_names() {
        let run = MachineRun::built_in(name).unwrap();
        let committed = run.certificate().unwrap();
        let fresh = run.certify().unwrap();
        assert_eq!(committed.certificate, fresh.certificate, "{name}");
        assert!(fresh.margin > 0.1, "{name}: {}", fresh.margin);
        for nodes in [4, 5, 30] {
            let verdict = run.verify(nodes, 5, 1, Mode::Compiled).unwrap();
            assert_eq!((verdict.wrong, verdict.first), (0, None), "{name}");
        }
    }
    assert_eq!(MachineRun::built_in_names(), pgn_machines::programs::NAMES);
}

#[test]
fn network_table_and_tree_write_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["dsu", "lct", "forest"] {
        let run = MachineRun::built_in(name).unwrap();
        let sampling = Sampling { count: 3, split: Split::Test, seed: 9, ..Sampling::paper(50) };
        let set = Dataset::sample(&run.task().unwrap(), &sampling).unwrap();
        let data = folder.path().join("data.safetensors");
        set.save(&data).unwrap();
        let run = AnyRun::Machine(Box::new(run));
        let bytes = Mode::ALL.map(|mode| {
            let out = folder.path().join(mode.name());
            run.write_rollouts(&data, &out, mode).unwrap();
            let files = std::slice::from_ref(&data);
            let scores = &run.test_files(files, mode, Stop::NEVER).unwrap()[0].scores;
            assert_eq!(scores.sequences_exact, Some(1.0), "{name}, {mode:?}");
            assert_eq!(scores.mask_accuracy, Some(1.0), "{name}, {mode:?}");
            std::fs::read(out).unwrap()
        });
        assert_eq!(bytes[0], bytes[1], "{name}");
        assert_eq!(bytes[0], bytes[2], "{name}");
    }
}

#[test]
fn settings_are_checked() {
    let resolve = |text: &str| MachineConfig::resolve(text.parse().unwrap());
    let config =
        resolve("task = \"lct\"\nmodel = \"pgn-machine\"\n[data]\nnodes = [5, 10]").unwrap();
    assert_eq!(config.data.ops, [225, 450]);
    for (text, expected) in [
        ("task = \"nothing\"", "there is no program 'nothing'"),
        ("batch = 0", "batch is 0"),
        ("data.stream = true", "data.stream"),
        ("learning_rate = -1", "learning_rate"),
        ("[data]\nconsistent = false\nsequences = 0", "nothing to train on"),
        ("[network]\nk = 9", "k is 9"),
        ("[test]\nnodes = [1]", "test.nodes holds 1"),
    ] {
        let error = resolve(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// A machine's test shows what its scores are worth, as every model's does.
#[test]
fn scores_of_machines_have_baselines() {
    let run = MachineRun::built_in("lct").unwrap();
    let sets = TestSets { nodes: Some(vec![20]), count: Some(3), ..TestSets::default() };
    let streamed = run.test(&sets, Mode::Memoised, Stop::NEVER).unwrap().remove(0);
    let sampling =
        Sampling { count: 3, seed: run.config().seed, split: Split::Test, ..Sampling::paper(20) };
    let task = run.task().unwrap();
    let set = Dataset::sample(&task, &sampling).unwrap();
    assert_eq!(streamed, run.evaluate(&set, Mode::Memoised, Stop::NEVER).unwrap());
    let rule = Counting::of_seed(&task, run.config().seed).unwrap();
    assert_eq!(streamed.counting_f1, Some(rule.scores(set.sequences()).f1));
    assert_eq!(streamed.trivial, TrivialRules::of(set.sequences()));
    let trivial = streamed.trivial.unwrap();
    // Counted by hand.
    let share = |right: usize| right as f64 / set.pointers.len() as f64;
    let unvisited = set.masks.iter().filter(|&&mask| mask == 1).count();
    let to_self = set.pointers.iter().enumerate().filter(|&(at, &to)| at % 20 == to as usize);
    let kept = set.sequences().map(|sequence| {
        let start: Vec<u32> = (0..20).collect();
        let before = (0..sequence.ops())
            .flat_map(|t| if t == 0 { &start[..] } else { sequence.pointers_after(t - 1) });
        before.zip(sequence.pointers).filter(|(before, after)| before == after).count()
    });
    assert_eq!(trivial.never_visit, share(unvisited));
    assert_eq!(trivial.point_to_self, share(to_self.count()));
    assert_eq!(trivial.keep_pointers, share(kept.sum()));
}
