//! The paper's claims, each by name, checked against our runs.
//!
//! A claim is a list of checks: comparisons of means that either hold or do not. Where the
//! paper's words are not a number, the criterion says what was made of them.

use pgn_lab::{Collection, Results, Scores};

use crate::numbers;

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
    /// `holds`, `does not hold`, or in how many comparisons it does.
    pub fn verdict(&self) -> String {
        let checked = self.checks.len();
        match self.checks.iter().filter(|check| check.holds).count() {
            holds if holds == checked => "holds".to_owned(),
            0 => "does not hold".to_owned(),
            holds => format!("holds in {holds} of {checked} comparisons"),
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
        at_least_the_paper(runs),
    ];
    all.into_iter().filter(|claim| !claim.checks.is_empty()).collect()
}

/// The same of models that read their own pointers in training, each in place of the one it
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
    let check = |task: &&str| {
        let at = |model, nodes| Some(runs.f1(task, model, nodes)?.mean);
        let (near, far) = (at("pgn-nm", 20)?, at("pgn-nm", 100)?);
        let (pgn_near, pgn_far) = (at("pgn", 20)?, at("pgn", 100)?);
        Some(Check {
            text: format!(
                "{task}: `pgn-nm` {near:.3} → {far:.3}, `pgn` {pgn_near:.3} → {pgn_far:.3}"
            ),
            holds: near - far >= 0.1 && pgn_near - pgn_far < (near - far) / 2.0,
            seeds: None,
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
            seeds: None,
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

fn at_least_the_paper(runs: &Collection) -> Claim {
    let mut checks = Vec::new();
    for task in TASKS {
        for nodes in [20, 50, 100, 200] {
            let Some(theirs) = numbers().f1(task, "pgn", nodes) else { continue };
            let Some(ours) = runs.f1(task, "pgn", nodes) else { continue };
            let each: Vec<f64> =
                runs.of(task, "pgn").filter_map(|run| f1(run.at(nodes)?)).collect();
            checks.push(Check {
                text: format!("{task} n = {nodes}: {:.3}, paper {:.3}", ours.mean, theirs.mean),
                holds: ours.mean >= theirs.mean,
                seeds: Some((each.iter().filter(|&&v| v >= theirs.mean).count(), each.len())),
            });
        }
    }
    Claim {
        name: "Ours: PGN reaches the paper's own F₁",
        criterion: "Our mean F₁ of `pgn` at least the paper's (not a claim of the paper, but \
                    the first question about a reproduction).",
        checks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgn_lab::{Spread, TestScores};

    /// Runs that score exactly what the paper says.
    fn the_papers_own() -> Collection {
        let mut runs = Vec::new();
        for task in TASKS {
            for &model in pgn_engine::Config::PRESETS {
                let mut test = Vec::new();
                for nodes in [20, 50, 100, 200] {
                    let Some(f1) = numbers().f1(task, model, nodes) else { continue };
                    let accuracy = |spread: Option<Spread>| spread.map(|s| s.mean);
                    let scores = Scores {
                        f1: f1.mean,
                        pointer_accuracy: accuracy(numbers().pointer_accuracy(task, model, nodes)),
                        mask_accuracy: accuracy(numbers().mask_accuracy(task, model, nodes)),
                        ..Scores::default()
                    };
                    test.push(TestScores { nodes, sequences: 35, scores, ..TestScores::default() });
                }
                runs.push(Results {
                    task: task.to_owned(),
                    model: model.to_owned(),
                    seed: 0,
                    epochs: 5000,
                    test,
                    ..Results::default()
                });
            }
        }
        Collection { runs }
    }

    /// The criteria are fair only if the paper's own numbers meet them.
    #[test]
    fn the_papers_numbers_bear_out_its_claims() {
        let claims = claims(&the_papers_own());
        assert_eq!(claims.len(), 11);
        for claim in &claims {
            for check in &claim.checks {
                assert!(check.holds, "{}: {}", claim.name, check.text);
            }
        }
        assert_eq!(claims[0].checks.len(), 12);
        let text = crate::tables::render(&the_papers_own());
        assert!(text.contains("| `pgn` | 0.895 | 0.895 ± 0.006 | 0.887 |"), "{text}");
        assert!(text.contains("| pointers `pgn` | 76.9 % | 76.9 ± 3.3 % |"), "{text}");
        assert!(!text.contains("**no**"));
    }

    #[test]
    fn a_claim_that_does_not_hold_says_so() {
        let mut runs = the_papers_own();
        for run in runs.runs.iter_mut().filter(|run| run.task == "dsu" && run.model == "pgn") {
            run.test.iter_mut().for_each(|test| test.scores.f1 = 0.6);
        }
        let claims = claims(&runs);
        let broken = claims[0].checks.iter().filter(|check| !check.holds).count();
        // Against gnn at both sizes, deepsets at 50, pgn-nm at 50.
        assert_eq!(broken, 4);
        let text = crate::tables::render(&runs);
        assert!(text.contains("out of distribution: holds in 8 of 12 comparisons"), "{text}");
        assert!(text.contains("- **no**: dsu n = 50: `pgn` 0.600, `gnn` 0.851 (0 of 1)"), "{text}");
    }

    #[test]
    fn free_models_take_the_place_of_the_forced_ones() {
        let mut runs = the_papers_own();
        assert!(free_claims(&runs).is_empty());
        let pgn = runs.runs.iter().filter(|run| run.model == "pgn" && run.task == "lct");
        let free = pgn.cloned().map(|mut run| {
            run.model = "pgn-free".into();
            run.test.iter_mut().for_each(|test| test.scores.f1 += 0.1);
            run
        });
        let free: Vec<Results> = free.collect();
        runs.runs.extend(free);
        let claims = free_claims(&runs);
        let last = claims.last().unwrap();
        assert_eq!(last.checks.len(), 4, "only the task that there are runs for");
        assert_eq!(last.checks[3].text, "lct n = 200: 0.736, paper 0.636");
        let text = crate::tables::render(&runs);
        assert!(text.contains("## The claims, for models that read their own pointers"), "{text}");
    }

    #[test]
    fn nothing_is_claimed_without_runs() {
        assert!(claims(&Collection::default()).is_empty());
    }
}
