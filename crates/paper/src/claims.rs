//! The paper's claims, each by name, checked against our runs.
//!
//! A claim is a list of checks: comparisons of means that either hold or do not. Where the
//! paper's words are not a number, the criterion says what was made of them.

use pgn_lab::{
    Results, Scores,
    collection::{Collection, Spread},
};

use crate::{Numbers, numbers};

/// One of the paper's claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What it is called.
    pub name: &'static str,
    /// How it was checked.
    pub criterion: &'static str,
    /// The comparisons it consists of.
    pub checks: Vec<Check>,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What was compared, with the numbers.
    pub text: String,
    /// Whether it holds for the means.
    pub holds: bool,
    /// In how many seeds it holds, of how many, where it can be asked of a seed.
    pub seeds: Option<(usize, usize)>,
}

impl Claim {
    /// Whether it holds for the means, or in how many comparisons, and for how many single seeds.
    pub fn verdict(&self) -> String {
        let checked = self.checks.len();
        let means = match self.checks.iter().filter(|check| check.holds).count() {
            holds if holds == checked => "holds".to_owned(),
            0 => "does not hold".to_owned(),
            holds => format!("holds in {holds} of {checked} comparisons"),
        };
        let seeds = self.checks.iter().filter_map(|check| check.seeds);
        match seeds.fold((0, 0), |(yes, of), (more, all)| (yes + more, of + all)) {
            (_, 0) => means,
            (yes, of) => format!("{means} (single seeds: {yes} of {of})"),
        }
    }
}

/// Every claim that there are runs for.
pub fn claims(runs: &Collection) -> Vec<Claim> {
    checked(&CLAIMS, runs)
}

/// A claim before it is checked: its name, its criterion, and the comparisons.
pub(crate) type Unchecked<T> = (&'static str, &'static str, fn(&T) -> Vec<Check>);

/// The claims with their checks; those that cannot be checked are left out.
pub(crate) fn checked<T>(claims: &[Unchecked<T>], runs: &T) -> Vec<Claim> {
    let claim =
        |&(name, criterion, checks): &Unchecked<T>| Claim { name, criterion, checks: checks(runs) };
    claims.iter().map(claim).filter(|claim| !claim.checks.is_empty()).collect()
}

/// The claims of [`claims`] for models that read their own pointers in training, each in place of the one it
/// is a variant of; none if there are no runs of `pgn-free`.
pub fn free_claims(runs: &Collection) -> Vec<Claim> {
    let runs = in_their_place(&runs.runs, |run| &mut run.model);
    runs.map_or(Vec::new(), |runs| claims(&Collection { runs }))
}

/// Every `…-free` model under the name of the one it is a variant of, which is left out; `None` if
/// there is no `pgn-free`.
pub(crate) fn in_their_place<T: Clone>(
    runs: &[T],
    model: impl Fn(&mut T) -> &mut String,
) -> Option<Vec<T>> {
    let mut runs = runs.to_vec();
    let mut replaced = Vec::new();
    let mut free = Vec::new();
    runs.retain_mut(|run| {
        let Some(name) = model(run).strip_suffix("-free").map(str::to_owned) else { return true };
        let mut run = run.clone();
        model(&mut run).clone_from(&name);
        free.push(run);
        replaced.push(name);
        false
    });
    runs.retain_mut(|run| !replaced.contains(model(run)));
    runs.extend(free);
    replaced.iter().any(|name| name == "pgn").then_some(runs)
}

const TASKS: [&str; 2] = ["dsu", "lct"];
const ABLATIONS: [&str; 4] = ["supgnn", "dgm", "pgn-mo", "pgn-asym"];

