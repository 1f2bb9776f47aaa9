//! `metrics.jsonl` as curves: the same lines for every kind of run.

use std::path::Path;

use serde::{Serialize, Serializer};

use crate::{Error, Metrics, Result, Scores, files, machine::MachineMetrics};

/// One line of any run's `metrics.jsonl`.
///
/// ```
/// use pgn_lab::CurveLine;
/// let line = br#"{"epoch":20,"loss":1.5,"pointers":0.1,"toggles":0.1,"marks":0.1,"registers":0.3,
///     "controls":0.1,"states":0.8,"right":59,"views":87,"margin":0.01}"#;
/// let line = CurveLine::parse(line)?;
/// assert_eq!(line.losses[0], ("total", 1.5));
/// assert_eq!(line.views_right, Some(59.0 / 87.0));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveLine {
    /// Counted from 1.
    pub epoch: u64,
    /// Adam's learning rate, where the line has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learning_rate: Option<f32>,
    /// Every loss by name, the sum that is minimised first.
    #[serde(serialize_with = "as_map")]
    pub losses: Vec<(&'static str, f64)>,
    /// Scores on the validation set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<Scores>,
    /// Of a machine: the share of its training views on which its action is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub views_right: Option<f64>,
}

impl CurveLine {
    /// Reads a line, whichever kind of run wrote it.
    pub fn parse(line: &[u8]) -> serde_json::Result<CurveLine> {
        serde_json::from_slice::<Metrics>(line).map(CurveLine::from).or_else(|error| {
            let machine = serde_json::from_slice::<MachineMetrics>(line);
            machine.map(CurveLine::from).map_err(|_| error)
        })
    }

    /// Reads a whole `metrics.jsonl`.
    pub fn read(path: &Path) -> Result<Vec<CurveLine>> {
        let bytes = files::read(path)?;
        let line = |(index, line): (usize, &[u8])| {
            CurveLine::parse(line).map_err(|error| {
                Error::file(path, format!("line {} is damaged ({error})", index + 1))
            })
        };
        bytes.split_inclusive(|&byte| byte == b'\n').enumerate().map(line).collect()
    }
}

impl From<Metrics> for CurveLine {
    fn from(line: Metrics) -> CurveLine {
        let each = line.losses.iter().map(|(loss, value)| (loss.name, value));
        CurveLine {
            epoch: line.epoch,
            learning_rate: Some(line.learning_rate),
            losses: [("total", line.losses.total)].into_iter().chain(each).collect(),
            validation: Some(line.validation),
            views_right: None,
        }
    }
}

impl From<MachineMetrics> for CurveLine {
    fn from(line: MachineMetrics) -> CurveLine {
        CurveLine {
            epoch: line.epoch,
            learning_rate: None,
            losses: vec![
                ("total", line.loss),
                ("pointers", line.pointers),
                ("toggles", line.toggles),
                ("marks", line.marks),
                ("registers", line.registers),
                ("controls", line.controls),
                ("states", line.states),
            ],
            validation: None,
            views_right: Some(line.right as f64 / line.views.max(1) as f64),
        }
    }
}

fn as_map<S: Serializer>(
    losses: &[(&'static str, f64)],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(losses.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_both_kinds_of_runs_are_read() {
        let results = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../results"));
        let machine = CurveLine::read(&results.join("machines/lct/metrics.jsonl")).unwrap();
        assert_eq!(machine.last().unwrap().views_right, Some(1.0));
        let run = CurveLine::read(&results.join("paper/dsu/pgn/seed-0/metrics.jsonl")).unwrap();
        assert!(run.iter().all(|line| line.validation.is_some() && line.learning_rate.is_some()));
        let names: Vec<&str> = run[0].losses.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["total", "query", "pointers", "masks", "dgm"]);
        let json = serde_json::to_value(&run[0]).unwrap();
        assert_eq!(json["losses"]["query"], run[0].losses[1].1);
    }

    #[test]
    fn a_damaged_line_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "{\"epoch\":1}\n").unwrap();
        let error = CurveLine::read(file.path()).unwrap_err().to_string();
        assert!(error.contains("line 1 is damaged"), "{error}");
    }
}
