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
    let all = [
        pgn_above_baselines(runs),
        no_masks_collapse(runs),
        no_masks_pointers(runs),
        pointers_reusable(runs),
        masks_accurate(runs),
        pointers_half_right(runs),
        approaches_oracle(runs),
        catches_oracle(runs),
        ablations_below(runs),
        ablations_above_gnn(runs),
        within_two_deviations(runs),
        above_counting(runs),
    ];
    all.into_iter().filter(|claim| !claim.checks.is_empty()).collect()
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

fn f1(scores: &Scores) -> Option<f64> {
    Some(scores.f1)
}

/// `model` above `other` at n = `nodes`.
fn above(runs: &Collection, task: &str, nodes: usize, model: &str, other: &str) -> Option<Check> {
    let ours = runs.f1(task, model, nodes)?.mean;
    let theirs = runs.f1(task, other, nodes)?.mean;
    Some(Check {
        text: format!("{task} n = {nodes}: `{model}` {ours:.3}, `{other}` {theirs:.3}"),
        holds: ours > theirs,
        seeds: paired(runs, task, [model, other], |a, b| Some(a.at(nodes)?.f1 > b.at(nodes)?.f1)),
    })
}

/// In how many of the seeds that both models have a comparison holds.
fn paired(
    runs: &Collection,
    task: &str,
    models: [&str; 2],
    holds: impl Fn(&Results, &Results) -> Option<bool>,
) -> Option<(usize, usize)> {
    let pairs = runs.of(task, models[0]).filter_map(|a| {
        let b = runs.of(task, models[1]).find(|b| b.seed == a.seed)?;
        holds(a, b)
    });
    let pairs: Vec<bool> = pairs.collect();
    (!pairs.is_empty()).then(|| (pairs.iter().filter(|&&holds| holds).count(), pairs.len()))
}

fn pgn_above_baselines(runs: &Collection) -> Claim {
    let mut checks = Vec::new();
    for task in TASKS {
        for nodes in [50, 100] {
            for other in ["gnn", "deepsets", "pgn-nm"] {
                checks.extend(above(runs, task, nodes, "pgn", other));
            }
        }
    }
    Claim {
        name: "PGN outperforms GNN, Deep Sets and PGN-NM out of distribution",
        criterion: "Mean F₁ of `pgn` above each at n = 50 and 100.",
        checks,
    }
}

fn no_masks_collapse(runs: &Collection) -> Claim {
    let collapses = |without: f64, with: f64| without >= 0.1 && with < without / 2.0;
    let check = |task: &&str| {
        let at = |model, nodes| Some(runs.f1(task, model, nodes)?.mean);
        let (near, far) = (at("pgn-nm", 20)?, at("pgn-nm", 100)?);
        let (pgn_near, pgn_far) = (at("pgn", 20)?, at("pgn", 100)?);
        Some(Check {
            text: format!(
                "{task}: `pgn-nm` {near:.3} → {far:.3}, `pgn` {pgn_near:.3} → {pgn_far:.3}"
            ),
            holds: collapses(near - far, pgn_near - pgn_far),
            seeds: paired(runs, task, ["pgn-nm", "pgn"], |nm, pgn| {
                let fall = |run: &Results| Some(run.at(20)?.f1 - run.at(100)?.f1);
                Some(collapses(fall(nm)?, fall(pgn)?))
            }),
        })
    };
    Claim {
        name: "Without masks, performance collapses out of distribution",
        criterion: "From n = 20 to 100 the F₁ of `pgn-nm` falls by 0.1 or more, and that of \
                    `pgn` by less than half as much.",
        checks: TASKS.iter().filter_map(check).collect(),
    }
}

fn no_masks_pointers(runs: &Collection) -> Claim {
    let check = |task: &&str| {
        let at = |n| Some(runs.spread(task, "pgn-nm", n, |s| s.pointer_accuracy)?.mean);
        let (near, far) = (at(20)?, at(100)?);
        Some(Check {
            text: format!("{task}: {:.1} % → {:.1} %", 100.0 * near, 100.0 * far),
            holds: far < near / 2.0,
            seeds: paired(runs, task, ["pgn-nm", "pgn-nm"], |run, _| {
                let at = |n: usize| run.at(n)?.pointer_accuracy;
                Some(at(100)? < at(20)? / 2.0)
            }),
        })
    };
    Claim {
        name: "Without masks, pointers fail on larger sets",
        criterion: "The pointer accuracy of `pgn-nm` at n = 100 is less than half of that at 20.",
        checks: TASKS.iter().filter_map(check).collect(),
    }
}

