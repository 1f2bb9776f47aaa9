//! Tests of the lease: what happens when a holder dies, stalls, or loses its directory.

use super::{claim::LOCK_MARK, *};

/// Longer than any test takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(24 * 3600);

/// Makes the holder's last heartbeat longer ago than its lease lasts.
fn silence(run: &Path) {
    for entry in fs::read_dir(run.join(LEASE)).unwrap() {
        let heartbeat = File::open(entry.unwrap().path().join(HEARTBEAT)).unwrap();
        heartbeat.set_modified(SystemTime::now() - 2 * LONG).unwrap();
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn put(lease: &Lease, name: &str, text: &str) -> Result<()> {
    lease.place(name, |path| fs::write(path, text).map_err(Error::io("write", path)))
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn a_kill_while_the_lease_is_given_back_delays_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path();
    let lease = Lease::take(run, LEASE_TIME).unwrap();
    // Giving back is one rename: after it there is an empty folder, and the lease elsewhere.
    let given_back = run.join(".expired-somebody");
    fs::rename(&lease.shared.folder, &given_back).unwrap();
    drop(lease);
    assert!(given_back.join(HEARTBEAT).exists());
    assert!(run.join(LEASE).is_dir() && names(&run.join(LEASE)).is_empty());
    assert!(!Lease::is_held(run));
    Lease::take(run, LEASE_TIME).unwrap();
}

#[test]
fn one_holder_at_a_time_and_nothing_left_behind() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("deep/run");
    let lease = Lease::take(&run, LEASE_TIME).unwrap();
    assert!(Lease::is_held(&run));
    let refused = Lease::take(&run, LEASE_TIME).unwrap_err();
    assert!(matches!(&refused, Error::Locked { .. }));
    assert!(Lease::holder(&run).unwrap().flock);
    assert!(!refused.to_string().contains('\n'));
    put(&lease, "a", "1").unwrap();
    put(&lease, "a", "2").unwrap();
    assert_eq!(read(&run, "a"), "2");
    drop(lease);
    assert!(!Lease::is_held(&run));
    assert_eq!(names(&run), [".lock", "a"]);
    Lease::take(&run, LEASE_TIME).unwrap();
}

#[test]
fn a_heartbeat_keeps_a_lease_beyond_its_time() {
    let dir = tempfile::tempdir().unwrap();
    let lease = Lease::take(dir.path(), LONG).unwrap();
    silence(dir.path());
    lease.shared.beat();
    assert!(matches!(Lease::take(dir.path(), LONG), Err(Error::Locked { .. })));
    lease.check().unwrap();
}

#[test]
fn the_heart_beats_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let lease = Lease::take(dir.path(), Duration::from_millis(30)).unwrap();
    while lease.shared.beats.load(Ordering::Relaxed) < 3 {
        std::thread::sleep(Duration::from_millis(1));
    }
    lease.check().unwrap();
}

#[test]
fn a_silent_holder_is_succeeded_after_its_time_and_can_write_no_more() {
    for flock in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let old = Lease::take_still(dir.path(), LONG, flock).unwrap();
        put(&old, "a", "old").unwrap();
        assert!(matches!(Lease::take(dir.path(), LONG), Err(Error::Locked { .. })));
        silence(dir.path());
        // Its file lock is still held, as that of a stopped process is.
        let new = Lease::take(dir.path(), LONG).unwrap();
        assert!(matches!(put(&old, "a", "late"), Err(Error::Lost { .. })));
        assert!(matches!(old.check(), Err(Error::Lost { .. })));
        assert_eq!(read(dir.path(), "a"), "old");
        put(&new, "a", "new").unwrap();
        // The old holder goes without a trace and leaves the new one alone.
        drop(old);
        assert_eq!(read(dir.path(), "a"), "new");
        new.check().unwrap();
        assert!(matches!(Lease::take(dir.path(), LONG), Err(Error::Locked { .. })));
        drop(new);
        assert_eq!(names(dir.path()), [".lock", "a"]);
    }
}

#[test]
fn a_holder_stopped_in_the_middle_of_a_write_overwrites_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let old = Lease::take_still(dir.path(), LONG, false).unwrap();
    let mut new = None;
    let placed: Result<()> = old.place("a", |path| {
        fs::write(path, "old").map_err(Error::io("write", path))?;
        silence(dir.path());
        let lease = Lease::take_still(dir.path(), LONG, false)?;
        put(&lease, "a", "new")?;
        new = Some(lease);
        Ok(())
    });
    assert!(matches!(placed, Err(Error::Lost { .. })));
    assert_eq!(read(dir.path(), "a"), "new");
}

#[test]
fn a_directory_that_was_removed_and_made_anew_is_not_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let old = Lease::take(&run, LEASE_TIME).unwrap();
    put(&old, "a", "old").unwrap();
    fs::remove_dir_all(&run).unwrap();
    assert!(matches!(put(&old, "a", "late"), Err(Error::Lost { .. })));
    assert!(!run.exists());
    let new = Lease::take(&run, LEASE_TIME).unwrap();
    assert!(matches!(put(&old, "a", "late"), Err(Error::Lost { .. })));
    drop(old);
    new.check().unwrap();
    assert_eq!(names(&run), [".lease", ".lock"]);
}

