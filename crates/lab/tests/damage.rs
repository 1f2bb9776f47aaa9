//! A flipped bit in any file of a run is noticed, and the file named.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use pgn_lab::{
    AnyConfig, Error, MachineConfig, Outcome, Results, Run, RunConfig, Session,
    machine::MachineRun, train,
};
use toml::Table;

fn config(settings: Table) -> RunConfig {
    let mut all = toml::toml! {
        task = "dsu"
        epochs = 3
        data = { sequences = 4, validation_sequences = 2 }
        test = { nodes = [20], sequences = 2 }
    };
    pgn_runs::settings::overlay(&mut all, settings);
    RunConfig::resolve(all).unwrap()
}

fn run(config: &RunConfig, dir: &Path) -> Result<Outcome, Error> {
    run_any(&AnyConfig::Model(config.clone()), dir)
}

fn run_any(config: &AnyConfig, dir: &Path) -> Result<Outcome, Error> {
    let mut notes = Vec::new();
    let session = Session {
        task: None,
        initial: None,
        checkpoint_every: Duration::ZERO,
        stop: &AtomicBool::new(false),
        observe: &mut |progress| notes.extend(progress.notes.clone()),
    };
    let outcome = config.train(dir, session)?;
    // Noticed too: what can be mended is, with a warning.
    match notes.pop() {
        Some(note) => Err(pgn_runs::Error::request(note).into()),
        None => Ok(outcome),
    }
}

/// All files in a folder and those below it, the lock and leases aside.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if !path.file_name().unwrap().to_str().unwrap().starts_with('.') {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Flips bits all over each file of a run in turn, and asks for an error that names it.
fn every_flip_is_named(dir: &Path, check: impl Fn() -> Result<(), Error>) {
    check().unwrap();
    for path in files(dir) {
        let whole = fs::read(&path).unwrap();
        let bits = whole.len() * 8;
        let stride = (bits / 60).max(1) | 1;
        for bit in (0..bits).step_by(stride).chain([bits - 1]) {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &bytes).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap();
            match check() {
                // A damaged config is that of another run, which is said of the directory.
                Err(error) if name == "config.toml" => {
                    assert!(!error.to_string().contains('\n'), "{error}");
                }
                Err(error) => assert!(error.to_string().contains(name), "{name}: {error}"),
                Ok(()) => panic!("bit {bit} of {name} was flipped, and nobody noticed"),
            }
        }
        fs::write(&path, &whole).unwrap();
    }
    check().unwrap();
}

#[test]
fn a_flipped_bit_in_any_file_of_a_run_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let teacher = folder.path().join("teacher-run");
    run(&config(toml::toml! { model = "pgn" }), &teacher).unwrap();
    let mut settings = toml::toml! { model = "pgn-ptrs" };
    let data = toml::Table::from_iter([("teacher".into(), teacher.display().to_string().into())]);
    settings.insert("data".into(), data.into());
    let (config, dir) = (config(settings), folder.path().join("student"));
    run(&config, &dir).unwrap();
    assert!(dir.join("teacher/model.safetensors").is_file());
    every_flip_is_named(&dir, || run(&config, &dir).map(drop));
}

#[test]
fn a_model_that_is_scored_is_the_one_that_was_trained() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    run(&config(toml::toml! { model = "pgn" }), &dir).unwrap();
    let path = dir.join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 4;
    bytes[last] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let error = Run::load(&dir).unwrap_err().to_string();
    assert!(error.contains("model.safetensors: it is damaged or of another run"), "{error}");
    // Results of versions that noted no checksums say nothing about it.
    let mut results = Results::load(&dir).unwrap();
    results.files.clear();
    fs::write(dir.join("results.json"), serde_json::to_string_pretty(&results).unwrap()).unwrap();
    Run::load(&dir).unwrap();
}

#[test]
fn models_are_kept_along_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, short) = (folder.path().join("run"), folder.path().join("short"));
    run(&config(toml::toml! { model = "pgn" epochs = 5 keep_every = 2 }), &dir).unwrap();
    assert_eq!(pgn_runs::files::kept(&dir), [0, 2, 4]);
    // Each is what training for so many epochs would have ended with.
    let same = config(toml::toml! { model = "pgn" epochs = 4 evaluate_every = 4 });
    run(&same, &short).unwrap();
    let kept = fs::read(dir.join("kept/4.safetensors")).unwrap();
    assert_eq!(kept, fs::read(short.join("model.safetensors")).unwrap());
    assert!(!fs::read_to_string(short.join("config.toml")).unwrap().contains("keep_every"));
    let load = |epoch| Run::load_at(&dir, Some(epoch), |_| Ok(None));
    assert_eq!(
        load(4).unwrap().model().parameters(),
        Run::load(&short).unwrap().model().parameters()
    );
    assert!(load(3).unwrap_err().to_string().contains("kept/3.safetensors"));
    fs::write(dir.join("kept/2.safetensors"), kept).unwrap();
    assert!(load(2).unwrap_err().to_string().contains("kept/2.safetensors: it is damaged"));
}

