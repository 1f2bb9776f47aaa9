//! `pgn reproduce` from the outside: a tiny grid, end to end.

mod common;

use std::fs;

use common::{assert_same_outcome, one_sentence, pgn, refused, run, start, stdout};

const GRID: &str = "--models pgn-ptrs,gnn,pgn-nm --tasks dsu,lct --seeds 0,1 --epochs 4";

/// Small, but with test sizes that the paper has.
const SMALL: &str = "--sequences 6 --validation-sequences 4 --nodes 8 --test-nodes 20,50,100 \
                     --test-sequences 2";

#[test]
fn a_tiny_grid_end_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let command = format!("reproduce --out grid {GRID} {SMALL}");

    // The manifest before: pgn was added as the teacher, and its student depends on it.
    let list: serde_json::Value =
        serde_json::from_str(&stdout(here, &format!("{command} --list --json"))).unwrap();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 2 * 2 * 4);
    for (index, entry) in list.iter().enumerate() {
        assert_eq!(entry["index"], index);
        assert_eq!(entry["state"], "waiting");
        match entry["model"].as_str().unwrap() {
            "pgn-ptrs" => {
                let teacher = &list[entry["depends_on"].as_u64().unwrap() as usize];
                assert_eq!(teacher["model"], "pgn");
                assert_eq!((&teacher["task"], &teacher["seed"]), (&entry["task"], &entry["seed"]));
            }
            _ => assert!(entry["depends_on"].is_null()),
        }
    }
    assert!(!here.join("grid").exists(), "listing changes nothing");

    let printed = stdout(here, &command);
    assert!(printed.contains("F1, lct"), "{printed}");
    assert!(printed.contains("2 seeds and 4 epochs"), "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 100), "{printed}");
    let grid = here.join("grid");
    let tables = fs::read_to_string(grid.join("tables.md")).unwrap();
    assert!(tables.contains("16 runs; seeds 0, 1; epochs 4."), "{tables}");
    assert!(tables.contains("## The paper's claims"), "{tables}");
    let runs: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(grid.join("runs.json")).unwrap()).unwrap();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 16);
    let listed = stdout(here, &format!("{command} --list"));
    assert_eq!(listed.matches(" finished ").count(), 16, "{listed}");

    // A run of the grid is what `pgn train` makes of the same settings.
    stdout(here, &format!("train --task lct --model gnn --seed 1 --epochs 4 --out one {SMALL}"));
    assert_same_outcome(&here.join("one"), &run(&grid, "lct", "gnn", 1));

    // Started again, finished runs are skipped: even one whose model is gone stays so.
    let model = run(&grid, "dsu", "gnn", 0).join("model.safetensors");
    fs::remove_file(&model).unwrap();
    assert_eq!(stdout(here, &command), printed);
    assert!(!model.exists());

    // Tables again, from the runs and from runs.json alone.
    fs::remove_file(grid.join("tables.md")).unwrap();
    assert_eq!(stdout(here, "reproduce --tables grid"), tables);
    fs::create_dir(here.join("bare")).unwrap();
    fs::copy(grid.join("runs.json"), here.join("bare/runs.json")).unwrap();
    assert_eq!(stdout(here, "reproduce --tables bare"), tables);
    assert_eq!(fs::read_to_string(here.join("bare/tables.md")).unwrap(), tables);
    fs::create_dir(here.join("empty")).unwrap();
    let sentence = refused(here, "reproduce --tables empty");
    assert!(sentence.contains("empty has no finished runs in it"), "{sentence}");
    // Runs in any other layout are found too.
    fs::create_dir(here.join("flat")).unwrap();
    fs::rename(run(&grid, "dsu", "gnn", 0), here.join("flat/mine")).unwrap();
    assert!(stdout(here, "reproduce --tables flat").contains("gnn"));
}

