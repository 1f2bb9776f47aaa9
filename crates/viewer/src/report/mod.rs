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
    Collection, Metrics, OfRun, Results, RunConfig, analysis::Analyses, files, read_metrics,
};

use crate::{Error, Result};
use html::Html;

pub use player::{player, recorded};

/// The page's styles, then those that only reports need.
const STYLES: [&str; 2] =
    [include_str!("../../assets/page.css"), include_str!("../../assets/report.css")];
const SCRIPT: &str = include_str!("../../assets/report.js");
const LICENCES: &str = include_str!("../../assets/third-party.txt");

/// The models whose runs are analysed, where there are any: those of the paper's appendix D.
const ANALYSED: [&str; 2] = ["gnn", "pgn"];

/// A run as the report shows it.
struct Run {
    path: PathBuf,
    /// Its path below what all runs have in common.
    name: String,
    config: RunConfig,
    config_text: String,
    results: Results,
    metrics: Vec<Metrics>,
}

/// One report under way.
struct Report {
    runs: Vec<Run>,
    collection: Collection,
    analyses: Analyses,
}

/// Writes a report of finished runs: the text of an HTML file.
///
/// `analyses` takes the place of analysing the runs anew. Of many runs, only those of `gnn` and
/// `pgn` are analysed.
pub fn report(runs: &[PathBuf], analyses: Option<Analyses>) -> Result<String> {
    let collection = Collection::gather(runs)?;
    let common = common_folder(runs);
    let runs: Vec<Run> = runs.iter().map(|path| Run::load(path, &common)).collect::<Result<_>>()?;
    let analyses = match analyses {
        Some(analyses) => analyses,
        None => {
            let some = runs.iter().any(|run| run.is_one_of(&ANALYSED));
            let chosen = runs.iter().filter(|run| !some || run.is_one_of(&ANALYSED));
            let all = chosen
                .map(|run| Ok(pgn_lab::Run::load(&run.path)?.analyse()?))
                .collect::<Result<_>>()?;
            Analyses::new(all)
        }
    };
    let report = Report { runs, collection, analyses };
    let (data, moving) = moving::gather(&report)?;
    let mut html = Html::new();
    sections::write(&mut html, &report, &moving);
    Ok(html.finish("What was learnt", &STYLES.concat(), SCRIPT, &data, LICENCES))
}

impl Run {
    fn load(path: &Path, common: &Path) -> Result<Run> {
        let config_path = path.join(files::CONFIG);
        let unread = |error: std::io::Error| {
            Error::Report(format!("{} cannot be read ({error})", config_path.display()))
        };
        let metrics = path.join(files::METRICS);
        let below = path.strip_prefix(common).unwrap_or(path);
        Ok(Run {
            name: match below.as_os_str().is_empty() {
                true => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                false => below.display().to_string(),
            },
            config: RunConfig::load(&config_path)?,
            config_text: std::fs::read_to_string(&config_path).map_err(unread)?,
            results: Results::load(path)?,
            metrics: if metrics.exists() { read_metrics(&metrics)? } else { Vec::new() },
            path: path.to_owned(),
        })
    }

    fn is_one_of(&self, models: &[&str]) -> bool {
        models.contains(&&*self.results.model)
    }
}

impl OfRun for Run {
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
