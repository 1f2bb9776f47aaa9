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

fn put(lease: &Lease, name: &str, text: &str) -> Result<(), LeaseError> {
    lease.place(name, |path| fs::write(path, text).map_err(failed("write", path)))
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
    assert!(matches!(&refused, LeaseError::Held(_, Some(holder)) if holder.flock));
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
    assert!(matches!(Lease::take(dir.path(), LONG), Err(LeaseError::Held(..))));
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
        assert!(matches!(Lease::take(dir.path(), LONG), Err(LeaseError::Held(..))));
        silence(dir.path());
        // Its file lock is still held, as that of a stopped process is.
        let new = Lease::take(dir.path(), LONG).unwrap();
        assert!(matches!(put(&old, "a", "late"), Err(LeaseError::Lost(_))));
        assert!(matches!(old.check(), Err(LeaseError::Lost(_))));
        assert_eq!(read(dir.path(), "a"), "old");
        put(&new, "a", "new").unwrap();
        // The old holder goes without a trace and leaves the new one alone.
        drop(old);
        assert_eq!(read(dir.path(), "a"), "new");
        new.check().unwrap();
        assert!(matches!(Lease::take(dir.path(), LONG), Err(LeaseError::Held(..))));
        drop(new);
        assert_eq!(names(dir.path()), [".lock", "a"]);
    }
}

#[test]
fn a_holder_stopped_in_the_middle_of_a_write_overwrites_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let old = Lease::take_still(dir.path(), LONG, false).unwrap();
    let mut new = None;
    let placed: Result<(), LeaseError> = old.place("a", |path| {
        fs::write(path, "old").map_err(failed("write", path))?;
        silence(dir.path());
        let lease = Lease::take_still(dir.path(), LONG, false)?;
        put(&lease, "a", "new")?;
        new = Some(lease);
        Ok(())
    });
    assert!(matches!(placed, Err(LeaseError::Lost(_))));
    assert_eq!(read(dir.path(), "a"), "new");
}

#[test]
fn a_directory_that_was_removed_and_made_anew_is_not_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let old = Lease::take(&run, LEASE_TIME).unwrap();
    put(&old, "a", "old").unwrap();
    fs::remove_dir_all(&run).unwrap();
    assert!(matches!(put(&old, "a", "late"), Err(LeaseError::Lost(_))));
    assert!(!run.exists());
    let new = Lease::take(&run, LEASE_TIME).unwrap();
    assert!(matches!(put(&old, "a", "late"), Err(LeaseError::Lost(_))));
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
        assert!(matches!(Lease::take(dir.path(), LONG), Err(LeaseError::Held(..))));
        assert!(dir.path().join(".lease/host-1-abc/checkpoint.safetensors").exists());
    }
}

#[test]
fn a_lock_without_a_lease_is_respected() {
    let dir = tempfile::tempdir().unwrap();
    let lock = File::create(dir.path().join(LOCK)).unwrap();
    lock.lock().unwrap();
    assert!(matches!(Lease::take(dir.path(), LONG), Err(LeaseError::Held(_, None))));
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
                    Err(LeaseError::Held(..)) => None,
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