fn pointers_reusable(runs: &Collection) -> Claim {
    let mut checks = Vec::new();
    for task in TASKS {
        for nodes in [20, 50, 100] {
            let at = |model| Some(runs.f1(task, model, nodes)?.mean);
            let (Some(student), Some(pgn)) = (at("pgn-ptrs"), at("pgn")) else { continue };
            checks.push(Check {
                text: format!("{task} n = {nodes}: `pgn-ptrs` {student:.3}, `pgn` {pgn:.3}"),
                holds: student >= pgn - 0.07,
                seeds: paired(runs, task, ["pgn-ptrs", "pgn"], |a, b| {
                    Some(a.at(nodes)?.f1 >= b.at(nodes)?.f1 - 0.07)
                }),
            });
        }
    }
    Claim {
        name: "PGN-Ptrs is competitive: the learned pointers can be reused",
        criterion: "Mean F₁ of `pgn-ptrs` at most 0.07 below that of `pgn`, the largest gap in \
                    the paper.",
        checks,
    }
}

/// Checks that an accuracy of `pgn` is at least `least` at every size.
fn accuracy_checks(runs: &Collection, least: f64, score: fn(&Scores) -> Option<f64>) -> Vec<Check> {
    let mut checks = Vec::new();
    for task in TASKS {
        for nodes in [20, 50, 100] {
            let Some(spread) = runs.spread(task, "pgn", nodes, score) else { continue };
            let each = runs.of(task, "pgn").filter_map(|run| score(run.at(nodes)?));
            let each: Vec<f64> = each.collect();
            checks.push(Check {
                text: format!("{task} n = {nodes}: {:.1} %", 100.0 * spread.mean),
                holds: spread.mean >= least,
                seeds: Some((each.iter().filter(|&&v| v >= least).count(), each.len())),
            });
        }
    }
    checks
}

fn masks_accurate(runs: &Collection) -> Claim {
    Claim {
        name: "Mask accuracies remain consistently high",
        criterion: "Mean mask accuracy of `pgn` at least 80 % at every size (the paper's lowest \
                    is 82.8 %).",
        checks: accuracy_checks(runs, 0.8, |scores| scores.mask_accuracy),
    }
}

fn pointers_half_right(runs: &Collection) -> Claim {
    Claim {
        name: "The masked PGN models the true pointers to at least 50 %",
        criterion: "Mean pointer accuracy of `pgn` at least 50 % at every size.",
        checks: accuracy_checks(runs, 0.5, |scores| scores.pointer_accuracy),
    }
}

fn approaches_oracle(runs: &Collection) -> Claim {
    let gap = |nodes| {
        let oracle = runs.f1("lct", "oracle-ptrs", nodes)?.mean;
        Some(oracle - runs.f1("lct", "pgn", nodes)?.mean)
    };
    let check = || {
        let (near, far) = (gap(20)?, gap(100)?);
        Some(Check {
            text: format!("lct: {near:.3} at n = 20, {far:.3} at n = 100"),
            holds: far < near,
            seeds: paired(runs, "lct", ["pgn", "oracle-ptrs"], |pgn, oracle| {
                let gap = |n| Some(oracle.at(n)?.f1 - pgn.at(n)?.f1);
                Some(gap(100)? < gap(20)?)
            }),
        })
    };
    Claim {
        name: "On LCT, PGN approaches the ground-truth pointers as inputs grow",
        criterion: "The gap in mean F₁ from `oracle-ptrs` to `pgn` is smaller at n = 100 than \
                    at 20.",
        checks: check().into_iter().collect(),
    }
}

