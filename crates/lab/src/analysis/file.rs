//! `analyses.json`: what was found out about many runs.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Analysis;
use pgn_runs::{files, format::json_start, json_checksum};

use crate::{Error, Result, collection::chosen};

/// The file's usual name, beside `runs.json`.
pub const ANALYSES: &str = "analyses.json";

/// The analyses of many runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analyses {
    /// By task, model and seed, in this order.
    pub runs: Vec<Analysis>,
}

impl Analyses {
    /// Of these, in their order.
    pub fn new(mut runs: Vec<Analysis>) -> Analyses {
        runs.sort_by(|a, b| (&a.task, &a.model, a.seed).cmp(&(&b.task, &b.model, b.seed)));
        Analyses { runs }
    }

    /// Reads the file, which must have its checksum: figures trust its numbers.
    pub fn load(path: &Path) -> Result<Analyses> {
        let bytes = files::read(path)?;
        if !json_checksum::is_sealed(&bytes) {
            let what =
                "it is damaged, or was changed by hand; make it again with pgn analyse --out";
            return Err(Error::file(path, what));
        }
        Ok(files::read_json(path)?)
    }

    /// The text of the file, a run a line: it is mostly long rows of numbers.
    pub fn to_json(&self) -> Result<String> {
        let lines: Vec<String> = self
            .runs
            .iter()
            .map(serde_json::to_string)
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| Error::request(format!("analyses cannot be made JSON ({error})")))?;
        let text = format!("{}\"runs\": [\n{}\n]\n}}\n", json_start(), lines.join(",\n"));
        Ok(String::from_utf8(json_checksum::add(text.into_bytes())).unwrap_or_default())
    }

    /// Writes the file.
    pub fn save(&self, path: &Path) -> Result<()> {
        Ok(files::write(path, self.to_json()?.as_bytes())?)
    }

    /// The runs of a model on a task that differ in nothing but their seed: of several groups of
    /// settings the one that speaks for the model, see [`chosen`].
    pub fn of(&self, task: &str, model: &str) -> impl Iterator<Item = &Analysis> {
        chosen(&self.runs, task, model).into_iter()
    }
}
