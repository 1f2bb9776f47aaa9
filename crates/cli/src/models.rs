//! `pgn models`: every model in a line, or one in detail; and what help texts and errors say about
//! models.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::Result;
use pgn_engine::{Parameters, Preset};
use pgn_lab::{AnyRun, RunConfig, machine::MACHINE_MODEL};
use serde::Serialize;

use crate::{demo::thousands, listing, output};

/// List the models: what --model can name; or show the weights and settings of one
///
/// The paper's models come first, in the order of its tables. `pgn train --model NAME` trains one;
/// docs/models.md says more about each.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn models
  pgn models pgn-free-2
  pgn models runs/dsu-pgn
  pgn models --json")]
pub struct Args {
    /// Show this model: a name, or the run directory of a trained one
    #[arg(value_name = "NAME|DIR", conflicts_with = "json")]
    which: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A model that can be trained.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    summary: &'static str,
    /// Whether it is one of the paper's.
    in_paper: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        if let Some(which) = self.which {
            return output::print(&describe(which)?);
        }
        if self.json {
            return output::print_json(&all().collect::<Vec<_>>());
        }
        let lines = |in_paper: bool| {
            let some = all().filter(move |model| model.in_paper == in_paper);
            some.map(|model| (model.name.to_owned(), model.summary.to_owned())).collect()
        };
        let groups = [("The paper's models", lines(true)), ("Beyond the paper", lines(false))];
        output::print(&listing::render(&groups))?;
        output::next("pgn train --task dsu --model pgn --epochs 1000 --out runs/dsu-pgn");
        Ok(())
    }
}

/// The weights and settings of a model.
fn describe(which: PathBuf) -> Result<String> {
    let preset = which.to_str().and_then(|name| Preset::ALL.iter().find(|one| one.name == name));
    if let (Some(preset), false) = (preset, which.exists()) {
        let config = RunConfig::defaults("dsu", preset.name, 0)?;
        let plain = RunConfig::defaults("dsu", "pgn", 0)?;
        let heading = format!("{}: {}", preset.name, preset.summary);
        let weights = Parameters::zeros(&config.network);
        return Ok(shown(
            &heading,
            &weights,
            "Settings, where pgn has others",
            config.beyond(&plain),
        ));
    }
    let (heading, weights, settings) = match AnyRun::open(&which)? {
        AnyRun::Model(run) => {
            (run.name(), run.model().parameters().clone(), run.config().departures())
        }
        AnyRun::Machine(run) => {
            (run.name(), run.net().parameters().clone(), run.config().departures())
        }
    };
    Ok(shown(&heading, &weights, "Settings that are not the defaults", settings))
}

fn shown(
    heading: &str,
    weights: &Parameters,
    what: &str,
    settings: BTreeMap<String, String>,
) -> String {
    let shape =
        |shape: &[usize]| shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" × ");
    let tensors = weights.tensors();
    let lines = tensors.iter().map(|one| (one.name.to_owned(), shape(&one.shape))).collect();
    let count = thousands(weights.values().len());
    let title = format!("{count} weights in {} tensors", tensors.len());
    let groups = [(&*title, lines), (what, settings.into_iter().collect())];
    format!("{heading}\n\n{}", listing::render(&groups))
}

fn all() -> impl Iterator<Item = Listed> {
    let presets = Preset::ALL.iter().map(|preset| Listed {
        name: preset.name,
        summary: preset.summary,
        in_paper: preset.in_paper,
    });
    let machine = Listed {
        name: MACHINE_MODEL,
        summary: "learns a program micro-step by micro-step; exact for every n once proved",
        in_paper: false,
    };
    presets.chain([machine])
}

/// `--model`'s help, with every name.
pub fn help() -> String {
    let names: Vec<&str> = all().map(|model| model.name).collect();
    format!("The model: {} (`pgn models` says what each is) [default: pgn]", names.join(", "))
}

/// Refuses a name that no model has.
pub fn check(name: &str) -> Result<(), pgn_engine::Error> {
    let names: Vec<&str> = all().map(|model| model.name).collect();
    if names.contains(&name) {
        return Ok(());
    }
    Err(pgn_engine::Error::UnknownModel { name: name.to_owned(), known: names.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_models_too() {
        assert!(help().contains("pgn-asym, ") && help().contains("pgn-machine (`pgn models`"));
        assert!(check("pgn").is_ok() && check(MACHINE_MODEL).is_ok());
        let error = check("pgn-machne").unwrap_err().to_string();
        assert!(error.ends_with("(did you mean pgn-machine?)"), "{error}");
    }
}
