//! Runs that are killed, stopped, damaged or out of disk, and go on.
#![cfg(unix)]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{SMALL, assert_same_outcome, names, one_sentence, refused, start, stdout, wait_until};

fn signal(name: &str, child: &std::process::Child) {
    let kill = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

/// Where the checkpoint says that the run is; 0 if there is none.
fn epoch(run: &Path) -> u64 {
    pgn_lab::Checkpoint::epoch_of(&run.join("checkpoint.safetensors")).unwrap_or(0)
}

/// Kills the run again and again, each time when the checkpoint has moved on and then at
/// whatever moment it is; the outcome must be that of a run that was left alone.
fn killed_and_resumed(settings: &str) {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --out whole {settings} {SMALL}"));
    let command = format!("train --out cut --checkpoint-every 0 {settings} {SMALL}");
    let run = here.join("cut");
    let mut kills = 0;
    for round in 0..6 {
        let before = epoch(&run);
        let mut child = start(here, &command);
        wait_until("the next checkpoint", || {
            epoch(&run) > before || child.try_wait().unwrap().is_some()
        });
        // Not always right after a checkpoint.
        std::thread::sleep(std::time::Duration::from_micros(700 * round * round));
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            if kills > 0 {
                break;
            }
            // On a busy machine it may be over before it is ever killed: once more, then.
            fs::remove_dir_all(&run).unwrap();
            continue;
        }
        kills += 1;
        assert!(!run.join("results.json").exists() || epoch(&run) > before);
    }
    assert!(kills > 0, "the run was over before it could be killed");
    let last = common::pgn(here, &command).output().unwrap();
    assert!(last.status.success());
    let stderr = String::from_utf8_lossy(&last.stderr);
    assert!(stderr.contains("resuming from epoch") || stderr.contains("finished"), "{stderr}");
    assert_same_outcome(&here.join("whole"), &run);
    let events = |run: &str| {
        let path = here.join(run).join("events.out.tfevents.pgn");
        pgn_lab::metrics::read_events(&path).unwrap()
    };
    assert_eq!(events("whole"), events("cut"), "but for the clock times");
    let leftovers = names(&run).into_iter().filter(|name| name.ends_with(".tmp")).count();
    assert_eq!(leftovers, 0);
}

#[test]
fn killed_at_any_moment_pgn_ends_in_the_same_bytes() {
    killed_and_resumed("--model pgn --task lct --epochs 150 --batch 4 --clip 0.5 --decay cosine");
}

/// With sampled pointers, a running accuracy and fresh sequences there is more to lose.
#[test]
fn killed_at_any_moment_dgm_ends_in_the_same_bytes() {
    killed_and_resumed("--model dgm --task dsu --epochs 150 --stream --evaluate-every 7");
}

#[test]
fn ctrl_c_leaves_a_run_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    // Far more epochs than it will ever do.
    let command =
        format!("train --out run --checkpoint-every 0 --epochs 100000000 --patience 0 {SMALL}");
    let run = here.join("run");
    let child = start(here, &command);
    wait_until("the first checkpoint", || epoch(&run) > 0);

    let sentence = refused(here, &command);
    assert!(sentence.contains("run is in use"), "{sentence}");

    signal("-INT", &child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("start the same command again"), "{stderr}");
    let stopped = epoch(&run);
    let metrics = pgn_lab::metrics::read_metrics(&run.join("metrics.jsonl")).unwrap();
    assert_eq!(metrics.last().unwrap().epoch, stopped, "every epoch so far is in the checkpoint");
    let sentence = refused(here, "eval run");
    assert!(sentence.contains("its run is not finished"), "{sentence}");

    // It goes on from there.
    let child = start(here, &command);
    wait_until("another checkpoint", || epoch(&run) > stopped);
    signal("-INT", &child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(&format!("resuming from epoch {stopped}")), "{stderr}");

    // Another config is refused, and so are damaged checkpoints, one sentence each.
    let sentence = refused(here, &format!("{command} --clip 2"));
    assert!(sentence.contains("clip is 1.0 there and 2.0 here"), "{sentence}");
    let path = run.join("checkpoint.safetensors");
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for damaged in [&flipped[..], &whole[..whole.len() / 2], &[]] {
        fs::write(&path, damaged).unwrap();
        let sentence = refused(here, &command);
        assert!(sentence.contains("checkpoint.safetensors: damaged checkpoint"), "{sentence}");
        assert!(sentence.contains("delete it to start the run over"), "{sentence}");
    }
}

/// A limit on file sizes stands in for a full disk: the checkpoint does not fit.
#[test]
fn a_full_disk_is_told_and_harms_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let settings = format!("--epochs 20 {SMALL}");
    stdout(here, &format!("train --out whole {settings}"));
    let program = assert_cmd::cargo::cargo_bin("pgn");
    let command = format!("train --out run --checkpoint-every 0 {settings}");
    // Ignoring the signal makes the write itself fail, as on a full disk.
    let script = format!("trap '' XFSZ; ulimit -f 40; exec {} {command}", program.display());
    let output = Command::new("sh").args(["-c", &script]).current_dir(here).output().unwrap();
    let sentence = one_sentence("training without room", &output);
    assert!(sentence.contains("cannot write run/checkpoint.safetensors"), "{sentence}");
    let left = names(&here.join("run"));
    assert!(!left.iter().any(|name| name.ends_with(".tmp")), "{left:?}");
    assert!(!left.contains(&"checkpoint.safetensors".to_owned()), "{left:?}");

    // With room again, the same command ends where it would have.
    stdout(here, &command);
    assert_same_outcome(&here.join("whole"), &here.join("run"));
}