fn catches_oracle(runs: &Collection) -> Claim {
    Claim {
        name: "On LCT at n = 200, PGN catches up with Oracle-Ptrs",
        criterion: "Mean F₁ of `pgn` above that of `oracle-ptrs` (the paper: 0.636 and 0.619).",
        checks: above(runs, "lct", 200, "pgn", "oracle-ptrs").into_iter().collect(),
    }
}

const ABLATIONS: [&str; 4] = ["supgnn", "dgm", "pgn-mo", "pgn-asym"];

fn ablations_below(runs: &Collection) -> Claim {
    let mut checks = Vec::new();
    for task in ["lct", "dsu"] {
        for nodes in [100, 50, 20] {
            for ablation in ABLATIONS {
                checks.extend(above(runs, task, nodes, "pgn", ablation));
            }
        }
    }
    Claim {
        name: "The ablations fall below PGN",
        criterion: "Mean F₁ of `pgn` above each ablation. The paper shows LCT at n = 100, and \
                    says that the other sets mirror it.",
        checks,
    }
}

fn ablations_above_gnn(runs: &Collection) -> Claim {
    let mut checks = Vec::new();
    for ablation in ABLATIONS {
        checks.extend(above(runs, "lct", 100, ablation, "gnn"));
    }
    Claim {
        name: "The ablations outperform GNN",
        criterion: "Mean F₁ above that of `gnn` on LCT at n = 100.",
        checks,
    }
}

fn within_two_deviations(runs: &Collection) -> Claim {
    type Number = (
        &'static str,
        fn(&Scores) -> Option<f64>,
        fn(&Numbers, &str, &str, usize) -> Option<Spread>,
    );
    const NUMBERS: [Number; 3] = [
        ("F₁", f1, Numbers::f1),
        ("pointers", |scores| scores.pointer_accuracy, Numbers::pointer_accuracy),
        ("masks", |scores| scores.mask_accuracy, Numbers::mask_accuracy),
    ];
    let mut checks = Vec::new();
    for task in TASKS {
        for (what, score, theirs) in NUMBERS {
            for nodes in [20, 50, 100, 200] {
                let Some(theirs) = theirs(numbers(), task, "pgn", nodes) else { continue };
                let Some(ours) = runs.spread(task, "pgn", nodes, score) else { continue };
                let (mean, std) = (theirs.mean, theirs.std.unwrap_or_default());
                let each = runs.of(task, "pgn").filter_map(|run| score(run.at(nodes)?));
                let each: Vec<f64> = each.collect();
                let reached = |ours: f64| ours >= mean - 2.0 * std;
                checks.push(Check {
                    text: format!(
                        "{task} n = {nodes}, {what}: {:.3}, paper {mean:.3} ± {std:.3}",
                        ours.mean
                    ),
                    holds: reached(ours.mean),
                    seeds: Some((each.iter().filter(|&&v| reached(v)).count(), each.len())),
                });
            }
        }
    }
    Claim {
        name: "Ours: PGN reaches the paper's own numbers",
        criterion: "Our mean for `pgn` is at least the paper's less two of its standard \
                    deviations, for F₁ and the accuracy of pointers and masks.",
        checks,
    }
}

fn above_counting(runs: &Collection) -> Claim {
    let mut checks = Vec::new();
    for task in TASKS {
        for nodes in [20, 50, 100, 200] {
            let at = |run: &Results| {
                let test = run.test.iter().find(|test| test.nodes == nodes)?;
                Some((test.scores.f1, test.counting_f1?))
            };
            let pairs: Vec<(f64, f64)> = runs.of(task, "pgn").filter_map(at).collect();
            let differences: Vec<f64> = pairs.iter().map(|(pgn, rule)| pgn - rule).collect();
            let Some(Spread { mean, std, count }) = Spread::of(&differences) else { continue };
            checks.push(Check {
                text: format!(
                    "{task} n = {nodes}: difference {mean:+.3} ± {:.3}",
                    std.unwrap_or_default()
                ),
                holds: mean > 0.0,
                seeds: Some((differences.iter().filter(|&&one| one > 0.0).count(), count)),
            });
        }
    }
    Claim {
        name: "Ours: PGN is above counting",
        criterion: "Mean difference in F₁ between `pgn` and counting on the same test sequences.",
        checks,
    }
}
