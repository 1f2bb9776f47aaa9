//! `pgn train` and `pgn eval` from the outside.

mod common;

use std::fs;

use common::{SMALL, names, pgn, refused, results_without_times, stdout};
use pgn_engine::{Config, Parameters};
use pgn_structures::Task;

#[test]
fn a_run_directory_holds_what_the_contract_says() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let train = format!("train --task dsu --model pgn --seed 3 --epochs 12 --out run {SMALL}");
    let printed = stdout(here, &train);
    assert!(printed.starts_with("dsu pgn seed 3: best epoch "), "{printed}");
    assert!(printed.contains("F1 of always answering 1"), "{printed}");
    let run = here.join("run");
    let expected = [
        ".lock",
        "checkpoint.safetensors",
        "config.toml",
        "events.out.tfevents.pgn",
        "metrics.jsonl",
        "model.safetensors",
        "results.json",
    ];
    assert_eq!(names(&run), expected);

    let metrics = pgn_lab::metrics::read_metrics(&run.join("metrics.jsonl")).unwrap();
    assert_eq!(metrics.iter().map(|m| m.epoch).collect::<Vec<_>>(), (1..=12).collect::<Vec<_>>());
    let results = pgn_lab::Results::load(&run).unwrap();
    // The chosen epoch is the first among those with the highest validation F₁.
    let f1 = |line: &pgn_lab::metrics::Metrics| line.validation.as_ref().unwrap().f1;
    let highest = metrics.iter().map(f1).fold(0.0, f64::max);
    let first = metrics.iter().find(|m| f1(m) == highest).unwrap();
    assert_eq!(results.best_epoch, first.epoch);
    assert_eq!(Some(&results.validation), first.validation.as_ref());

    // What eval measures is what the run's own results say.
    let eval: serde_json::Value = serde_json::from_str(&stdout(here, "eval run --json")).unwrap();
    assert_eq!(eval["test"], results_without_times(&run)["test"]);
    assert_eq!(eval["test"][1]["nodes"], 12);
    // Counting on the same sequences stands beside, in JSON and in the table.
    let task = Task::named(&results.task).unwrap();
    let rule = pgn_lab::Counting::of_seed(&task, results.seed).unwrap();
    let counting: Vec<f64> = results
        .test
        .iter()
        .map(|set| rule.test(&task, results.seed, set.nodes, set.ops, set.sequences).unwrap().f1)
        .collect();
    assert_eq!(eval["counting_f1"], serde_json::json!(counting));
    let line = format!("F1 of counting {:>20.3} {:>8.3}\n", counting[0], counting[1]);
    let table = stdout(here, "eval run");
    assert!(table.ends_with(&line), "{line}{table}");

    // Once more: nothing to do. With another setting: refused.
    let model = fs::read(run.join("model.safetensors")).unwrap();
    let again = pgn(here, &train).assert().success().get_output().clone();
    assert!(String::from_utf8_lossy(&again.stderr).contains("already finished"));
    let sentence = refused(here, &format!("{train} --clip 2"));
    assert!(sentence.contains("clip is 1.0 there and 2.0 here"), "{sentence}");
    let sentence = refused(here, &train.replace("--model pgn", "--model gnn"));
    assert!(sentence.contains("run holds another run"), "{sentence}");
    assert_eq!(fs::read(run.join("model.safetensors")).unwrap(), model);

    // The resolved config alone repeats the run.
    stdout(here, "train --config run/config.toml --out again");
    common::assert_same_outcome(&run, &here.join("again"));
}

#[test]
fn no_epochs_write_the_initial_model() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --task lct --model pgn-nm --seed 5 --epochs 0 --out run {SMALL}"));
    let config = Config::preset("pgn-nm").unwrap();
    let initial = Parameters::initial(&config, 5).to_bytes();
    assert_eq!(fs::read(here.join("run/model.safetensors")).unwrap(), initial);
    assert_eq!(fs::read(here.join("run/metrics.jsonl")).unwrap(), b"");
    assert_eq!(results_without_times(&here.join("run"))["best_epoch"], 0);
}

/// Fine-tuning, or more epochs: a run starts from another one's weights, and only from those.
#[test]
fn a_run_starts_from_the_weights_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --epochs 3 --out a {SMALL}"));
    stdout(here, &format!("train --epochs 0 --seed 8 --initial a --out b {SMALL}"));
    let model = |run: &str| fs::read(here.join(run).join("model.safetensors")).unwrap();
    assert_eq!(model("a"), model("b"));
    let more = format!("train --epochs 2 --initial a --learning-rate 0.01 --out c {SMALL}");
    stdout(here, &more);
    assert_ne!(model("a"), model("c"));
    assert!(stdout(here, &more).contains("best epoch"), "it is finished, and the same run");

    let error = refused(
        here,
        &format!("train --epochs 2 --initial c --learning-rate 0.01 --out c {SMALL}"),
    );
    assert!(error.contains("holds other weights than c"), "{error}");
    let error = refused(here, &format!("train --epochs 3 --initial c --out a {SMALL}"));
    assert!(error.contains("began with other weights"), "{error}");
    assert!(refused(here, &format!("train --initial none --out d {SMALL}")).contains("none"));
    assert!(!here.join("d").exists());
}

