//! `pgn sweep` from the outside, and what happens to its runs when processes are stopped.
#![cfg(unix)]

mod common;

use std::{
    fs,
    path::Path,
    process::{Child, Command},
};

use common::{assert_same_outcome, pgn, refused, start, stdout, wait_until};

const SWEEP: &str = r#"
epochs = 4
[data]
sequences = 6
validation_sequences = 4
nodes = [8]
[test]
nodes = [8, 12]
sequences = 3
[sweep]
task = ["dsu"]
model = ["gnn", "pgn-ptrs"]
seed = "0-1"
clip = [1.0, 5.0]
[[exclude]]
model = "gnn"
clip = 5.0
"#;

const TWO: &str = "[data]\nsequences = 2\nvalidation_sequences = 1\nnodes = [5]\n[test]\n\
                   nodes = [5]\nsequences = 1\n[sweep]\ntask = ['dsu']\nmodel = ['gnn', \
                   'deepsets']\n";

/// Runs of other settings are neither tabulated as the sweep's nor submitted to fail.
#[test]
fn runs_of_other_settings_are_not_the_sweeps() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for epochs in [1, 2] {
        fs::write(here.join(format!("{epochs}.toml")), format!("epochs = {epochs}\n{TWO}"))
            .unwrap();
    }
    stdout(here, "sweep 1.toml --out runs --only 0");
    stdout(here, "sweep 2.toml --out runs --only 1");
    let tables = stdout(here, "sweep 2.toml --out runs --tables");
    assert!(tables.contains("Generated from 1 of 2 runs"), "{tables}");
    assert!(tables.contains("settings are not the sweep's: 1 of"), "{tables}");
    assert!(tables.contains("`deepsets`") && !tables.contains("`gnn`"), "{tables}");
    let refused_by =
        |sweep: &str| refused(here, &format!("cluster slurm --sweep {sweep}.toml --out runs"));
    assert!(refused_by("2").contains("gnn/seed-0 holds a run with other settings than dsu gnn"));
    assert!(!here.join("runs/slurm").exists());
    // One that is not finished is another run just as well.
    fs::remove_file(here.join("runs/dsu/gnn/seed-0/results.json")).unwrap();
    assert!(refused_by("2").contains("gnn/seed-0 holds a run with other settings than dsu gnn"));
}

fn signal(name: &str, child: &Child) {
    let kill = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

fn epoch(run: &Path) -> u64 {
    pgn_lab::Checkpoint::epoch_of(&run.join("checkpoint.safetensors")).unwrap_or(0)
}

#[test]
fn a_small_sweep_end_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("sweep.toml"), SWEEP).unwrap();
    let command = "sweep sweep.toml --out runs";
    let list = stdout(here, &format!("{command} --list --json"));
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 10);
    assert_eq!(list[2]["directory"], "runs/dsu/pgn-ptrs/clip=1.0/seed-0");
    assert_eq!((&list[2]["depends_on"], &list[2]["variant"]), (&1.into(), &"clip=1.0".into()));

    // Tables of a part of it, then of all.
    stdout(here, &format!("{command} --only 0"));
    let part = stdout(here, &format!("{command} --tables"));
    assert!(part.contains("Generated from 1 of 10 runs"), "{part}");
    let tables = stdout(here, command);
    assert!(tables.contains("Generated from 10 of 10 runs"), "{tables}");
    assert_eq!(tables, fs::read_to_string(here.join("runs/tables.md")).unwrap());
    assert!(tables.contains("| `pgn-ptrs` clip=5.0 | 2 |"), "{tables}");

    // A run of the sweep is what `pgn train` makes of the same settings.
    stdout(
        here,
        "train --task dsu --model pgn --seed 1 --clip 5 --epochs 4 --sequences 6 \
         --validation-sequences 4 --nodes 8 --test-nodes 8,12 --test-sequences 3 --out one",
    );
    assert_same_outcome(&here.join("one"), &here.join("runs/dsu/pgn/clip=5.0/seed-1"));

    fs::write(here.join("wrong.toml"), "epochs = 1\n[sweep]\ntask = 'dsu'\n").unwrap();
    let sentence = refused(here, "sweep wrong.toml --out x");
    assert_eq!(sentence, "error: wrong.toml: sweep.task is \"dsu\"; expected a list of values");
}

