//! A trained model, ready to be replayed: what the player and the playground look at.

use std::path::Path;

use pgn_engine::{Model, Pointers};
use pgn_lab::{Examples, Teacher, files, load_run};
use pgn_structures::{Dataset, Task};

use crate::{
    catalogue::{Catalogue, Place},
    refusal::{Answer, Refusal},
};

/// A model with the data structure it imitates.
#[derive(Debug)]
pub struct Subject {
    pub task: Task,
    pub model: Model,
    teacher: Option<Teacher>,
}

impl Subject {
    /// Loads the model that an id names.
    pub fn load(catalogue: &Catalogue, id: &str) -> Answer<Subject> {
        match catalogue.find(id)? {
            Place::BuiltIn(built_in) => Ok(Subject {
                task: catalogue.task(&built_in.run_config()?.task)?,
                model: built_in.model()?,
                teacher: None,
            }),
            Place::Folder(path) => {
                check_inside(catalogue, &path)?;
                Subject::of_run(&path, |name| catalogue.task(name))
            }
        }
    }

    /// Loads the model in a run directory of a built-in task.
    pub fn open(path: &Path) -> Answer<Subject> {
        Subject::of_run(path, |name| Task::named(name).map_err(Refusal::damaged))
    }

    fn of_run(path: &Path, task: impl Fn(&str) -> Answer<Task>) -> Answer<Subject> {
        let (config, model) = load_run(path).map_err(Refusal::damaged)?;
        let teacher = match config.data.teacher {
            Some(_) => {
                let copy = path.join(files::TEACHER);
                Some(Teacher::load(&copy, &config.task).map_err(Refusal::damaged)?)
            }
            None => None,
        };
        Ok(Subject { task: task(&config.task)?, model, teacher })
    }

    /// The truth, with the pointers that the model is given: the truth's, the teacher's or none.
    pub fn examples(&self, truth: Dataset) -> Answer<Examples> {
        Ok(match (self.model.config().pointers, &self.teacher) {
            (Pointers::Given, Some(teacher)) => {
                let pointers = teacher.pointers(&truth).map_err(Refusal::damaged)?;
                Examples::recorded(truth, pointers)
            }
            (Pointers::Given, None) => Examples::oracle(truth),
            _ => truth.into(),
        })
    }
}

/// Refuses a run whose files are links to somewhere else.
fn check_inside(catalogue: &Catalogue, run: &Path) -> Answer<()> {
    let teacher = run.join(files::TEACHER);
    for path in [run, &teacher] {
        for name in [files::CONFIG, files::MODEL] {
            let path = path.join(name);
            if path.exists() && catalogue.inside(&path).is_none() {
                return Err(Refusal::damaged(format!(
                    "{name} is a link that leads out of the folder being served"
                )));
            }
        }
    }
    Ok(())
}