#[test]
fn a_students_teacher_must_be_the_one_that_its_config_names() {
    let folder = tempfile::tempdir().unwrap();
    let teacher = folder.path().join("teacher-run");
    run(&config(toml::toml! { model = "pgn" }), &teacher).unwrap();
    let mut settings = toml::toml! { model = "pgn-ptrs" };
    let data = toml::Table::from_iter([("teacher".into(), teacher.display().to_string().into())]);
    settings.insert("data".into(), data.into());
    let config = config(settings);
    // Changed after the config was made.
    let path = teacher.join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 4;
    bytes[last] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let error = run(&config, &folder.path().join("student")).unwrap_err().to_string();
    assert!(error.contains("teacher-run/model.safetensors"), "{error}");
    assert!(error.contains("teacher_crc32c"), "{error}");
}

#[test]
fn results_of_another_config_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
    let of_one = config(toml::toml! { model = "pgn" });
    run(&of_one, &one).unwrap();
    run(&config(toml::toml! { model = "gnn" }), &other).unwrap();
    fs::copy(other.join("results.json"), one.join("results.json")).unwrap();
    let error = run(&of_one, &one).unwrap_err().to_string();
    assert!(error.contains("config.toml: it is damaged or of another run"), "{error}");
    assert!(Results::load(&one).is_err());
}

#[test]
fn a_flipped_bit_in_any_file_of_a_machine_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("machine");
    let config = MachineConfig::resolve(toml::toml! {
        model = "pgn-machine"
        task = "dsu"
        epochs = 2
        data = { sequences = 2, nodes = [6], ops = [6] }
        test = { nodes = [8], sequences = 1 }
    })
    .unwrap();
    let config = AnyConfig::Machine(config);
    let again = || run_any(&config, &dir);
    assert!(matches!(again().unwrap(), Outcome::Finished(_)));
    MachineRun::load(&dir).unwrap().certify_in(&dir).unwrap();
    every_flip_is_named(&dir, || {
        again()?;
        MachineRun::load(&dir)?.proof_in(&dir).map(drop)
    });
}

#[test]
fn a_resume_with_damaged_metrics_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let config = config(toml::toml! { model = "pgn" });
    let stop = AtomicBool::new(false);
    let session = Session {
        task: None,
        initial: None,
        checkpoint_every: Duration::ZERO,
        stop: &stop,
        observe: &mut |progress| stop.store(progress.epoch == 2, Ordering::Relaxed),
    };
    assert_eq!(train(&config, &dir, session).unwrap(), Outcome::Stopped { epoch: 2 });

    let metrics = fs::read_to_string(dir.join("metrics.jsonl")).unwrap();
    let (_, second) = metrics.split_once('\n').unwrap();
    fs::write(dir.join("metrics.jsonl"), format!("{{\n{second}")).unwrap();

    let mut notes = Vec::new();
    let session = Session {
        task: None,
        initial: None,
        checkpoint_every: Duration::ZERO,
        stop: &AtomicBool::new(false),
        observe: &mut |progress| notes.extend(progress.notes.clone()),
    };
    assert!(matches!(train(&config, &dir, session).unwrap(), Outcome::Finished(_)));
    let gap = "metrics.jsonl is damaged in line 1: 1 of the epochs up to 2 have no line in it";
    assert_eq!(notes, [gap]);
    let epochs: Vec<u64> = pgn_lab::metrics::read_metrics(&dir.join("metrics.jsonl"))
        .unwrap()
        .iter()
        .map(|line| line.epoch)
        .collect();
    assert_eq!(epochs, [2, 3]);
}

#[test]
fn a_flipped_bit_in_the_metrics_or_events_of_an_unfinished_run_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let config = config(toml::toml! { model = "pgn" });
    let session = |stop_at: u64| {
        let (stop, mut notes) = (AtomicBool::new(false), Vec::new());
        let session = Session {
            task: None,
            initial: None,
            checkpoint_every: Duration::ZERO,
            stop: &stop,
            observe: &mut |progress| {
                notes.extend(progress.notes.clone());
                stop.store(progress.epoch == stop_at, Ordering::Relaxed);
            },
        };
        let outcome = train(&config, &dir, session).unwrap();
        assert_eq!(outcome, Outcome::Stopped { epoch: stop_at });
        notes
    };
    assert!(session(2).is_empty());
    assert!(session(2).is_empty());
    // A digit that becomes another digit: still a number, but not the one that was measured.
    let path = dir.join("metrics.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let digit = whole.find("\"f1\":0.").unwrap() + "\"f1\":0.".len();
    let mut bytes = whole.clone().into_bytes();
    bytes[digit] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(session(2), ["metrics.jsonl is damaged: it is not what it was at epoch 2"]);
    fs::write(&path, &whole).unwrap();
    session(2);

    let path = dir.join("events.out.tfevents.pgn");
    let mut bytes = fs::read(&path).unwrap();
    let events = pgn_lab::metrics::read_events(&path).unwrap().len();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let notes = session(2);
    assert!(notes[0].starts_with("events.out.tfevents.pgn is damaged or gone"), "{notes:?}");
    assert_eq!(pgn_lab::metrics::read_events(&path).unwrap().len(), events);
    assert!(session(2).is_empty());
}
