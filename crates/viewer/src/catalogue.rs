//! The runs in the folder being served, and the way from a name in a request to a directory.
//!
//! A request names a run by its id: `built-in:dsu`, or `run:` and the directory's path inside
//! the folder, with `/` between its parts (`run:.` is the folder itself). No id leads out of
//! the folder, be it by `..`, by an absolute path or by a symbolic link.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use pgn_lab::files;
use pgn_structures::Task;

use crate::{
    Error, Result,
    built_in::{self, BuiltIn},
    limits,
    loaded::Machines,
    metrics::Followed,
    refusal::{Answer, Refusal},
};

/// What can be looked at.
#[derive(Debug)]
pub struct Catalogue {
    /// Canonical, so that paths can be compared with it.
    folder: Option<PathBuf>,
    tasks: Vec<Task>,
    /// How far the runs that are not finished have come.
    pub followed: Followed,
    /// Those that were played before.
    pub machines: Machines,
}

/// Where a run's files are.
#[derive(Debug)]
pub enum Place {
    BuiltIn(&'static BuiltIn),
    /// A built-in machine, by the name of its program.
    Machine(&'static str),
    Folder(PathBuf),
}

impl Catalogue {
    /// The runs under `folder`, if there is one; `tasks` are known beside the built-in ones.
    pub fn open(folder: Option<&Path>, tasks: Vec<Task>) -> Result<Catalogue> {
        pgn_machines::programs::build_in_tasks();
        let canonical = |path: &Path| {
            let there = path.canonicalize().and_then(|path| fs::read_dir(&path).map(|_| path));
            there.map_err(|cause| Error::Folder { path: path.to_owned(), cause })
        };
        Ok(Catalogue {
            folder: folder.map(canonical).transpose()?,
            tasks,
            followed: Followed::default(),
            machines: Machines::default(),
        })
    }

    /// How many runs there are in the folder.
    pub fn count(&self) -> usize {
        self.run_ids().len()
    }

    /// The folder being served, as the page shows it.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The data structure called `name`.
    pub fn task(&self, name: &str) -> Answer<Task> {
        match self.tasks.iter().find(|task| task.name() == name) {
            Some(task) => Ok(task.clone()),
            None => Task::named(name).map_err(|error| Refusal::bad(error.to_string())),
        }
    }

    /// What every data structure is called, by name.
    pub fn titles(&self) -> BTreeMap<String, String> {
        let title = |task: &Task| (task.name().to_owned(), task.title().to_owned());
        let mut titles: BTreeMap<_, _> = Task::all().map(|task| title(&task)).collect();
        titles.extend(self.tasks.iter().map(title));
        titles
    }

    /// The ids of everything there is: built-in models, then runs by path.
    pub fn ids(&self) -> Vec<String> {
        let built_in = built_in::MODELS.iter().map(|model| format!("built-in:{}", model.name));
        let machines = built_in::MACHINES.iter().map(|name| format!("built-in:machine-{name}"));
        built_in.chain(machines).chain(self.run_ids()).collect()
    }

    /// The directories under the folder that hold a `config.toml`.
    ///
    /// Hidden and linked directories are passed over, and so are caches (which
    /// [say so](https://bford.info/cachedir/)) and the copy of a teacher inside a run.
    fn run_ids(&self) -> Vec<String> {
        let mut ids = Vec::new();
        let mut left = Vec::new();
        left.extend(self.folder.clone().map(|folder| (folder, String::new(), 0)));
        let mut looked_into = 0;
        while let Some((path, id, depth)) = left.pop() {
            looked_into += 1;
            if looked_into > limits::FOLDERS {
                break;
            }
            let is_run = path.join(files::CONFIG).is_file();
            if is_run {
                ids.push(format!("run:{}", if id.is_empty() { "." } else { &id }));
            }
            if depth == limits::DEPTH || path.join("CACHEDIR.TAG").is_file() {
                continue;
            }
            for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
                // `file_type` does not follow links.
                let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let Ok(name) = entry.file_name().into_string() else { continue };
                let skip = name.starts_with('.')
                    || name.contains(['/', '\\', ':'])
                    || name == "node_modules"
                    || is_run && name == files::TEACHER;
                if is_dir && !skip {
                    let slash = if id.is_empty() { "" } else { "/" };
                    left.push((entry.path(), format!("{id}{slash}{name}"), depth + 1));
                }
            }
        }
        ids.sort();
        ids
    }

    /// The place that an id names.
    pub fn find(&self, id: &str) -> Answer<Place> {
        let machine = |name: &str| built_in::MACHINES.into_iter().find(|known| *known == name);
        if let Some(name) = id.strip_prefix("built-in:machine-").and_then(machine) {
            return Ok(Place::Machine(name));
        }
        if let Some(name) = id.strip_prefix("built-in:") {
            return BuiltIn::named(name).map(Place::BuiltIn);
        }
        let missing = || {
            let id: String = id.chars().take(200).collect();
            Refusal::missing(format!("there is no run {id:?} in the folder being served"))
        };
        let (Some(path), Some(folder)) = (id.strip_prefix("run:"), &self.folder) else {
            return Err(missing());
        };
        let parts: Vec<&str> = if path == "." { Vec::new() } else { path.split('/').collect() };
        let plain = |part: &&str| {
            !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', ':', '\0'])
        };
        if parts.len() > limits::DEPTH || !parts.iter().all(plain) {
            return Err(missing());
        }
        let path = parts.iter().fold(folder.clone(), |path, part| path.join(part));
        let place = self.inside(&path).ok_or_else(missing)?;
        match self.inside(&place.join(files::CONFIG)) {
            Some(config) if config.is_file() => Ok(Place::Folder(place)),
            _ => Err(missing()),
        }
    }

    /// The refusal of a run with this trouble, without the place of the folder on this machine.
    pub fn damaged(&self, error: &pgn_lab::Error) -> Refusal {
        Refusal::damaged(self.shorten(&error.to_string()))
    }

    /// A sentence in which paths begin in the folder.
    pub fn shorten(&self, sentence: &str) -> String {
        match &self.folder {
            Some(folder) => sentence.replace(&format!("{}/", folder.display()), ""),
            None => sentence.to_owned(),
        }
    }

    /// A path with its links followed, if it exists and is inside the folder.
    pub fn inside(&self, path: &Path) -> Option<PathBuf> {
        let path = path.canonicalize().ok()?;
        path.starts_with(self.folder.as_ref()?).then_some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for run in ["inside/a/run-1", "inside/b", "inside/.hidden", "outside", "inside/b/teacher"] {
            fs::create_dir_all(dir.path().join(run)).unwrap();
            fs::write(dir.path().join(run).join("config.toml"), "").unwrap();
        }
        dir
    }

    #[test]
    fn finds_runs_at_any_depth_but_not_hidden_ones() {
        let dir = folder();
        let catalogue = Catalogue::open(Some(&dir.path().join("inside")), Vec::new()).unwrap();
        assert_eq!(catalogue.run_ids(), ["run:a/run-1", "run:b"]);
        let catalogue = Catalogue::open(Some(&dir.path().join("inside/b")), Vec::new()).unwrap();
        assert_eq!(catalogue.run_ids(), ["run:."]);
        assert!(matches!(catalogue.find("run:."), Ok(Place::Folder(_))));
        let nothing = Catalogue::open(None, Vec::new()).unwrap();
        assert_eq!(nothing.ids()[..2], ["built-in:dsu", "built-in:lct"]);
        assert!(Catalogue::open(Some(&dir.path().join("absent")), Vec::new()).is_err());
        let titles = nothing.titles();
        for name in pgn_machines::programs::NAMES.into_iter().chain(["kruskal", "dsu-by-size"]) {
            assert_ne!(titles[name], name);
        }
    }

    #[test]
    fn no_id_leads_out_of_the_folder() {
        let dir = folder();
        let catalogue = Catalogue::open(Some(&dir.path().join("inside")), Vec::new()).unwrap();
        let absolute = format!("run:{}", dir.path().join("outside").display());
        for id in [
            "run:../outside",
            "run:a/../../outside",
            "run:a/..",
            "run:./b",
            "run:/b",
            "run:b/",
            "run:a//run-1",
            "run:.hidden",
            "run:..\\outside",
            "run:b\0",
            "run:",
            "run:a",
            "b",
            "",
            "built-in:../dsu",
            &absolute,
        ] {
            assert!(catalogue.find(id).is_err(), "{id}");
        }
        assert!(catalogue.find("run:a/run-1").is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_folder_are_not_followed() {
        use std::os::unix::fs::symlink;
        let dir = folder();
        let at = |path: &str| dir.path().join(path);
        symlink(at("outside"), at("inside/link")).unwrap();
        fs::create_dir(at("inside/c")).unwrap();
        symlink(at("outside/config.toml"), at("inside/c/config.toml")).unwrap();
        let catalogue = Catalogue::open(Some(&at("inside")), Vec::new()).unwrap();
        assert!(catalogue.find("run:link").is_err());
        assert!(catalogue.find("run:c").is_err());
        assert!(!catalogue.run_ids().contains(&"run:link".to_owned()));
    }
}