#[test]
fn several_processes_share_a_grid_and_one_entry_is_a_job() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let alone = format!("reproduce --out alone --jobs 1 --threads 2 {GRID} {SMALL}");
    stdout(here, &alone);

    // Three at once on one folder: two whole queues, and a job for one entry, which does not wait
    // if one of the others is training it.
    let shared = format!("reproduce --out shared {GRID} {SMALL}");
    let children = [
        start(here, &shared),
        start(here, &format!("{shared} --jobs 1")),
        start(here, &format!("{shared} --only 2")),
    ];
    for (index, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().unwrap();
        let ended = output.status.success() || (index == 2 && output.status.code() == Some(75));
        assert!(ended, "{}", String::from_utf8_lossy(&output.stderr));
    }
    for task in ["dsu", "lct"] {
        for model in ["pgn", "pgn-ptrs", "gnn", "pgn-nm"] {
            for seed in [0, 1] {
                let [a, b] = ["alone", "shared"].map(|out| run(&here.join(out), task, model, seed));
                for name in ["model.safetensors", "metrics.jsonl"] {
                    assert_eq!(fs::read(a.join(name)).unwrap(), fs::read(b.join(name)).unwrap());
                }
            }
        }
    }

    // A student without its teacher is not ready, and says so at once; nothing is begun.
    let fresh = format!("reproduce --out fresh {GRID} {SMALL}");
    let output = pgn(here, &format!("{fresh} --only 1")).output().unwrap();
    assert_eq!(output.status.code(), Some(75));
    let stderr = String::from_utf8_lossy(&output.stderr);
    let sentence = "1 of 1 runs are not ready; the first, dsu pgn-ptrs seed 0: it waits for dsu pgn \
                    seed 0 (entry 0)\n";
    assert_eq!(stderr, sentence);
    assert!(!here.join("fresh").exists());

    // Entries that are ready are done, in order, and no others.
    assert_eq!(stdout(here, &format!("{fresh} --array --state ready")), "0,2-4,6-8,10-12,14,15\n");
    stdout(here, &format!("{fresh} --only 0-1"));
    assert_eq!(stdout(here, &format!("{fresh} --array --state finished")), "0,1\n");
    assert_eq!(stdout(here, &format!("{fresh} --array --state todo")), "2-15\n");
    assert!(run(&here.join("fresh"), "dsu", "pgn-ptrs", 0).join("results.json").exists());
    let list = stdout(here, &format!("{fresh} --list --json --state todo"));
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    assert_eq!((&list[0]["index"], &list[0]["waits_for"]), (&2.into(), &serde_json::Value::Null));
    assert_eq!((&list[3]["index"], &list[3]["waits_for"]), (&5.into(), &4.into()));
    let sentence = refused(here, &format!("{fresh} --only 1,1"));
    assert!(sentence.contains("holds 1 twice"), "{sentence}");
    let sentence = refused(here, &format!("{fresh} --only 16"));
    assert!(sentence.contains("there is no entry 16"), "{sentence}");
}

#[test]
fn what_is_exported_can_be_evaluated() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let settings = format!("--models pgn,pgn-ptrs --tasks dsu --seeds 0 --epochs 100 {SMALL}");
    stdout(here, &format!("reproduce --out grid --export kept {settings}"));
    let kept = run(&here.join("kept"), "dsu", "pgn-ptrs", 0);
    let expected = ["config.toml", "metrics.jsonl", "model.safetensors", "results.json", "teacher"];
    assert_eq!(common::names(&kept), expected);
    let metrics = pgn_lab::metrics::read_metrics(&kept.join("metrics.jsonl")).unwrap();
    let results = pgn_lab::Results::load(&kept).unwrap();
    assert!(metrics.len() < 60, "thinned");
    for epoch in [1, 100, results.best_epoch] {
        assert!(metrics.iter().any(|line| line.epoch == epoch));
    }
    let eval: serde_json::Value =
        serde_json::from_str(&stdout(here, "eval kept/dsu/pgn-ptrs/seed-0 --json")).unwrap();
    assert_eq!(eval["test"], common::results_without_times(&kept)["test"]);
    let [a, b] = ["grid", "kept"].map(|d| fs::read(here.join(d).join("tables.md")).unwrap());
    assert_eq!(a, b);
}

#[test]
fn a_run_that_fails_does_not_stop_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let grid = format!("reproduce --out grid --models gnn,pgn,pgn-ptrs --epochs 2 {SMALL}");
    // Another run sits where the teacher should be trained.
    stdout(here, &format!("train --epochs 3 --out grid/dsu/pgn/seed-0 {SMALL}"));
    let output = pgn(here, &grid).output().unwrap();
    let sentence = one_sentence("the grid", &output);
    let start = "error: 2 of 3 runs failed; the first, dsu pgn seed 0: grid/dsu/pgn/seed-0 holds \
                 another run (epochs is 3 there and 2 here)";
    assert!(sentence.starts_with(start), "{sentence}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("dsu gnn seed 0: F1"), "{stderr}");
    assert!(run(&here.join("grid"), "dsu", "gnn", 0).join("results.json").exists());
}

#[test]
fn nonsense_is_refused_before_anything_is_trained() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for (arguments, words) in [
        ("--models gmm", "there is no model 'gmm'"),
        ("--tasks stack", "stack"),
        ("--seeds -1", "-1"),
        ("--seeds 0,0", "asked for twice"),
        ("--epochs -1", "--epochs"),
        ("--jobs 0", "--jobs"),
        ("--learning-rate nan", "learning_rate is NaN"),
        ("--models pgn-machine", "train it with `pgn train --task dsu --model pgn-machine --out"),
        ("--tables nowhere", "nowhere"),
    ] {
        let output = pgn(here, &format!("reproduce {arguments}")).output().unwrap();
        let sentence = one_sentence(arguments, &output);
        assert!(sentence.contains(words), "expected '{words}' in: {sentence}");
    }
    assert!(common::names(here).is_empty());
}
