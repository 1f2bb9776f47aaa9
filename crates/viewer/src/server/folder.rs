//! The runs in the folder being served, and the way from a name in a request to a directory.
//!
//! A request names a run by its id: `run:` and the directory's path inside the folder, with `/`
//! between its parts (`run:.` is the folder itself). No id leads out of the folder, be it by `..`,
//! by an absolute path or by a symbolic link.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use pgn_lab::{AnyConfig, Results, Run, RunConfig, machine::MachineRun};
use pgn_runs::{Lease, files};

use super::{
    kept::Machines,
    metrics::{self, Followed},
};
use crate::{
    Error, Result,
    catalogue::{Folder, Tasks, missing},
    halt::Halt,
    limits,
    metrics::Lines,
    refusal::{Answer, Refusal},
    subject::Subject,
    summary::{Details, Summary},
};

/// A folder of this machine.
pub struct Disk {
    /// Canonical, so that paths can be compared with it.
    folder: PathBuf,
    tasks: Tasks,
    /// How far the runs that are not finished have come.
    followed: Followed,
    /// Those that were played before.
    machines: Machines,
}

impl Folder for Disk {
    fn path(&self) -> String {
        self.folder.display().to_string()
    }

    /// The directories under the folder that hold a `config.toml`.
    ///
    /// Hidden and linked directories are passed over, and so are caches (which
    /// [say so](https://bford.info/cachedir/)) and the copy of a teacher inside a run.
    fn ids(&self, halt: &Halt) -> Answer<Vec<String>> {
        let mut ids = Vec::new();
        let mut left = vec![(self.folder.clone(), String::new(), 0)];
        let mut looked_into = 0;
        while let Some((path, id, depth)) = left.pop() {
            halt.check()?;
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
        Ok(ids)
    }

    fn details(&self, id: &str) -> Answer<Details> {
        Ok(self.tell(id, &self.find(id)?))
    }

    fn metrics(&self, id: &str, offset: u64) -> Answer<Lines> {
        let path = self.find(id)?.join(files::METRICS);
        if path.exists() && self.inside(&path).is_none() {
            return Err(Refusal::damaged("metrics.jsonl is a link that leads out of the folder"));
        }
        metrics::read(&path, offset, limits::METRICS)
            .map_err(|error| Refusal::damaged(format!("metrics.jsonl cannot be read ({error})")))
    }

    fn load(&self, id: &str, epoch: Option<u64>) -> Answer<Subject> {
        let path = self.find(id)?;
        // While it trains, the model kept last is the best there is.
        let latest = || files::kept(&path).pop().filter(|_| !path.join(files::MODEL).exists());
        let epoch = epoch.or_else(latest);
        self.check_files(&path, epoch)?;
        // Without the place of the folder on this machine.
        let damaged = |error: pgn_lab::Error| {
            Refusal::damaged(error.to_string().replace(&format!("{}/", self.path()), ""))
        };
        if MachineRun::is_in(&path) {
            return self.machines.load(&path).map(Subject::Machine).map_err(damaged);
        }
        let run = Run::load_at(&path, epoch, |name| Ok(self.tasks.named(name).ok()));
        Ok(Subject::Run(Box::new(run.map_err(damaged)?)))
    }
}

impl Disk {
    /// The runs under `folder`.
    pub fn open(folder: &Path, tasks: Tasks) -> Result<Disk> {
        let there = folder.canonicalize().and_then(|path| fs::read_dir(&path).map(|_| path));
        let folder = there.map_err(|cause| Error::Folder { path: folder.to_owned(), cause })?;
        let (followed, machines) = (Followed::default(), Machines::default());
        Ok(Disk { folder, tasks, followed, machines })
    }

    /// The directory of the run that an id names.
    fn find(&self, id: &str) -> Answer<PathBuf> {
        let missing = || missing(id);
        let path = id.strip_prefix("run:").ok_or_else(missing)?;
        let parts: Vec<&str> = if path == "." { Vec::new() } else { path.split('/').collect() };
        let plain = |part: &&str| {
            !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', ':', '\0'])
        };
        if parts.len() > limits::DEPTH || !parts.iter().all(plain) {
            return Err(missing());
        }
        let path = parts.iter().fold(self.folder.clone(), |path, part| path.join(part));
        let place = self.inside(&path).ok_or_else(missing)?;
        match self.inside(&place.join(files::CONFIG)) {
            Some(config) if config.is_file() => Ok(place),
            _ => Err(missing()),
        }
    }

    /// A path with its links followed, if it exists and is inside the folder.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let path = path.canonicalize().ok()?;
        path.starts_with(&self.folder).then_some(path)
    }

