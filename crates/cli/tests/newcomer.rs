//! The first minutes: what is there, and mistakes that are answered with what to do instead.

mod common;

use std::fs;

use common::{SMALL, names, pgn, refused, start, stdout};

/// The exit code and standard error of a command that fails.
fn failed(here: &std::path::Path, arguments: &str) -> (Option<i32>, String) {
    let output = pgn(here, arguments).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn models_and_tasks_are_listed_in_a_line_each() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let models = stdout(here, "models");
    for name in ["gnn", "pgn-ptrs", "pgn-exact", "pgn-machine"] {
        assert!(models.lines().any(|line| line.starts_with(&format!("  {name} "))), "{models}");
    }
    let tasks = stdout(here, "tasks");
    for name in ["dsu", "lct", "forest", "splay"] {
        assert!(tasks.lines().any(|line| line.starts_with(&format!("  {name} "))), "{tasks}");
    }
    for text in [&models, &tasks] {
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    let detail = stdout(here, "models pgn-free-2");
    assert!(detail.contains("weights in ") && detail.contains("message.weight"), "{detail}");
    assert!(detail.contains("network.layers") && detail.contains("network.forcing"), "{detail}");
    assert!(stdout(here, "models lct").contains("controller.weight"));
    assert!(refused(here, "models pgn-fre").contains("pgn-fre"));
    let short = stdout(here, "train -h");
    assert!(short.lines().count() < 50 && !short.contains("--candidates"), "{short}");
    assert!(stdout(here, "train --help").contains("--candidates"));
    let json: serde_json::Value = serde_json::from_str(&stdout(here, "models --json")).unwrap();
    let found = json.as_array().unwrap().iter().find(|model| model["name"] == "pgn").unwrap();
    assert_eq!(found["in_paper"], true);
    let json: serde_json::Value = serde_json::from_str(&stdout(here, "tasks --json")).unwrap();
    let found = json.as_array().unwrap().iter().find(|task| task["name"] == "heap").unwrap();
    assert_eq!(
        (&found["operations"][1]["name"], &found["machine"]),
        (&"pop_min".into(), &true.into())
    );
}

#[test]
fn a_misspelt_name_is_answered_with_the_one_that_was_meant() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for (arguments, meant) in [
        ("generate --task ltc --nodes 5 --out a.st", "lct"),
        ("train --task dsuu --out run", "dsu"),
        ("train --model pgn-machne --out run", "pgn-machine"),
        ("train --task slay --model pgn-machine --out run", "splay"),
        ("reproduce --models deepset", "deepsets"),
        ("bench --models pgn-asim", "pgn-asym"),
        ("certify ltc", "lct"),
        ("eval ltc", "lct"),
    ] {
        let sentence = refused(here, arguments);
        assert!(sentence.ends_with(&format!("(did you mean {meant}?)")), "{sentence}");
    }
    assert!(names(here).is_empty());
    for arguments in [
        "generate --task ltc --nodes 5 --out a.st",
        "train --task dsuu --out run",
        "train --model pgn-machne --out run",
        "reproduce --models deepset",
        "reproduce --tasks dsuu",
        "bench --models pgn-asim",
    ] {
        assert_eq!(failed(here, arguments).0, Some(2), "{arguments}");
    }
}

#[test]
fn what_cannot_be_learned_is_answered_with_what_can() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let sentence = refused(here, "train --task lct --model pgn-exact --out run");
    assert!(sentence.ends_with("use `dsu`, `dsu-ordered` or `forest`"), "{sentence}");
    let sentence = refused(here, "train --task dsu --pointer-types left --out run");
    assert!(sentence.contains("`left`") && sentence.ends_with("it has one pointer"), "{sentence}");
    let sentence = refused(here, "train --task lct --pointer-types lift --out run");
    assert!(sentence.ends_with("`lct`; expected left, right"), "{sentence}");
    // All views of these few operations are learned; what is not met cannot be.
    let few = "--task dsu --model pgn-machine --sequences 1 --nodes 4 --ops 2 --out run --quiet";
    let output = pgn(here, &format!("train {few}")).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let (code, text) = failed(here, "certify run");
    assert_eq!(code, Some(1));
    assert!(text.contains("longer training does not help; train on more sequences"), "{text}");
}

