//! A run directory that is removed while a process trains in it, and used again.

use std::{fs, path::Path, sync::atomic::AtomicBool, time::Duration};

use pgn_lab::{Error, Outcome, Progress, RunConfig, Session, train};

fn config(model: &str) -> RunConfig {
    let mut settings = toml::toml! {
        task = "dsu"
        epochs = 5
        data = { sequences = 4, validation_sequences = 2 }
        test = { nodes = [20], sequences = 2 }
    };
    settings.insert("model".into(), model.into());
    RunConfig::resolve(settings).unwrap()
}

fn run(
    model: &str,
    dir: &Path,
    observe: &mut (dyn FnMut(&Progress) + Send),
) -> Result<Outcome, Error> {
    let stop = AtomicBool::new(false);
    // A checkpoint after every epoch, for as many chances to overwrite something as there are.
    let session = Session {
        task: None,
        initial: None,
        checkpoint_every: Duration::ZERO,
        stop: &stop,
        observe,
    };
    train(&config(model), dir, session)
}

fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn a_process_whose_directory_was_removed_stops_and_makes_no_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let outcome = run("pgn", &path, &mut |progress| {
        if progress.epoch == 2 {
            fs::remove_dir_all(&path).unwrap();
        }
    });
    assert!(matches!(outcome, Err(Error::Runs(pgn_runs::Error::Lost { .. }))), "{outcome:?}");
    assert!(!path.exists());
}

#[test]
fn the_next_run_in_the_directory_is_left_alone() {
    for moment in 0..5 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run");
        let mut second = Vec::new();
        let first = run("pgn", &path, &mut |progress| {
            if progress.epoch == moment {
                fs::remove_dir_all(&path).unwrap();
                run("gnn", &path, &mut |_| {}).unwrap();
                second = contents(&path);
            }
        });
        assert!(
            matches!(first, Err(Error::Runs(pgn_runs::Error::Lost { .. }))),
            "{moment}: {first:?}"
        );
        assert!(contents(&path) == second, "after epoch {moment}");
    }
}