/// Slurm sends SIGUSR1 before a time limit, and SIGTERM at it.
#[test]
fn sigterm_and_sigusr1_leave_a_checkpoint_like_ctrl_c() {
    for name in ["-TERM", "-USR1", "-INT"] {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let sweep = SWEEP.replace("epochs = 4", "epochs = 100000000\npatience = 0");
        fs::write(here.join("sweep.toml"), sweep).unwrap();
        let child = start(here, "sweep sweep.toml --out runs --only 0 --checkpoint-every 0");
        let run = here.join("runs/dsu/gnn/clip=1.0/seed-0");
        wait_until("the first checkpoint", || epoch(&run) > 0);
        signal(name, &child);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{name}");
        let metrics = pgn_lab::metrics::read_metrics(&run.join("metrics.jsonl")).unwrap();
        assert_eq!(metrics.last().unwrap().epoch, epoch(&run), "{name}");
        assert!(!run.join(".lease").exists(), "{name}");
        let listed = stdout(here, "sweep sweep.toml --out runs --array --state stopped");
        assert_eq!(listed, "0\n", "{name}");
    }
}

/// A process does not wait for a run that another one trains: it sees its next heartbeat and ends.
#[test]
fn a_run_that_is_being_trained_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let sweep = SWEEP.replace("epochs = 4", "epochs = 100000000\npatience = 0");
    fs::write(here.join("sweep.toml"), sweep).unwrap();
    let begin = || {
        Command::new(assert_cmd::cargo::cargo_bin("pgn"))
            .current_dir(here)
            .args("sweep sweep.toml --out runs --only 0 --checkpoint-every 0".split(' '))
            .env("PGN_LEASE_SECONDS", "10")
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    };
    let first = begin();
    wait_until("the first checkpoint", || epoch(&here.join("runs/dsu/gnn/clip=1.0/seed-0")) > 0);
    let second = begin().wait_with_output().unwrap();
    assert_eq!(second.status.code(), Some(75), "{}", String::from_utf8_lossy(&second.stderr));
    signal("-INT", &first);
    assert_eq!(first.wait_with_output().unwrap().status.code(), Some(130));
}

/// One of two processes is stopped past its lease and then continued: the other takes its run
/// over, no epoch of the two is mixed, and the outcome is that of a plain run.
#[test]
fn a_process_stopped_past_its_lease_loses_its_run_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let sweep = SWEEP.replace("epochs = 4", "epochs = 800\npatience = 0");
    fs::write(here.join("sweep.toml"), sweep).unwrap();
    let plain = "sweep sweep.toml --out plain --only 0";
    stdout(here, plain);

    let command = "sweep sweep.toml --out runs --only 0 --checkpoint-every 0 --threads 1";
    let program = assert_cmd::cargo::cargo_bin("pgn");
    let begin = || {
        Command::new(&program)
            .current_dir(here)
            .args(command.split_whitespace())
            .env("PGN_LEASE_SECONDS", "1")
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    };
    let run = here.join("runs/dsu/gnn/clip=1.0/seed-0");
    let first = begin();
    wait_until("the first checkpoint", || epoch(&run) > 10);
    signal("-STOP", &first);
    let stopped = epoch(&run);
    let mut second = begin();
    wait_until("the takeover", || {
        epoch(&run) > stopped + 50 || second.try_wait().unwrap().is_some()
    });
    signal("-CONT", &first);
    let first = first.wait_with_output().unwrap();
    let second = second.wait_with_output().unwrap();
    // The first sees the run in the hands of the second, which is at it, or finished.
    let stderr = String::from_utf8_lossy(&first.stderr);
    assert!(matches!(first.status.code(), Some(75 | 0)), "{stderr}");
    assert!(second.status.success(), "{}", String::from_utf8_lossy(&second.stderr));
    assert_same_outcome(&here.join("plain/dsu/gnn/clip=1.0/seed-0"), &run);
    assert!(!common::names(&run).iter().any(|name| name.starts_with(".lease")));
}

#[test]
fn threads_default_to_what_slurm_allots() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("sweep.toml"), SWEEP).unwrap();
    for (allotted, out) in [("3", "three"), ("1", "one")] {
        let command = format!("sweep sweep.toml --out {out} --only 0");
        pgn(here, &command).env("SLURM_CPUS_PER_TASK", allotted).assert().success();
        let run = here.join(out).join("dsu/gnn/clip=1.0/seed-0");
        let results = pgn_lab::Results::load(&run).unwrap();
        assert_eq!(results.timing.threads.to_string(), allotted);
    }
}