const CLAIMS: [Unchecked<Collection>; 12] = [
    (
        "PGN outperforms GNN, Deep Sets and PGN-NM out of distribution",
        "Mean F₁ of `pgn` above each at n = 50 and 100.",
        |runs| f1(runs, &TASKS, &[50, 100], &["pgn"], &["gnn", "deepsets", "pgn-nm"], above),
    ),
    (
        "Without masks, performance collapses out of distribution",
        "From n = 20 to 100 the F₁ of `pgn-nm` falls by 0.1 or more, and that of `pgn` by less \
         than half as much.",
        no_masks_collapse,
    ),
    (
        "Without masks, pointers fail on larger sets",
        "The pointer accuracy of `pgn-nm` at n = 100 is less than half of that at 20.",
        no_masks_pointers,
    ),
    (
        "PGN-Ptrs is competitive: the learned pointers can be reused",
        "Mean F₁ of `pgn-ptrs` at most 0.07 below that of `pgn`, the largest gap in the paper.",
        |runs| {
            let close = |student, pgn| student >= pgn - 0.07;
            f1(runs, &TASKS, &[20, 50, 100], &["pgn-ptrs"], &["pgn"], close)
        },
    ),
    (
        "Mask accuracies remain consistently high",
        "Mean mask accuracy of `pgn` at least 80 % at every size (the paper's lowest is 82.8 %).",
        |runs| accuracies(runs, 0.8, |scores| scores.mask_accuracy),
    ),
    (
        "The masked PGN models the true pointers to at least 50 %",
        "Mean pointer accuracy of `pgn` at least 50 % at every size.",
        |runs| accuracies(runs, 0.5, |scores| scores.pointer_accuracy),
    ),
    (
        "On LCT, PGN approaches the ground-truth pointers as inputs grow",
        "The gap in mean F₁ from `oracle-ptrs` to `pgn` is smaller at n = 100 than at 20.",
        approaches_oracle,
    ),
    (
        "On LCT at n = 200, PGN catches up with Oracle-Ptrs",
        "Mean F₁ of `pgn` above that of `oracle-ptrs` (the paper: 0.636 and 0.619).",
        |runs| f1(runs, &["lct"], &[200], &["pgn"], &["oracle-ptrs"], above),
    ),
    (
        "The ablations fall below PGN",
        "Mean F₁ of `pgn` above each ablation. The paper shows LCT at n = 100, and says that the \
         other sets mirror it.",
        |runs| f1(runs, &["lct", "dsu"], &[100, 50, 20], &["pgn"], &ABLATIONS, above),
    ),
    ("The ablations outperform GNN", "Mean F₁ above that of `gnn` on LCT at n = 100.", |runs| {
        f1(runs, &["lct"], &[100], &ABLATIONS, &["gnn"], above)
    }),
    (
        "Ours: PGN reaches the paper's own numbers",
        "Our mean for `pgn` is at least the paper's less two of its standard deviations, for F₁ \
         and the accuracy of pointers and masks.",
        within_two_deviations,
    ),
    (
        "Ours: PGN is above counting",
        "Mean difference in F₁ between `pgn` and counting on the same test sequences.",
        above_counting,
    ),
];

/// Compares a number of two models, or two numbers of one (`number` is told which): their means,
/// and in how many of the seeds that both have it holds. `None` where there are no runs.
fn compare(
    runs: &Collection,
    task: &str,
    models: [&str; 2],
    number: impl Fn(usize, &Results) -> Option<f64>,
    holds: impl Fn(f64, f64) -> bool,
    text: impl Fn(f64, f64) -> String,
) -> Option<Check> {
    let mean = |side: usize| {
        let each = runs.of(task, models[side]).filter_map(|run| number(side, run));
        Some(Spread::of(&each.collect::<Vec<_>>())?.mean)
    };
    let (ours, theirs) = (mean(0)?, mean(1)?);
    let pair = |a: &Results| {
        let b = runs.of(task, models[1]).find(|b| b.seed == a.seed)?;
        Some(holds(number(0, a)?, number(1, b)?))
    };
    let pairs: Vec<bool> = runs.of(task, models[0]).filter_map(pair).collect();
    let seeds = (pairs.iter().filter(|&&holds| holds).count(), pairs.len());
    Some(Check {
        text: text(ours, theirs),
        holds: holds(ours, theirs),
        seeds: (!pairs.is_empty()).then_some(seeds),
    })
}

fn above(ours: f64, theirs: f64) -> bool {
    ours > theirs
}

/// Compares the F₁ of each of `models` with that of each of `others`.
fn f1(
    runs: &Collection,
    tasks: &[&str],
    sizes: &[usize],
    models: &[&str],
    others: &[&str],
    holds: fn(f64, f64) -> bool,
) -> Vec<Check> {
    let mut checks = Vec::new();
    for task in tasks {
        for &nodes in sizes {
            for (model, other) in models.iter().flat_map(|m| others.iter().map(move |o| (m, o))) {
                let number = |_, run: &Results| Some(run.at(nodes)?.f1);
                checks.extend(compare(runs, task, [model, other], number, holds, |a, b| {
                    format!("{task} n = {nodes}: `{model}` {a:.3}, `{other}` {b:.3}")
                }));
            }
        }
    }
    checks
}

/// How much F₁ falls from n = 20 to 100.
fn fall(_: usize, run: &Results) -> Option<f64> {
    Some(run.at(20)?.f1 - run.at(100)?.f1)
}

