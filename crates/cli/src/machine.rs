//! What the subcommands do with learned machines (`--model pgn-machine`).

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use pgn_lab::{
    Stop, TestScores, TestSets,
    machine::{
        MachineConfig, MachineOutcome, MachineResults, MachineRun, MachineSession, MachineVerdict,
        Mode, train_machine,
    },
};
use pgn_structures::did_you_mean;
use serde::Serialize;

use crate::{
    demo::thousands,
    interrupt,
    output::{self, Interrupted},
    scores_table,
    steps::Steps,
};

/// The model's name, as in `--model`.
pub use pgn_lab::machine::MACHINE_MODEL;

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

/// `pgn train`.
pub fn train(config: &MachineConfig, out: &Path, every: Duration, json: bool) -> Result<()> {
    let stop = interrupt::flag()?;
    let title = config.name();
    let mut due = 0;
    let mut observe = |progress: pgn_lab::machine::MachineProgress| {
        for note in &progress.notes {
            output::tell(&format!("{title}: warning: {note}"));
        }
        if progress.step >= due || progress.step == progress.steps {
            output::tell(&format!(
                "{title}: step {}/{}  loss {:.3}  {} of {} views right",
                progress.step, progress.steps, progress.losses.total, progress.right, progress.of
            ));
            due = progress.step + progress.steps.div_ceil(10);
        }
    };
    let session = MachineSession { checkpoint_every: every, stop, observe: &mut observe };
    let results = match train_machine(config, out, session)? {
        MachineOutcome::Stopped { step } => {
            return Err(Interrupted(format!(
                "stopped after step {step} of {}; to resume, start the same command again",
                config.epochs
            ))
            .into());
        }
        MachineOutcome::AlreadyFinished(results) => {
            output::tell(&format!("{} is already finished; nothing to do.", out.display()));
            results
        }
        MachineOutcome::Finished(results) => results,
    };
    if json {
        return output::print_json(&results);
    }
    output::print(&format!("{}Written to {}.\n", summary(&results), out.display()))?;
    output::next(&format!("pgn certify {}", out.display()));
    Ok(())
}

fn summary(results: &MachineResults) -> String {
    let MachineResults { results, views, .. } = results;
    let mut text = format!(
        "{} {} seed {}: {} steps, {:.0} s\n{} of {} views met in traces and {} of {} consistent \
         views are right; smallest margin {:.2}\n",
        results.task,
        results.model,
        results.seed,
        results.epochs,
        results.timing.train_seconds,
        views.met_right,
        views.met,
        views.consistent_right,
        views.consistent,
        views.margin
    );
    if !results.test.is_empty() {
        text += &scores_table::render(&results.test);
    }
    text
}

#[derive(Serialize)]
struct Report {
    task: String,
    model: String,
    seed: u64,
    run: PathBuf,
    mode: Mode,
    test: Vec<TestScores>,
    seconds: f64,
}

/// `pgn eval`.
pub fn eval(
    place: PathBuf,
    data: &[PathBuf],
    sets: &TestSets,
    mode: Mode,
    json: bool,
) -> Result<()> {
    let run = MachineRun::open(&place)?;
    run.task()?;
    let started = Instant::now();
    let test = if data.is_empty() {
        let own = &run.config().test;
        let seed = sets.seed.unwrap_or(run.config().seed);
        run.test(&sets.of(own)?, seed, mode, Stop::NEVER)?
    } else {
        data.iter().map(|path| run.test_file(path, mode)).collect::<Result<_, _>>()?
    };
    if !json {
        let table = scores_table::render(&test);
        let seconds = started.elapsed().as_secs_f64();
        return output::print(&format!(
            "{} ({}, {seconds:.1} s)\n{table}",
            run.name(),
            mode.name()
        ));
    }
    let config = run.config();
    output::print_json(&Report {
        task: config.task.clone(),
        model: config.model.clone(),
        seed: config.seed,
        run: place,
        mode,
        test,
        seconds: started.elapsed().as_secs_f64(),
    })
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