/// What does not fit leaves nothing behind that a corrected start would read.
#[test]
fn a_start_that_is_refused_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --epochs 1 --out a {SMALL}"));
    let error = refused(here, &format!("train --latents 8 --initial a --epochs 0 --out b {SMALL}"));
    assert!(error.contains("model.safetensors"), "{error}");
    assert!(!here.join("b/initial.safetensors").exists());
    let fresh = format!("train --latents 8 --epochs 0 --out b {SMALL}");
    stdout(here, &fresh);
    stdout(here, &fresh.replace("--out b", "--out c"));
    common::assert_same_outcome(&here.join("b"), &here.join("c"));

    // Neither does a teacher.
    let student = format!("train --model pgn-ptrs --teacher a --epochs 1 --out d {SMALL}");
    refused(here, &format!("{student} --initial a"));
    assert!(!here.join("d/teacher").exists() && !here.join("d/config.toml").exists());
    stdout(here, &student);

    // Weights that a crash has left are not taken for this run's.
    fs::create_dir(here.join("e")).unwrap();
    fs::copy(here.join("a/model.safetensors"), here.join("e/initial.safetensors")).unwrap();
    let error = refused(here, &format!("train --epochs 1 --out e {SMALL}"));
    assert!(error.contains("initial.safetensors belongs to no run"), "{error}");
    stdout(here, &format!("train --epochs 1 --initial a --out e {SMALL}"));
}

#[test]
fn the_last_epoch_is_always_evaluated() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --epochs 10 --evaluate-every 4 --out run {SMALL}"));
    let metrics = pgn_lab::metrics::read_metrics(&here.join("run/metrics.jsonl")).unwrap();
    assert_eq!(metrics.iter().map(|m| m.epoch).collect::<Vec<_>>(), [4, 8, 10]);
}

#[test]
fn the_outcome_does_not_depend_on_threads() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for threads in [1, 2, 5] {
        let train = "train --epochs 8 --batch 4 --clip 0.5 --decay cosine --stream --nodes 6,10";
        let small = SMALL.replace("--nodes 8 ", "");
        stdout(here, &format!("{train} --threads {threads} --out run-{threads} {small}"));
    }
    common::assert_same_outcome(&here.join("run-1"), &here.join("run-2"));
    common::assert_same_outcome(&here.join("run-1"), &here.join("run-5"));
}

#[test]
fn data_set_files_stand_in_for_sampled_sequences() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for (split, count) in [("train", 6), ("validation", 4), ("test", 3)] {
        stdout(
            here,
            &format!(
                "generate --task dsu --nodes 8 --count {count} --seed 7 --split {split} --out {split}.safetensors"
            ),
        );
    }
    let sampled = format!("train --seed 7 --epochs 5 --out sampled {SMALL}");
    stdout(here, &sampled);
    stdout(
        here,
        "train --seed 7 --epochs 5 --train train.safetensors --validation validation.safetensors \
         --test-nodes 8,12 --test-sequences 3 --out files",
    );
    for name in ["model.safetensors", "metrics.jsonl"] {
        let [a, b] = ["sampled", "files"].map(|run| fs::read(here.join(run).join(name)).unwrap());
        assert!(a == b, "{name}");
    }
    // The test set as a file scores what the run's own test set scored.
    let eval: serde_json::Value =
        serde_json::from_str(&stdout(here, "eval sampled --data test.safetensors --json")).unwrap();
    assert_eq!(eval["test"][0], results_without_times(&here.join("sampled"))["test"][0]);

    // Another file under the same name is another run.
    stdout(
        here,
        "generate --task dsu --nodes 8 --count 6 --seed 8 --out train.safetensors --force",
    );
    let sentence = refused(
        here,
        "train --seed 7 --epochs 5 --train train.safetensors --validation validation.safetensors \
         --test-nodes 8,12 --test-sequences 3 --out files",
    );
    assert!(sentence.contains("data.train_crc32c"), "{sentence}");
    let sentence = refused(here, "train --task lct --train train.safetensors --out x");
    assert!(sentence.contains("its task is dsu; expected lct"), "{sentence}");
    let sentence = refused(here, "train --train train.safetensors --nodes 9 --out x");
    assert!(sentence.contains("leave data.nodes"), "{sentence}");
    assert!(!here.join("x").exists());
}

