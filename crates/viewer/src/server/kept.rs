//! Machines that were loaded before: each is loaded and compiled once, for as long as its files stay
//! as they are.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use pgn_lab::machine::MachineRun;
use pgn_runs::files;

use crate::subject::Loaded;

/// Machines that are kept.
const KEPT: usize = 32;

/// What tells that a file has been written again: its length, and when it was changed.
type Stamp = [Option<(u64, SystemTime)>; 3];

/// The machines of the folder being served, the one used last at the end.
#[derive(Default)]
pub struct Machines {
    kept: Mutex<Vec<(PathBuf, Stamp, Arc<Loaded>)>>,
}

impl Machines {
    /// The machine in a directory, loaded again if its files have changed.
    pub fn load(&self, dir: &Path) -> pgn_lab::Result<Arc<Loaded>> {
        let stamp = stamp(dir);
        if let Some(known) = self.take(dir, &stamp) {
            return Ok(known);
        }
        // Nobody else waits while it is loaded.
        let loaded = Arc::new(Loaded::from(MachineRun::load(dir)?));
        self.keep(dir, stamp, loaded.clone());
        Ok(loaded)
    }

    fn take(&self, dir: &Path, stamp: &Stamp) -> Option<Arc<Loaded>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let index = kept.iter().position(|(path, old, _)| path == dir && old == stamp)?;
        let found = kept.remove(index);
        let loaded = found.2.clone();
        kept.push(found);
        Some(loaded)
    }

    fn keep(&self, dir: &Path, stamp: Stamp, loaded: Arc<Loaded>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(path, ..)| path != dir);
        kept.push((dir.to_owned(), stamp, loaded));
        let extra = kept.len().saturating_sub(KEPT);
        kept.drain(..extra);
    }
}

fn stamp(dir: &Path) -> Stamp {
    [files::CONFIG, files::MODEL, "certificate.json"].map(|name| {
        let metadata = dir.join(name).metadata().ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_loaded_and_compiled_once_until_its_files_change() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            for (file, bytes) in MachineRun::built_in_files(name).unwrap() {
                std::fs::write(dir.path().join(file), bytes).unwrap();
            }
        };
        write("dsu");
        let machines = Machines::default();
        let first = machines.load(dir.path()).unwrap();
        assert!(first.executor().is_ok());
        let second = machines.load(dir.path()).unwrap();
        assert!(Arc::ptr_eq(&first, &second));
        write("forest");
        let third = machines.load(dir.path()).unwrap();
        assert_eq!(third.run.config().task, "forest");
        assert_eq!(machines.kept.lock().unwrap().len(), 1);
    }

    #[test]
    fn no_more_are_kept_than_there_is_room_for() {
        let machines = Machines::default();
        let loaded = Arc::new(Loaded::from(MachineRun::built_in("forest").unwrap()));
        for index in 0..2 * KEPT {
            machines.keep(Path::new(&index.to_string()), [None; 3], loaded.clone());
        }
        let kept = machines.kept.lock().unwrap();
        assert_eq!(kept.len(), KEPT);
        assert_eq!(kept[0].0, PathBuf::from(KEPT.to_string()));
    }
}
