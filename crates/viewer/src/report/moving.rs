//! The data behind curves and players.

use std::{collections::BTreeMap, sync::Arc};

use pgn_engine::Pointers;
use pgn_lab::{
    collection::{groups, title},
    machine::MachineRun,
    metrics::Metrics,
};
use serde::Serialize;

use super::{Report, ReportedRun};
use crate::{Error, Result, halt::Halt, replay, subject::Subject};

/// Points that all curves together may have, so that a report of many runs stays small.
const POINTS: usize = 60_000;

/// What the script reads.
#[derive(Default, Serialize)]
pub struct Data {
    curves: Vec<Curves>,
    pub replays: Vec<replay::Replay>,
}

#[derive(Serialize)]
struct Curves {
    title: String,
    up: &'static str,
    series: Vec<Series>,
    range: Option<[f64; 2]>,
}

#[derive(Serialize)]
struct Series {
    name: String,
    points: Vec<(u64, f64)>,
}

/// What there is, for those who write the places it goes to.
pub struct Moving {
    /// Numbers of the curves that compare models, one for each task.
    pub comparisons: Vec<usize>,
    /// For each run the numbers of its own curves.
    pub of_run: Vec<Vec<usize>>,
    /// What each replay shows.
    pub replays: Vec<String>,
}

/// All curves and replays, and what they are.
pub fn gather(report: &Report) -> Result<(Data, Moving)> {
    let mut data = Data::default();
    let mut moving = Moving { comparisons: Vec::new(), of_run: Vec::new(), replays: Vec::new() };
    for task in report.collection.tasks() {
        for measure in [VALIDATION, VIEWS] {
            if let Some(curves) = compare(report, task, measure) {
                moving.comparisons.push(data.curves.len());
                data.curves.push(curves);
            }
        }
    }
    let each = (POINTS / (8 * report.runs.len().max(1))).clamp(20, 400);
    for run in &report.runs {
        let own = curves(run, each);
        moving.of_run.push((data.curves.len()..data.curves.len() + own.len()).collect());
        data.curves.extend(own);
    }
    for task in report.collection.tasks() {
        for (title, replay) in replays(report, task)? {
            moving.replays.push(title);
            data.replays.push(replay);
        }
    }
    Ok((data, moving))
}

/// What runs are compared by: a title, the axis, and the value of a line.
type Measure = (&'static str, &'static str, fn(&Metrics) -> Option<f64>);

const VALIDATION: Measure =
    ("validation F₁", "F₁", |line| line.validation.as_ref().map(|scores| scores.f1));
/// Machines are not validated: they are certified.
const VIEWS: Measure = ("training views right", "share", Metrics::views_right);