fn no_masks_collapse(runs: &Collection) -> Vec<Check> {
    let collapses = |without: f64, with: f64| without >= 0.1 && with < without / 2.0;
    let check = |task: &&str| {
        let at = |model, nodes| Some(runs.f1(task, model, nodes)?.mean);
        let (near, far) = (at("pgn-nm", 20)?, at("pgn-nm", 100)?);
        let (pgn_near, pgn_far) = (at("pgn", 20)?, at("pgn", 100)?);
        compare(runs, task, ["pgn-nm", "pgn"], fall, collapses, |_, _| {
            format!("{task}: `pgn-nm` {near:.3} → {far:.3}, `pgn` {pgn_near:.3} → {pgn_far:.3}")
        })
    };
    TASKS.iter().filter_map(check).collect()
}

fn no_masks_pointers(runs: &Collection) -> Vec<Check> {
    let check = |task: &&str| {
        let accuracy = |side: usize, run: &Results| run.at([20, 100][side])?.pointer_accuracy;
        let halved = |near: f64, far: f64| far < near / 2.0;
        compare(runs, task, ["pgn-nm"; 2], accuracy, halved, |near, far| {
            format!("{task}: {:.1} % → {:.1} %", 100.0 * near, 100.0 * far)
        })
    };
    TASKS.iter().filter_map(check).collect()
}

/// Whether an accuracy of `pgn` is at least `least` at every size.
fn accuracies(runs: &Collection, least: f64, score: fn(&Scores) -> Option<f64>) -> Vec<Check> {
    let mut checks = Vec::new();
    for task in TASKS {
        for nodes in [20, 50, 100] {
            let number = |_, run: &Results| score(run.at(nodes)?);
            let enough = |ours, _| ours >= least;
            checks.extend(compare(runs, task, ["pgn"; 2], number, enough, |mean, _| {
                format!("{task} n = {nodes}: {:.1} %", 100.0 * mean)
            }));
        }
    }
    checks
}

fn approaches_oracle(runs: &Collection) -> Vec<Check> {
    let gap = |nodes| {
        let oracle = runs.f1("lct", "oracle-ptrs", nodes)?.mean;
        Some(oracle - runs.f1("lct", "pgn", nodes)?.mean)
    };
    let check = || {
        let (near, far) = (gap(20)?, gap(100)?);
        // The gap narrows by what the oracle falls more.
        compare(runs, "lct", ["oracle-ptrs", "pgn"], fall, above, |_, _| {
            format!("lct: {near:.3} at n = 20, {far:.3} at n = 100")
        })
    };
    check().into_iter().collect()
}

fn within_two_deviations(runs: &Collection) -> Vec<Check> {
    type Number = (
        &'static str,
        fn(&Scores) -> Option<f64>,
        fn(&Numbers, &str, &str, usize) -> Option<Spread>,
    );
    const NUMBERS: [Number; 3] = [
        ("F₁", |scores| Some(scores.f1), Numbers::f1),
        ("pointers", |scores| scores.pointer_accuracy, Numbers::pointer_accuracy),
        ("masks", |scores| scores.mask_accuracy, Numbers::mask_accuracy),
    ];
    let mut checks = Vec::new();
    for task in TASKS {
        for (what, score, theirs) in NUMBERS {
            for nodes in [20, 50, 100, 200] {
                let Some(theirs) = theirs(numbers(), task, "pgn", nodes) else { continue };
                let (mean, std) = (theirs.mean, theirs.std.unwrap_or_default());
                let number = |_, run: &Results| score(run.at(nodes)?);
                let reached = |ours, _| ours >= mean - 2.0 * std;
                checks.extend(compare(runs, task, ["pgn"; 2], number, reached, |ours, _| {
                    format!("{task} n = {nodes}, {what}: {ours:.3}, paper {mean:.3} ± {std:.3}")
                }));
            }
        }
    }
    checks
}

fn above_counting(runs: &Collection) -> Vec<Check> {
    let mut checks = Vec::new();
    for task in TASKS {
        for nodes in [20, 50, 100, 200] {
            let difference = |_, run: &Results| {
                let test = run.test.iter().find(|test| test.nodes == nodes)?;
                Some(test.scores.f1 - test.counting_f1?)
            };
            let all: Vec<f64> = runs.of(task, "pgn").filter_map(|run| difference(0, run)).collect();
            let std = Spread::of(&all).and_then(|spread| spread.std).unwrap_or_default();
            let positive = |mean, _| mean > 0.0;
            checks.extend(compare(runs, task, ["pgn"; 2], difference, positive, |mean, _| {
                format!("{task} n = {nodes}: difference {mean:+.3} ± {std:.3}")
            }));
        }
    }
    checks
}