    /// All that is known of a run, be its files damaged.
    fn tell(&self, id: &str, path: &Path) -> Details {
        let name = match id.strip_prefix("run:") {
            None | Some(".") => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Some(name) => name.to_owned(),
        };
        let text = self.read_text(&path.join(files::CONFIG)).unwrap_or_default();
        let mut details = Details {
            summary: Summary::empty(id, name.clone()),
            config: text,
            ..Details::default()
        };
        // Paths in errors are shortened to the file's name: the page shows which run it is.
        let shorten = |error: String| error.replace(&format!("{}/", path.display()), "");
        let config = match AnyConfig::load(&path.join(files::CONFIG)) {
            Ok(config) => config,
            Err(error) => {
                details.summary.trouble = Some(shorten(error.to_string()));
                return details;
            }
        };
        details.summary = match &config {
            AnyConfig::Model(config) => Summary::new(id, name, config),
            AnyConfig::Machine(config) => Summary::new(id, name, config),
        };
        let inside = |name: &str| self.inside(&path.join(name)).filter(|path| path.is_file());
        if matches!(config, AnyConfig::Model(_)) && self.inside(&path.join(files::KEPT)).is_some() {
            details.kept = files::kept(path);
        }
        let has_model = inside(files::MODEL).is_some() || !details.kept.is_empty();
        details.summary.playable = has_model && self.tasks.named(&details.summary.task).is_ok();
        if inside(files::RESULTS).is_some() {
            match Results::load(path) {
                Ok(results) => {
                    details.summary.finish(&results);
                    details.results = Some(results);
                }
                Err(error) => details.summary.trouble = Some(shorten(error.to_string())),
            }
        } else {
            details.summary.running = Lease::is_held(path);
            let metrics = inside(files::METRICS);
            let progress = metrics.map(|path| self.followed.progress(&path)).unwrap_or_default();
            details.summary.epoch = progress.epoch.unwrap_or(0);
            details.summary.best_epoch = progress.best.map(|(epoch, _)| epoch);
            details.summary.validation_f1 = progress.best.map(|(_, f1)| f1);
        }
        details.certificate =
            inside(files::CERTIFICATE).and_then(|path| self.read_text(&path).ok());
        details
    }

    /// The text of a file in the folder.
    fn read_text(&self, path: &Path) -> Answer<String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let trouble = |what: &str| Refusal::damaged(format!("{name} {what}"));
        let path = self.inside(path).ok_or_else(|| trouble("is not in the folder"))?;
        if !path.is_file() {
            return Err(trouble("is not a regular file"));
        }
        let file =
            File::open(path).map_err(|error| trouble(&format!("cannot be read ({error})")))?;
        let mut text = String::new();
        file.take(limits::TEXT)
            .read_to_string(&mut text)
            .map_err(|error| trouble(&format!("cannot be read ({error})")))?;
        Ok(text)
    }

    /// Refuses a run whose files are links to somewhere else, or not what a run has: pipes, or files
    /// that are far too large.
    fn check_files(&self, run: &Path, epoch: Option<u64>) -> Answer<()> {
        let teacher = run.join(files::TEACHER);
        for path in [run, &teacher] {
            let read = [files::CONFIG, files::MODEL, files::RESULTS, files::STRUCTURE];
            let read = read.into_iter().chain([files::CERTIFICATE, files::DIVERGED]);
            for name in read.map(str::to_owned).chain(epoch.map(files::kept_name)) {
                let name = &name;
                let path = path.join(name);
                let Ok(metadata) = path.metadata() else { continue };
                let refused = |what: &str| Err(Refusal::damaged(format!("{name} {what}")));
                if self.inside(&path).is_none() {
                    return refused("is a link that leads out of the folder being served");
                }
                if !metadata.is_file() {
                    return refused("is not a regular file");
                }
                if metadata.len() > limits::MODEL {
                    let most = limits::MODEL;
                    return refused(&format!(
                        "has {} bytes; expected at most {most}",
                        metadata.len()
                    ));
                }
            }
        }
        check_teacher(&teacher)
    }
}

/// Refuses a teacher whose operations may take minutes each: they cannot be stopped.
fn check_teacher(teacher: &Path) -> Answer<()> {
    let Ok(config) = RunConfig::load(&teacher.join(files::CONFIG)) else { return Ok(()) };
    match config.network.iterated() {
        Some(settings) if settings.steps > 64 || settings.steps_per_depth > 16 => {
            Err(Refusal::damaged("its teacher takes too many steps per operation to be replayed"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for run in ["inside/a/run-1", "inside/b", "inside/.hidden", "outside", "inside/b/teacher"] {
            fs::create_dir_all(dir.path().join(run)).unwrap();
            fs::write(dir.path().join(run).join("config.toml"), "").unwrap();
        }
        dir
    }

    fn opened(folder: &Path) -> Disk {
        Disk::open(folder, Tasks::default()).unwrap()
    }

    #[test]
    fn finds_runs_at_any_depth_but_not_hidden_ones() {
        let dir = folder();
        let inside = opened(&dir.path().join("inside"));
        let halt = Halt::default();
        assert_eq!(inside.ids(&halt).unwrap(), ["run:a/run-1", "run:b"]);
        let one = opened(&dir.path().join("inside/b"));
        assert_eq!(one.ids(&halt).unwrap(), ["run:."]);
        assert!(one.find("run:.").is_ok());
        assert!(Disk::open(&dir.path().join("absent"), Tasks::default()).is_err());
        // What nobody waits for any more ends.
        drop(halt.when_dropped());
        assert!(inside.ids(&halt).is_err());
        assert!(Catalogue::new(Tasks::default(), None).summaries(&halt).is_err());
    }

    #[test]
    fn no_id_leads_out_of_the_folder() {
        let dir = folder();
        let disk = opened(&dir.path().join("inside"));
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
            &absolute,
        ] {
            assert!(disk.find(id).is_err(), "{id}");
        }
        assert!(disk.find("run:a/run-1").is_ok());
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
        let disk = opened(&at("inside"));
        assert!(disk.find("run:link").is_err());
        assert!(disk.find("run:c").is_err());
        assert!(!disk.ids(&Halt::default()).unwrap().contains(&"run:link".to_owned()));
    }
}