/// A lease as a process leaves it that was killed.
fn abandoned(run: &Path, machine: &str, flock: bool) {
    let folder = run.join(LEASE).join("host-1-abc");
    fs::create_dir_all(&folder).unwrap();
    fs::write(run.join(LOCK), LOCK_MARK).unwrap();
    let record = Record { machine: machine.to_owned(), seconds: LONG.as_secs_f64(), flock };
    fs::write(folder.join(HEARTBEAT), record.text(3)).unwrap();
    fs::write(folder.join("checkpoint.safetensors"), "half").unwrap();
}

#[test]
fn a_process_that_died_on_this_machine_is_succeeded_at_once() {
    let dir = tempfile::tempdir().unwrap();
    abandoned(dir.path(), machine(), true);
    assert!(!Lease::is_held(dir.path()));
    let lease = Lease::take(dir.path(), LEASE_TIME).unwrap();
    assert_eq!(names(&dir.path().join(LEASE)).len(), 1);
    drop(lease);
    assert_eq!(names(dir.path()), [".lock"]);
}

#[test]
fn nobody_else_is_succeeded_before_the_time() {
    for (machine, flock) in [(machine(), false), ("another", true)] {
        let dir = tempfile::tempdir().unwrap();
        abandoned(dir.path(), machine, flock);
        assert!(Lease::is_held(dir.path()));
        assert!(matches!(Lease::take(dir.path(), LONG), Err(Error::Locked { .. })));
        assert!(dir.path().join(".lease/host-1-abc/checkpoint.safetensors").exists());
    }
}

#[test]
fn a_lock_without_a_lease_is_respected() {
    let dir = tempfile::tempdir().unwrap();
    let lock = File::create(dir.path().join(LOCK)).unwrap();
    lock.lock().unwrap();
    assert!(matches!(Lease::take(dir.path(), LONG), Err(Error::Locked { .. })));
    assert!(Lease::holder(dir.path()).is_none());
    assert!(Lease::is_held(dir.path()));
    drop(lock);
    Lease::take(dir.path(), LONG).unwrap();
}

#[test]
fn a_lock_that_outlives_its_lease_holds_nobody_up() {
    let dir = tempfile::tempdir().unwrap();
    // Stopped, with the lock still held; its successor is done and gone.
    let stopped = Lease::take_still(dir.path(), Duration::ZERO, true).unwrap();
    drop(Lease::take(dir.path(), LONG).unwrap());
    Lease::take(dir.path(), LONG).unwrap();
    drop(stopped);
}

#[test]
fn of_many_successors_one_succeeds() {
    for round in 0..40 {
        let dir = tempfile::tempdir().unwrap();
        // Every other time there is nothing to succeed.
        if round % 2 == 0 {
            let old = Lease::take_still(dir.path(), Duration::ZERO, false).unwrap();
            std::mem::forget(old);
        }
        let start = std::sync::Barrier::new(8);
        let winners: Vec<Option<Lease>> = std::thread::scope(|scope| {
            let claim = || {
                start.wait();
                match Lease::take_still(dir.path(), LEASE_TIME, false) {
                    Ok(lease) => Some(lease),
                    Err(Error::Locked { .. }) => None,
                    Err(error) => panic!("{error}"),
                }
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(claim)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        // A successor that was late may have displaced another for a moment, which then knows.
        let holding = winners.iter().flatten().filter(|lease| put(lease, "a", "x").is_ok());
        assert!(holding.count() <= 1, "round {round}");
        let name = |lease: &Lease| lease.shared.folder.file_name().unwrap().to_owned();
        if let Some(holder) = Lease::holder(dir.path()) {
            assert!(winners.iter().flatten().any(|lease| name(lease) == *holder.name));
        }
    }
}

#[test]
fn leftovers_of_killed_processes_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(".model.safetensors.1-0.tmp"), "half").unwrap();
    let old = dir.path().join(".claim-host-1-abc");
    fs::create_dir(&old).unwrap();
    let long_ago = SystemTime::now() - 2 * LEASE_TIME;
    File::open(&old).unwrap().set_modified(long_ago).unwrap();
    fs::create_dir(dir.path().join(".claim-host-2-abc")).unwrap();
    let lease = Lease::take(dir.path(), LEASE_TIME).unwrap();
    assert_eq!(names(dir.path()), [".claim-host-2-abc", ".lease", ".lock"]);
    drop(lease);
}

#[test]
fn nobody_elses_hidden_files_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    for name in [".draft.tmp", ".notes.1-0.tmp", ".model.safetensors.old.tmp"] {
        fs::write(dir.path().join(name), "mine").unwrap();
    }
    // Another command is writing it at this moment.
    let busy = dir.path().join(".certificate.json.1-0.tmp");
    let file = File::create(&busy).unwrap();
    file.lock().unwrap();
    for name in [".claim-mine", ".expired-mine"] {
        fs::create_dir(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(name).join("notes"), "mine").unwrap();
        let folder = File::open(dir.path().join(name)).unwrap();
        folder.set_modified(SystemTime::now() - 2 * LEASE_TIME).unwrap();
    }
    let before = names(dir.path());
    drop(Lease::take(dir.path(), LEASE_TIME).unwrap());
    let after = names(dir.path());
    assert_eq!(
        after.iter().filter(|name| *name != LOCK).collect::<Vec<_>>(),
        Vec::from_iter(&before)
    );
    assert!(dir.path().join(".claim-mine/notes").exists());
}