#[test]
fn a_csv_of_operations_stands_for_a_data_set() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("ops.csv"), "0,1\n1,2\n0,2\n\n3,4\n4,1\n1,3\n").unwrap();
    stdout(here, "generate --task dsu --ops ops.csv --out ops.st");
    let train = |name: &str, file: &str| {
        let files = format!("--train {file} --validation {file}");
        stdout(
            here,
            &format!("train --epochs 2 --out {name} --test-nodes 8 --test-sequences 2 {files}"),
        );
        fs::read(here.join(name).join("model.safetensors")).unwrap()
    };
    assert_eq!(train("a", "ops.csv"), train("b", "ops.st"));
    for run in ["a", "dsu"] {
        assert_eq!(
            stdout(here, &format!("eval {run} --data ops.csv --json")).split("seconds").next(),
            stdout(here, &format!("eval {run} --data ops.st --json")).split("seconds").next(),
        );
    }
    stdout(here, "rollout a --data ops.csv --out a.st");
}

#[test]
fn a_folder_of_runs_is_not_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for name in ["a", "b"] {
        stdout(here, &format!("train --epochs 1 --out runs/{name} {SMALL}"));
    }
    for command in ["eval runs", "verify runs", "rollout runs --ops ops.csv"] {
        let sentence = refused(here, command);
        assert!(sentence.contains("choose one of those below it: runs/a, runs/b"), "{sentence}");
    }
    fs::create_dir(here.join("empty")).unwrap();
    assert!(refused(here, "eval empty").contains("no finished run is below it"));

    // What cannot be verified, and what can.
    let sentence = refused(here, "verify runs/a");
    assert!(sentence.contains("pgn-exact and pgn-machine can"), "{sentence}");

    // What only machines can do.
    for command in ["certify runs/a", "compile runs/a", "judge unionfind runs/a"] {
        let sentence = refused(here, command);
        assert!(sentence.contains("is not the run directory of a machine"), "{sentence}");
    }

    // Another task in a directory that is taken: the task is what is named, not the batch size.
    let train = format!("train --task lct --epochs 1 --out runs/a {SMALL} --clip 2");
    let sentence = refused(here, &train);
    assert!(sentence.contains("(task is \"dsu\" there and \"lct\" here)"), "{sentence}");
    let sentence = refused(here, "train --task dsu --model pgn-machine --out runs/a");
    assert!(sentence.contains("(model is \"pgn\" there"), "{sentence}");

    let (code, text) = failed(here, "rollout runs/a");
    assert_eq!(code, Some(2));
    assert!(
        text.contains("--operations FILE") && text.contains("--data FILE --out FILE"),
        "{text}"
    );
}

#[test]
fn files_of_another_kind_are_named_and_none_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, "generate --task dsu --nodes 8 --count 2 --out a.st");
    let bytes = fs::read(here.join("a.st")).unwrap();
    let sentence = refused(here, "generate --task lct --nodes 8 --count 2 --out a.st");
    assert!(sentence.contains("a.st already exists; use --force to overwrite it"), "{sentence}");
    assert_eq!(fs::read(here.join("a.st")).unwrap(), bytes);
    stdout(here, "generate --task lct --nodes 8 --count 2 --out a.st --force");
    assert_ne!(fs::read(here.join("a.st")).unwrap(), bytes);

    stdout(here, "generate --task dsu --nodes 8 --count 2 --out b.st");
    stdout(here, &format!("train --epochs 1 --out run {SMALL}"));
    stdout(here, "rollout run --data b.st --out rollout.st");
    for (file, kind) in [
        ("rollout.st", "it is a rollout"),
        ("run/model.safetensors", "it is the weights of a model"),
        ("run/checkpoint.safetensors", "it is the checkpoint of a run"),
    ] {
        let sentence = refused(here, &format!("generate --describe {file}"));
        assert!(sentence.contains(kind) && sentence.contains("expected a data set"), "{sentence}");
    }
}

