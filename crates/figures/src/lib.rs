//! Figures of analyses and scores, drawn from committed results as SVG.
//!
//! | if you want … | look at |
//! | --- | --- |
//! | all figures of a results folder | [`draw`] |
//! | one of them, from data at hand | [`credit`], [`chain`], [`shapes`], [`scores`], [`beyond`] |
//!
//! The figures follow the reader's light or dark setting, and differ in dashes or lightness
//! wherever they differ in colour (Okabe and Ito's palette, which colour-blind people can tell
//! apart). The same data give the same bytes.

pub mod beyond;
mod by_size;
pub mod chain;
pub mod credit;
mod layout;
mod plot;
pub mod scores;
pub mod shapes;
mod svg;

use std::path::{Path, PathBuf};

use pgn_lab::{
    analysis::{ANALYSES, Analyses, tasks},
    collection::{Collection, RUNS},
};

pub use by_size::model_ink;

/// A figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// What its file is called, without an ending.
    pub name: String,
    /// What it shows, in a sentence or two.
    pub caption: String,
    /// The picture.
    pub svg: String,
}

/// Anything this crate can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to draw.
    #[error("{} has no {ANALYSES} in it; pgn analyse makes one", .0.display())]
    Nothing(PathBuf),
    /// See [`pgn_lab::Error`].
    #[error(transparent)]
    Lab(#[from] pgn_lab::Error),
}

/// All figures that the results in a folder allow: its `analyses.json`, and its `runs.json` where
/// there is one.
pub fn draw(dir: &Path) -> Result<Vec<Figure>, Error> {
    let path = dir.join(ANALYSES);
    if !path.is_file() {
        return Err(Error::Nothing(dir.to_owned()));
    }
    let mut figures = of_analyses(&Analyses::load(&path)?);
    if dir.join(RUNS).is_file() {
        figures.extend(scores::figure(&Collection::load(dir)?));
    }
    Ok(figures)
}

/// All figures that analyses allow.
pub fn of_analyses(analyses: &Analyses) -> Vec<Figure> {
    let mut figures = Vec::from_iter(beyond::figure(analyses));
    for task in tasks(analyses) {
        figures.extend(credit::figure(analyses, task, credit::Part::Both));
        figures.extend(credit::figure(analyses, task, credit::Part::Z));
        figures.extend(credit::figure(analyses, task, credit::Part::H));
    }
    for model in ["pgn", "pgn-free"] {
        figures.extend(chain::figure(analyses, model));
        figures.extend(shapes::depth(analyses, model));
        figures.extend(shapes::diameter(analyses, model));
        figures.extend(shapes::validity(analyses, model));
    }
    figures
}

/// The mean of several rows of numbers, as long as the shortest.
fn mean(rows: &[&[f64]]) -> Vec<f64> {
    let length = rows.iter().map(|row| row.len()).min().unwrap_or(0);
    let at = |t: usize| rows.iter().map(|row| row[t]).sum::<f64>() / rows.len() as f64;
    (0..length).map(at).collect()
}

/// `1 seed`, `5 seeds`.
fn seeds(count: usize) -> String {
    if count == 1 { "1 seed".to_owned() } else { format!("mean of {count} seeds") }
}
