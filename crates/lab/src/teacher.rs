//! The trained model whose pointers `pgn-ptrs` is given, on every split.

use std::path::Path;

use pgn_engine::{Model, Parameters};
use pgn_structures::{Dataset, Node};

use pgn_runs::{RunDir, files};

use crate::{Error, Result, RunConfig};

/// A trained model that keeps pointers of its own.
#[derive(Clone, Debug)]
pub struct Teacher {
    model: Model,
}

impl Teacher {
    /// Loads the teacher from its run directory, for a run on `task`. Its model must have the
    /// checksum that the student's config has noted, if it has.
    pub fn load(dir: &Path, task: &str, crc32c: Option<u32>) -> Result<Teacher> {
        let path = dir.join(files::CONFIG);
        let config = RunConfig::load(&path)?;
        if config.task != task {
            return Err(Error::file(
                &path,
                format!("the teacher's task is {}; expected {task}", config.task),
            ));
        }
        if !config.network.owns_pointers() {
            return Err(Error::file(
                &path,
                format!("model {} has no pointers of its own to teach", config.model),
            ));
        }
        let path = dir.join(files::MODEL);
        let bytes = files::read(&path)?;
        check(&path, &bytes, crc32c)?;
        let parameters = Parameters::from_bytes(&config.network, &bytes, &path)?;
        Ok(Teacher { model: Model::from_parameters(config.network, parameters)? })
    }

    /// Copies a teacher's config and model into a student's run directory, so that the run
    /// stays whole when it is moved.
    pub fn copy(from: &Path, to: &Path) -> Result<()> {
        files::make_dir(to)?;
        for name in [files::CONFIG, files::MODEL] {
            files::write(&to.join(name), &files::read(&from.join(name))?)?;
        }
        Ok(())
    }

    /// Copies a teacher into a run that is being trained.
    pub(crate) fn keep(from: &Path, crc32c: Option<u32>, run: &RunDir) -> Result<()> {
        let folder = run.file(files::TEACHER);
        match std::fs::create_dir(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(Error::io("create", &folder)(error));
            }
            _ => {}
        }
        for name in [files::CONFIG, files::MODEL] {
            let path = from.join(name);
            let bytes = files::read(&path)?;
            check(&path, &bytes, crc32c.filter(|_| name == files::MODEL))?;
            run.write(&format!("{}/{name}", files::TEACHER), &bytes)?;
        }
        Ok(())
    }

    /// The pointers of the teacher's free rollouts, \[count, ops, nodes\].
    pub fn pointers(&self, data: &Dataset) -> Result<Vec<Node>> {
        let sequences: Vec<_> = data.sequences().collect();
        let mut pointers = Vec::with_capacity(data.pointers.len());
        for rollout in self.model.rollouts(&sequences)? {
            pointers.extend(rollout.pointers.unwrap_or_default());
        }
        Ok(pointers)
    }
}

/// Refuses the bytes of a file that have another checksum.
fn check(path: &Path, bytes: &[u8], expected: Option<u32>) -> Result<()> {
    let found = crc32c::crc32c(bytes);
    match expected {
        Some(expected) if expected != found => Err(Error::file(
            path,
            format!(
                "it is damaged or another model: its checksum is {found}, but the student's \
                 config has teacher_crc32c = {expected}"
            ),
        )),
        _ => Ok(()),
    }
}
