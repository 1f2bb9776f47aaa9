//! `pgn report`: runs in one HTML file that needs nothing else, neither server nor network.
//!
//! Tables, figures and configs are plain HTML, readable without JavaScript; curves and players
//! are the page's own, with their data inside the file.

mod html;
mod moving;
mod player;
mod sections;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use pgn_lab::{
    Results, RunConfig,
    analysis::Analyses,
    collection::{Collection, OfRun},
    machine::MachineRun,
    metrics::{Metrics, read_metrics},
};
use pgn_runs::files;

use crate::{Error, Result};
use html::Html;

pub use player::{Played, page, player};

/// The models whose runs are analysed, where there are any: those of the paper's appendix D, and
/// `pgn-free`.
const ANALYSED: [&str; 3] = ["gnn", "pgn", "pgn-free"];

/// A run as the report shows it.
struct ReportedRun {
    path: PathBuf,
    /// Its path below what all runs have in common.
    name: String,
    /// `None` for a machine.
    config: Option<RunConfig>,
    config_text: String,
    results: Results,
    metrics: Vec<Metrics>,
}

/// One report under way.
struct Report {
    runs: Vec<ReportedRun>,
    collection: Collection,
    analyses: Analyses,
}

/// Writes a report of finished runs: the text of an HTML file.
///
/// `analyses` takes the place of analysing the runs anew. Of many runs, only those of `gnn` and
/// `pgn` are analysed.
pub fn report(paths: &[PathBuf], analyses: Option<Analyses>) -> Result<String> {
    let collection = Collection::gather(paths)?;
    let common = common_folder(paths);
    let runs: Vec<ReportedRun> =
        paths.iter().map(|path| ReportedRun::load(path, &common)).collect::<Result<_>>()?;
    let analyses = match analyses {
        Some(analyses) => analyses,
        None => {
            let chosen = to_be_analysed(paths)?;
            let all = chosen
                .iter()
                .map(|path| Ok(pgn_lab::Run::load(path)?.analyse()?))
                .collect::<Result<_>>()?;
            Analyses::new(all)
        }
    };
    let report = Report { runs, collection, analyses };
    let (data, moving) = moving::gather(&report)?;
    let mut html = Html::new();
    sections::write(&mut html, &report, &moving);
    html.finish("What was learned", &data)
}

/// The runs that [`report()`] analyses if it is given no analyses: for callers that do it
/// themselves, to show how far they are.
pub fn to_be_analysed(runs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut chosen = Vec::new();
    // Machines have analyses of their own kind: their certificates.
    for run in runs.iter().filter(|run| !MachineRun::is_in(run)) {
        chosen.push((ANALYSED.contains(&&*Results::load(run)?.model), run.clone()));
    }
    let some = chosen.iter().any(|(is_one, _)| *is_one);
    chosen.retain(|(is_one, _)| !some || *is_one);
    Ok(chosen.into_iter().map(|(_, run)| run).collect())
}

impl ReportedRun {
    fn load(path: &Path, common: &Path) -> Result<ReportedRun> {
        let config_path = path.join(files::CONFIG);
        let unread = |error: std::io::Error| {
            Error::Report(format!("{} cannot be read ({error})", config_path.display()))
        };
        let metrics = path.join(files::METRICS);
        let results = Results::load(path)?;
        results.check_files(path)?;
        let below = path.strip_prefix(common).unwrap_or(path);
        Ok(ReportedRun {
            name: match below.as_os_str().is_empty() {
                true => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                false => below.display().to_string(),
            },
            config: match MachineRun::is_in(path) {
                true => None,
                false => Some(RunConfig::load(&config_path)?),
            },
            config_text: std::fs::read_to_string(&config_path).map_err(unread)?,
            results,
            metrics: if metrics.exists() { read_metrics(&metrics)? } else { Vec::new() },
            path: path.to_owned(),
        })
    }
}

impl OfRun for ReportedRun {
    fn task(&self) -> &str {
        &self.results.task
    }

    fn model(&self) -> &str {
        &self.results.model
    }

    fn seed(&self) -> u64 {
        self.results.seed
    }

    fn epochs(&self) -> u64 {
        self.results.epochs
    }

    fn departures(&self) -> &BTreeMap<String, String> {
        &self.results.departures
    }
}

/// The deepest folder that all runs are in.
fn common_folder(runs: &[PathBuf]) -> PathBuf {
    let mut common = runs.first().and_then(|run| run.parent()).unwrap_or(Path::new("")).to_owned();
    while !runs.iter().all(|run| run.starts_with(&common)) && common.pop() {}
    common
}