#[test]
fn a_wrong_setting_is_named_with_its_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for (text, said) in [
        ("epochs = 3\nlearning_rate = \"fast\"\n", "my.toml: line 2: learning_rate: invalid type"),
        ("\n\nlearning_rate = -1.0\n", "my.toml: line 3: learning_rate is -1; expected"),
        ("[data]\nnodes = []\n", "my.toml: line 2: data.nodes is empty"),
        ("epoch = 3\n", "my.toml: line 1: unknown field `epoch`"),
        ("seed = 1\nlerning_rate = 1\n", "(did you mean learning_rate?)"),
        ("seed = \"x\"\n", "my.toml: line 1: seed: invalid type: string \"x\", expected a whole"),
        ("[network]\nk = 7\n", "my.toml: line 2: network.k is 7; expected a multiple of 8"),
        ("seed = 1\nmodel = \"png\"\n", "my.toml: line 2: there is no model 'png'; expected"),
        ("task = \"ltc\"\n", "my.toml: line 1: there is no task 'ltc'; expected"),
        ("epochs = 3\nseed = [\n", "my.toml: line "),
        (
            "[data]\nnodes = [20]\nlearning_rate = 0.1\n",
            "my.toml: line 3: data: unknown field `learning_rate`; it belongs at the top level, above",
        ),
        (
            "seed = 1\nlayers = 2\n",
            "my.toml: line 2: unknown field `layers`; it belongs in [network]",
        ),
        ("stream = true\n", "my.toml: line 1: unknown field `stream`; it belongs in [data]"),
    ] {
        fs::write(here.join("my.toml"), text).unwrap();
        let sentence = refused(here, "train --config my.toml --out run");
        assert!(sentence.contains(said), "{sentence}");
    }
    // What a flag says is not in the file.
    fs::write(here.join("my.toml"), "model = \"gnn\"\n[network]\nk = 8\n").unwrap();
    let sentence = refused(here, "train --config my.toml --model png --out run");
    assert!(sentence.starts_with("error: there is no model 'png'"), "{sentence}");
    let sentence = refused(here, "train --config my.toml --latents 7 --out run");
    assert!(sentence.contains("k is 7") && !sentence.contains("my.toml"), "{sentence}");
    // In a run's own config too.
    stdout(here, &format!("train --epochs 1 --out run {SMALL}"));
    let config = fs::read_to_string(here.join("run/config.toml")).unwrap();
    fs::write(here.join("run/config.toml"), config.replace("epochs = 1", "epochs = true")).unwrap();
    let sentence = refused(here, "eval run");
    assert!(
        sentence.contains("run/config.toml: line ") && sentence.contains("epochs: "),
        "{sentence}"
    );
}

#[test]
fn the_server_says_what_it_shows_and_what_is_wrong_once() {
    use std::io::{BufRead, BufReader};
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --epochs 1 --out runs/a {SMALL}"));
    let mut server = start(here, "serve --port 0");
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let address = lines.next().unwrap().unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "Showing runs (1 run).");
    let port =
        address.split([':', '/']).filter_map(|part| part.parse::<u16>().ok()).next_back().unwrap();
    let sentence = refused(here, &format!("serve --port {port}"));
    assert_eq!(sentence.matches("in use").count(), 1, "{sentence}");
    server.kill().unwrap();
    server.wait().unwrap();
    let sentence = refused(here, "serve nowhere");
    assert_eq!(sentence.matches("No such file").count(), 1, "{sentence}");
}

#[test]
fn help_is_short_where_flags_are_those_of_another_command() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let help = stdout(here, "reproduce --help");
    assert!(help.contains("[default: 1000, or 5000 with --full]"), "{help}");
    assert!(!help.contains("--learning-rate <"), "{help}");
    assert!(stdout(here, "train --help").contains("--learning-rate <"));
    // Hidden, but there.
    let grid = format!("reproduce --models gnn --epochs 1 --learning-rate 0.01 {SMALL}");
    stdout(here, &format!("{grid} --out grid"));
}

#[test]
fn shells_know_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(here, &format!("completions {shell}"));
        assert!(script.contains("certify") && script.contains("learning-rate"), "{shell}");
    }
}