#[test]
fn a_student_takes_its_teachers_pointers_along() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --epochs 6 --out master {SMALL}"));
    stdout(here, &format!("train --model pgn-ptrs --teacher master --epochs 6 --out run {SMALL}"));
    // The copy makes the run whole: neither eval nor a repetition needs the teacher any more.
    fs::remove_dir_all(here.join("master")).unwrap();
    stdout(here, "train --config run/config.toml --out again");
    for file in ["config.toml", "model.safetensors", "teacher/model.safetensors"] {
        let [first, second] = ["run", "again"].map(|run| fs::read(here.join(run).join(file)));
        assert_eq!(first.unwrap(), second.unwrap(), "{file}");
    }
    let eval: serde_json::Value = serde_json::from_str(&stdout(here, "eval run --json")).unwrap();
    assert_eq!(eval["test"], results_without_times(&here.join("run"))["test"]);

    stdout(here, &format!("train --model gnn --epochs 1 --out gnn {SMALL}"));
    let student = "train --model pgn-ptrs --epochs 6 --out x";
    let sentence = refused(here, &format!("{student} --teacher gnn {SMALL}"));
    assert!(sentence.contains("model gnn has no pointers of its own to teach"), "{sentence}");
    let sentence = refused(here, &format!("{student} --teacher nowhere {SMALL}"));
    assert!(sentence.contains("nowhere"), "{sentence}");
    let sentence = refused(here, &format!("{student} {SMALL}"));
    assert!(sentence.contains("--teacher DIR"), "{sentence}");
}

#[test]
fn nonsense_is_refused_in_one_sentence_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("typo.toml"), "epoch = 3\n").unwrap();
    fs::write(here.join("broken.toml"), "epochs = \n").unwrap();
    for (arguments, words) in [
        ("--epochs -1", "--epochs"),
        ("--epochs 1.5", "--epochs"),
        ("--learning-rate nan", "learning_rate is NaN"),
        ("--learning-rate -0.1", "learning_rate is -0.1"),
        ("--learning-rate fast", "--learning-rate"),
        ("--features 0", "k is 0"),
        ("--features 20", "k is 20"),
        ("--latents 20", "k is 20"),
        ("--learning-rate 1e39", "learning_rate is 1"),
        ("--learning-rate 1e-46", "learning_rate is 0"),
        ("--batch 0", "batch is 0"),
        ("--batch 71", "batch is 71"),
        ("--nodes 1", "data.nodes holds 1"),
        ("--nodes 20,20", "twice"),
        ("--ops 0", "data.ops holds 0"),
        ("--sequences 0", "data.sequences is 0"),
        ("--clip -1", "clip is -1"),
        ("--clip inf", "clip is inf"),
        ("--evaluate-every 0", "evaluate_every is 0"),
        ("--query-weight -1", "query loss is -1"),
        ("--model transformer", "there is no model 'transformer'"),
        ("--task stack", "stack"),
        ("--threads 0", "--threads is 0"),
        ("--candidates none", "--candidates"),
        ("--config typo.toml", "unknown field `epoch`"),
        ("--config broken.toml", "broken.toml"),
        ("--config nowhere.toml", "nowhere.toml"),
        (
            "--model gnn --candidates visited",
            "candidates = \"visited\" requires a model with masks",
        ),
    ] {
        let sentence = refused(here, &format!("train --out run {arguments}"));
        assert!(sentence.contains(words), "expected '{words}' in: {sentence}");
        assert!(!here.join("run").exists(), "{arguments} left something behind");
    }
    let sentence = refused(here, "eval nowhere");
    assert!(sentence.contains("nowhere/config.toml"), "{sentence}");
}

#[test]
fn a_stranger_in_the_run_directory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --epochs 2 --out run {SMALL}"));
    stdout(here, &format!("train --epochs 2 --features 16 --out other {SMALL}"));
    fs::copy(here.join("other/model.safetensors"), here.join("run/model.safetensors")).unwrap();
    // The run's checksums notice first; without them the shapes do.
    let sentence = refused(here, "eval run");
    assert!(sentence.contains("run/model.safetensors: it is damaged or of another"), "{sentence}");
    fs::remove_file(here.join("run/results.json")).unwrap();
    let sentence = refused(here, "eval run");
    assert!(sentence.contains("run/model.safetensors: tensor 'encoder."), "{sentence}");
    fs::remove_file(here.join("run/model.safetensors")).unwrap();
    let sentence = refused(here, "eval run");
    assert!(sentence.contains("run/model.safetensors"), "{sentence}");
    fs::write(here.join("run/config.toml"), "task = 'dsu'\n").unwrap();
    let sentence = refused(here, "eval run");
    assert!(sentence.contains("run/config.toml: missing field"), "{sentence}");
}
