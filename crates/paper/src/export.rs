//! What of a grid is worth keeping under version control.

use std::path::Path;

use pgn_lab::{
    Result, Results, Teacher,
    collection::{Collection, finished_runs},
    metrics::{Metrics, read_metrics},
};
use pgn_runs::files;

use crate::tables;

/// The rendered tables.
pub const TABLES: &str = "tables.md";

/// Lines kept of each run's metrics, besides the first, the best and the last.
const METRICS_LINES: u64 = 35;

/// Gathers the finished runs under `dir` and writes `runs.json` and `tables.md` there.
pub fn write_tables(dir: &Path) -> Result<Collection> {
    let runs = Collection::load(dir)?;
    runs.save(dir)?;
    files::write(&dir.join(TABLES), tables::render(&runs).as_bytes())?;
    Ok(runs)
}

/// Copies config, results, model and a thinned `metrics.jsonl` of every finished run under
/// `from` to the same place under `to`, and writes the tables there.
pub fn export(from: &Path, to: &Path) -> Result<Collection> {
    for run in finished_runs(from)? {
        export_run(&run, &to.join(run.strip_prefix(from).unwrap_or(&run)))?;
    }
    write_tables(to)
}

fn export_run(from: &Path, to: &Path) -> Result<()> {
    let mut results = Results::load(from)?;
    results.check_files(from)?;
    files::make_dir(to)?;
    for name in [files::CONFIG, files::MODEL] {
        files::write(&to.join(name), &files::read(&from.join(name))?)?;
    }
    let teacher = from.join(files::TEACHER);
    if teacher.is_dir() {
        Teacher::copy(&teacher, &to.join(files::TEACHER))?;
    }
    let certificate = from.join(files::CERTIFICATE);
    if certificate.exists() {
        files::write(&to.join(files::CERTIFICATE), &files::read(&certificate)?)?;
    }
    let metrics = read_metrics(&from.join(files::METRICS))?;
    let mut text = String::new();
    for line in thin(&metrics, results.best_epoch) {
        text.push_str(&serde_json::to_string(line).unwrap_or_default());
        text.push('\n');
    }
    files::write(&to.join(files::METRICS), text.as_bytes())?;
    // Last, as a run that has it is finished.
    if results.files.is_empty() {
        let name = files::RESULTS;
        return Ok(files::write(&to.join(name), &files::read(&from.join(name))?)?);
    }
    results.note_file(to, files::METRICS)?;
    results.save(to)
}

/// The first line, the best, the last, and some evenly between; all of a short file.
fn thin(metrics: &[Metrics], best: u64) -> Vec<&Metrics> {
    if metrics.len() as u64 <= 2 * METRICS_LINES {
        return metrics.iter().collect();
    }
    let last = metrics.last().map_or(0, |line| line.epoch);
    let step = (last / METRICS_LINES).max(1);
    let keep =
        |line: &&Metrics| [1, best, last].contains(&line.epoch) || line.epoch.is_multiple_of(step);
    metrics.iter().filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_exported_with_their_certificates() {
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../results/paper/dsu/pgn-machine/seed-0");
        let to = tempfile::tempdir().unwrap();
        export_run(&from, to.path()).unwrap();
        let names = [files::CONFIG, files::MODEL, files::METRICS, files::RESULTS];
        for name in names.into_iter().chain([files::CERTIFICATE]) {
            let [a, b] =
                [from.as_path(), to.path()].map(|dir| std::fs::read(dir.join(name)).unwrap());
            assert!(a == b, "{name}");
        }
    }
}
