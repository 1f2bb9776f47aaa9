//! `pgn rollout` from the outside.

mod common;

use std::fs;

use common::{SMALL, refused, stdout};
use pgn_structures::{Dataset, files::TensorReader};

#[test]
fn a_rollout_file_holds_what_eval_scores() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, "generate --task dsu --nodes 9 --ops 11 --count 5 --split test --out data.st");
    let truth = Dataset::load(here.join("data.st")).unwrap();
    for (model, masks, pointers) in
        [("pgn", true, true), ("pgn-nm", false, true), ("gnn", false, false)]
    {
        stdout(here, &format!("train --model {model} --epochs 30 --out {model} {SMALL}"));
        stdout(here, &format!("rollout {model} --data data.st --out {model}.st"));
        let file = TensorReader::open(here.join(format!("{model}.st"))).unwrap();
        let logits = file.f32("query_logits", &[5, 11]).unwrap();
        let right = logits.iter().zip(&truth.answers).filter(|(l, a)| (**l > 0.0) == (**a == 1));
        let accuracy = right.count() as f64 / 55.0;
        let eval: serde_json::Value =
            serde_json::from_str(&stdout(here, &format!("eval {model} --data data.st --json")))
                .unwrap();
        let scores = &eval["test"][0];
        assert_eq!(scores["accuracy"].as_f64().unwrap(), accuracy);
        assert_eq!(file.shape("mask_logits").is_some(), masks, "{model}");
        assert_eq!(file.shape("pointers").is_some(), pointers, "{model}");
        if pointers {
            let moved = file.u32("pointers", &[5, 11, 9]).unwrap();
            let right = moved.iter().zip(&truth.pointers).filter(|(a, b)| a == b).count();
            let accuracy = right as f64 / moved.len() as f64;
            assert_eq!(scores["pointer_accuracy"].as_f64().unwrap(), accuracy);
        }
        if masks {
            let logits = file.f32("mask_logits", &[5, 11, 9]).unwrap();
            let right = logits.iter().zip(&truth.masks).filter(|(l, m)| (**l > 0.0) == (**m == 1));
            let accuracy = right.count() as f64 / logits.len() as f64;
            assert_eq!(scores["mask_accuracy"].as_f64().unwrap(), accuracy);
        }
    }
}

#[test]
fn eval_can_apply_the_processor_more_often_than_training_did() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let settings = "--task lct --model pgn --epochs 30 --test-layers nodes:8";
    stdout(here, &format!("train {settings} --out trained {SMALL}"));
    stdout(here, &format!("train --task lct --model pgn --epochs 30 --out run {SMALL}"));
    let scores = |arguments: &str| -> serde_json::Value {
        let json = stdout(here, &format!("eval {arguments} --nodes 40 --count 9 --json"));
        serde_json::from_str::<serde_json::Value>(&json).unwrap()["test"].clone()
    };
    // Trained on 8 nodes, where the setting changes nothing; at 40 it does.
    let more = scores("run --test-layers nodes:8");
    assert_eq!(more, scores("trained"));
    assert_ne!(more, scores("run"));
    let wrong = refused(here, "eval run --test-layers nodes:1");
    assert!(wrong.contains("nodes is 1; expected at least 2"), "{wrong}");
    let wrong = refused(here, "eval run --test-layers size:8");
    assert!(wrong.contains("expected nodes:N or depth:D"), "{wrong}");
}

#[test]
fn the_story_follows_the_operations() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("ops.csv"), "u,v\n0,1\n1,2\n0,2\n3,4\n").unwrap();
    stdout(here, &format!("train --epochs 30 --out run {SMALL}"));
    let text = stdout(here, "rollout run --ops ops.csv --nodes 6");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(!text.contains('\x1b'), "no colours in a pipe");
    assert!(text.contains("(0, 1)") && text.contains("(3, 4)"), "{text}");

    let steps: serde_json::Value =
        serde_json::from_str(&stdout(here, "rollout run --ops ops.csv --nodes 6 --json")).unwrap();
    let steps = steps.as_array().unwrap();
    let truth: Vec<_> = steps.iter().map(|step| step["truth"].as_u64().unwrap()).collect();
    assert_eq!(truth, [1, 1, 0, 1]);
    let right = steps.iter().filter(|step| step["answer"] == step["truth"]).count();
    assert!(text.contains(&format!("{right} of 4 answers right")), "{text}");
    // Pointers moved one by one end where the story says they are wrong or right.
    let mut pointers: Vec<u64> = (0..6).collect();
    for step in steps {
        for moved in step["moved"].as_array().unwrap() {
            let node = moved["node"].as_u64().unwrap() as usize;
            assert_eq!(moved["from"], pointers[node]);
            pointers[node] = moved["to"].as_u64().unwrap();
        }
        for wrong in step["wrong"].as_array().unwrap() {
            assert_eq!(wrong["to"], pointers[wrong["node"].as_u64().unwrap() as usize]);
            assert_ne!(wrong["to"], wrong["truth"]);
        }
    }

    fs::write(here.join("wrong.csv"), "0;1\n").unwrap();
    for (arguments, words) in [
        ("--ops ops.csv --nodes 3", "node 3 is out of range"),
        ("--ops nowhere.csv", "nowhere.csv"),
        ("--data nowhere.st --out x.st", "nowhere.st"),
        ("--data wrong.csv --out x.st", "wrong.csv: line 1"),
    ] {
        let sentence = refused(here, &format!("rollout run {arguments}"));
        assert!(sentence.contains(words), "{sentence}");
    }
    assert!(!here.join("x.st").exists());
}

#[test]
fn predictions_are_scored_on_a_data_set_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("mine.csv"), "0,1\n1,2\n\n2,3\n3,2\n").unwrap();
    stdout(here, "generate --task dsu --operations mine.csv --out mine.safetensors");
    stdout(here, "rollout dsu --data mine.safetensors --out predictions.safetensors");
    let score = "benchmark score predictions.safetensors --data mine.safetensors";
    let text = stdout(here, score);
    assert!(text.starts_with("| task | n | seed | F₁ | always 1 |"), "{text}");
    let row: Vec<&str> = text.lines().last().unwrap().split(" | ").collect();
    assert_eq!(row[..4], ["| dsu", "4", "0", "1.000"], "{text}");
    assert_eq!(row[6..9], ["1.000", "0.250", "0.750"], "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&stdout(here, &format!("{score} --json"))).unwrap();
    assert_eq!(json[0]["all"]["pointer_accuracy"], 1.0);
    // Sequences of different lengths are scored in a column each; a data set has one length.
    fs::write(here.join("mixed.csv"), "0,1\n1,2\n\n2,3\n\n3,2\n0,2\n").unwrap();
    let text = stdout(here, "eval dsu --operations mixed.csv");
    assert!(text.lines().nth(1).unwrap().ends_with("n=4      n=4"), "{text}");
    let generate = "generate --task dsu --operations mixed.csv --out mixed.safetensors";
    assert!(refused(here, generate).contains("sequence 1 has 1 operations and sequence 0 has 2"));
    stdout(here, "generate --task dsu --nodes 5 --count 2 --out other.safetensors");
    let sentence =
        common::refused(here, "benchmark score predictions.safetensors --data other.safetensors");
    assert!(sentence.contains("predictions.safetensors"), "{sentence}");
}