/// A curve for each group of runs: the mean over the seeds that have the epoch.
fn compare(report: &Report, task: &str, (what, up, value): Measure) -> Option<Curves> {
    let series: Vec<Series> = groups(&report.runs, task)
        .iter()
        .map(|group| {
            let mut epochs: BTreeMap<u64, (f64, u32)> = BTreeMap::new();
            for line in group.runs.iter().flat_map(|run| &run.metrics) {
                let Some(value) = value(line) else { continue };
                let entry = epochs.entry(line.epoch).or_default();
                *entry = (entry.0 + value, entry.1 + 1);
            }
            // Thinned files keep their own best epochs too; a point stands only where all are.
            let most = epochs.values().map(|&(_, count)| count).max().unwrap_or(0);
            let common = epochs.iter().filter(|&(_, &(_, count))| count == most);
            let points = common.map(|(&epoch, &(sum, _))| (epoch, sum / f64::from(most)));
            Series { name: group.name().replace('`', ""), points: thin(points.collect(), 400) }
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    (!series.is_empty()).then(|| Curves {
        title: format!("{}: {what}", title(task)),
        up,
        series,
        range: Some([0.0, 1.0]),
    })
}

/// The curves of one run.
fn curves(run: &ReportedRun, points: usize) -> Vec<Curves> {
    type Value = fn(&Metrics) -> Option<f64>;
    const SCORES: [(&str, Value); 4] = [
        ("F₁", |line| line.validation.as_ref().map(|scores| scores.f1)),
        ("accuracy", |line| line.validation.as_ref().map(|scores| scores.accuracy)),
        ("pointers", |line| line.validation.as_ref()?.pointer_accuracy),
        ("masks", |line| line.validation.as_ref()?.mask_accuracy),
    ];
    let one = |name: &str, value: &dyn Fn(&Metrics) -> Option<f64>| -> Series {
        let all = run.metrics.iter().filter_map(|line| Some((line.epoch, value(line)?)));
        Series { name: name.to_owned(), points: thin(all.collect(), points) }
    };
    let mut names: Vec<&str> =
        run.metrics.first().into_iter().flat_map(|line| line.losses.iter()).map(|l| l.0).collect();
    // The total first; it is last in the file.
    let last = names.len().min(1);
    names.rotate_right(last);
    // A loss that is 0 throughout is one that the model does not have.
    let losses = names
        .into_iter()
        .map(|name| one(name, &|line| line.losses.get(name)))
        .filter(|series| series.points.iter().any(|point| point.1 != 0.0));
    let scores = SCORES.iter().map(|(name, value)| one(name, value));
    let all = [
        ("Training losses", "loss", losses.collect::<Vec<_>>(), None),
        (
            "Validation scores",
            "score",
            scores.filter(|series| !series.points.is_empty()).collect(),
            Some([0.0, 1.0]),
        ),
        (
            "Training views right",
            "share",
            Some(one("views right", &Metrics::views_right))
                .into_iter()
                .filter(|series| !series.points.is_empty())
                .collect(),
            Some([0.0, 1.0]),
        ),
    ];
    all.into_iter()
        .filter(|(_, _, series, _)| !series.is_empty())
        .map(|(title, up, series, range)| Curves { title: title.to_owned(), up, series, range })
        .collect()
}

/// Every so many points, with the last; values to four digits.
fn thin(points: Vec<(u64, f64)>, most: usize) -> Vec<(u64, f64)> {
    let (stride, last) = (points.len().div_ceil(most).max(1), points.len().saturating_sub(1));
    let kept = points.into_iter().enumerate();
    kept.filter(|(index, _)| index.is_multiple_of(stride) || *index == last)
        .map(|(_, (epoch, value))| (epoch, (value * 1e4).round() / 1e4))
        .collect()
}

/// Replays of the runs that show a task best: the paper's `pgn` and `pgn-free` on one sequence, or
/// the first run with pointers of its own; and the first of them on a chain.
fn replays(report: &Report, task: &str) -> Result<Vec<(String, replay::Replay)>> {
    let runs: Vec<&ReportedRun> =
        report.runs.iter().filter(|run| run.results.task == task).collect();
    let named = |model: &&str| runs.iter().find(|run| run.results.model == *model).copied();
    let mut shown: Vec<&ReportedRun> = ["pgn", "pgn-free"].iter().filter_map(named).collect();
    if shown.is_empty() {
        let owns = |run: &&&ReportedRun| {
            run.config.as_ref().is_none_or(|config| config.network.owns_pointers())
        };
        shown.extend(runs.iter().find(owns).or(runs.first()).copied());
    }
    let Some(first) = shown.first() else { return Ok(Vec::new()) };
    let Some(size) = first.results.test.first() else { return Ok(Vec::new()) };
    let (nodes, seed) = (size.nodes.clamp(2, 50), first.results.seed);
    let test = || ("a test sequence", replay::Request::test(nodes, seed, 0));
    let mut requests: Vec<(&ReportedRun, (&str, replay::Request))> =
        shown.iter().map(|run| (*run, test())).collect();
    let without = |config: &pgn_lab::RunConfig| config.network.pointers == Pointers::None;
    if !first.config.as_ref().is_some_and(without) {
        // A chain of more nodes would be too deep for the room there is.
        let chain = replay::Request::chain(nodes.min(12));
        requests.push((*first, ("the chain (i, i + 1)", chain)));
    }
    let failed = |refusal: crate::refusal::Refusal| Error::Report(refusal.sentence);
    let mut replays = Vec::new();
    for (run, (what, request)) in requests {
        let subject = match run.config {
            Some(_) => Subject::Run(Box::new(pgn_lab::Run::load(&run.path)?)),
            None => Subject::Machine(Arc::new(MachineRun::load(&run.path)?.into())),
        };
        let replay = request.answer(&subject, &Halt::default()).map_err(failed)?;
        replays.push((format!("{}, n = {}: {what}", run.name, request.nodes), replay));
    }
    Ok(replays)
}
