//! What the subcommands do with learned machines (`--model pgn-machine`).

use std::path::Path;

use anyhow::{Result, bail};
use pgn_lab::machine::{MachineRun, MachineVerdict, Mode};
use pgn_structures::did_you_mean;
use serde::Serialize;

use crate::{demo::thousands, output, steps::Steps};

/// The machine of a run directory, or a built-in one.
pub fn open(place: &Path) -> Result<MachineRun> {
    if !MachineRun::is_at(place) {
        let names = MachineRun::built_in_names();
        let given = place.to_str().unwrap_or_default();
        bail!(
            "{} is not the run directory of a machine (pgn train --model pgn-machine), nor a \
             built-in one ({}){}",
            place.display(),
            names.join(", "),
            did_you_mean(given, names.iter().copied())
        );
    }
    Ok(MachineRun::open(place)?)
}

/// `--mode`: how a machine is run.
pub fn mode(name: &str) -> Result<Mode, String> {
    name.parse().map_err(|error: pgn_lab::Error| error.to_string())
}

/// What was tried and what went wrong, in two lines.
fn verdict(name: &str, views: usize, wrong_views: usize, tried: u64, wrong: u64) -> String {
    let of = |wrong: usize, all: usize, what: &str| match wrong {
        0 => format!("all {} {what} are right", thousands(all)),
        _ => format!("{} of {} {what} are WRONG", thousands(wrong), thousands(all)),
    };
    format!(
        "{name}:\n{}, {}.\n",
        of(wrong_views, views, "consistent views"),
        of(wrong as usize, tried as usize, "random operations")
    )
}

/// `pgn verify`.
pub fn verify(place: &Path, depth: usize, pairs: u64, seed: u64, json: bool) -> Result<()> {
    let run = MachineRun::open(place)?;
    let certificate = run.certify()?;
    let mut verdicts = Vec::new();
    // From 4 nodes on, two of which may be heaps.
    let sizes: Vec<usize> =
        std::iter::successors(Some(4), |n| Some(2 * n)).take_while(|&n| n <= depth).collect();
    let steps = Steps::new("verify", sizes.len());
    for nodes in sizes {
        // As many operations for every size.
        let sequences = (pairs * 16).div_ceil(3 * nodes as u64);
        let verify = || run.verify(nodes, sequences, seed, Mode::Memoised);
        verdicts.push(steps.step(&format!("n = {nodes}"), verify)?);
    }
    drop(steps);
    let wrong: u64 = verdicts.iter().map(|verdict| verdict.wrong).sum();
    let tried: u64 = verdicts.iter().map(|verdict| verdict.operations).sum();
    let views = certificate.certificate.views - certificate.certificate.right;
    if json {
        #[derive(Serialize)]
        struct Report<'a> {
            views: usize,
            wrong_views: usize,
            verdicts: &'a [MachineVerdict],
        }
        let report = Report {
            views: certificate.certificate.views,
            wrong_views: views,
            verdicts: &verdicts,
        };
        output::print_json(&report)?;
    } else {
        output::print(&verdict(&run.name(), certificate.certificate.views, views, tried, wrong))?;
    }
    if let Some(first) = verdicts.iter().find_map(|verdict| verdict.first.as_ref()) {
        bail!("{first}");
    }
    if views > 0 {
        bail!("{views} consistent views are wrong: `pgn certify` shows them");
    }
    if !json {
        output::next(&format!("pgn compile {} --emit rust", place.display()));
    }
    Ok(())
}