#[test]
fn a_stray_file_in_the_lease_blocks_nobody() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(LEASE)).unwrap();
    fs::write(dir.path().join(LEASE).join(".DS_Store"), "stray").unwrap();
    let lease = Lease::take(dir.path(), LONG).unwrap();
    fs::write(dir.path().join(LEASE).join("stray"), "stray").unwrap();
    assert!(matches!(Lease::take(dir.path(), LONG), Err(Error::Locked { .. })));
    drop(lease);
    Lease::take(dir.path(), LONG).unwrap();
}

/// Dates the holder's heartbeat in the future.
fn ahead(run: &Path, seconds: f64) {
    let folder = run.join(LEASE).join("host-1-abc");
    let record = Record { machine: "another".into(), seconds, flock: true };
    fs::write(folder.join(HEARTBEAT), record.text(4)).unwrap();
    let heartbeat = File::open(folder.join(HEARTBEAT)).unwrap();
    heartbeat.set_modified(SystemTime::now() + LONG).unwrap();
}

#[test]
fn a_heartbeat_from_the_future_blocks_nobody_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    abandoned(dir.path(), "another", true);
    ahead(dir.path(), 0.05);
    assert!(!Lease::is_held(dir.path()));
    Lease::take(dir.path(), LONG).unwrap();
}

#[test]
fn a_heartbeat_from_the_future_that_moves_is_respected() {
    let dir = tempfile::tempdir().unwrap();
    abandoned(dir.path(), "another", true);
    // Long enough that only a new heartbeat ends the waiting.
    ahead(dir.path(), 2000.0);
    let run = dir.path().to_owned();
    let beat = run.join(LEASE).join("host-1-abc").join(HEARTBEAT);
    let beating = std::thread::spawn(move || {
        while names(&run).iter().all(|name| !name.starts_with(CLAIM)) {
            std::thread::yield_now();
        }
        let record = Record { machine: "another".into(), seconds: LONG.as_secs_f64(), flock: true };
        fs::write(&beat, record.text(5)).unwrap();
    });
    assert!(matches!(Lease::take(dir.path(), LONG), Err(Error::Locked { .. })));
    beating.join().unwrap();
}

#[test]
fn a_heartbeat_that_says_for_ever_lasts_as_long_as_others() {
    let dir = tempfile::tempdir().unwrap();
    abandoned(dir.path(), "another", true);
    let heartbeat = dir.path().join(LEASE).join("host-1-abc").join(HEARTBEAT);
    let text = fs::read_to_string(&heartbeat).unwrap().replace("seconds 86400", "seconds 1e300");
    fs::write(heartbeat, text).unwrap();
    assert_eq!(Lease::holder(dir.path()).unwrap().time, LEASE_TIME);
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_opened() {
    use std::os::unix::fs::symlink;
    let pipe = |path: &Path| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    // A pipe in place of the lock would block, and a link would let its target be written to.
    for link in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("target");
        fs::write(&target, "precious").unwrap();
        match link {
            true => symlink(&target, dir.path().join(LOCK)).unwrap(),
            false => pipe(&dir.path().join(LOCK)),
        }
        assert!(!Lease::is_held(dir.path()));
        let refused = Lease::take(dir.path(), LONG).unwrap_err().to_string();
        assert!(refused.contains(".lock: it is not a regular file"), "{refused}");
        assert_eq!(read(dir.path(), "target"), "precious");
    }
    for endless in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        abandoned(dir.path(), "another", true);
        let heartbeat = dir.path().join(LEASE).join("host-1-abc").join(HEARTBEAT);
        fs::remove_file(&heartbeat).unwrap();
        match endless {
            true => symlink("/dev/zero", &heartbeat).unwrap(),
            false => pipe(&heartbeat),
        }
        assert!(Lease::is_held(dir.path()));
        assert!(matches!(Lease::take(dir.path(), LONG), Err(Error::Locked { .. })));
    }
    // What is put in place replaces no link.
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("target"), "precious").unwrap();
    symlink(dir.path().join("target"), dir.path().join("a")).unwrap();
    let lease = Lease::take(dir.path(), LONG).unwrap();
    assert!(put(&lease, "a", "1").unwrap_err().to_string().contains("not a regular file"));
    assert_eq!(read(dir.path(), "target"), "precious");
}
