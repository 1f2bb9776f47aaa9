//! Clauses that make a program provable, found in its runs.

use pgn_check::{Refutation, check_table, not_inductive};
use std::sync::Arc;

use pgn_machines::{Machine, Program, Trial, candidates, reclaused, that_hold};

use crate::Result;

/// Clauses for a program.
#[derive(Clone, Debug, Default)]
pub struct Suggestion {
    /// Clauses that are inductive together; as few as prove what all of them prove.
    pub clauses: Vec<String>,
    /// Views that they allow, if they prove the program.
    pub views: Option<usize>,
    /// What the checker has against them otherwise.
    pub refutation: Option<Refutation>,
}

/// Random runs in which candidates are looked for.
const TRIAL: Trial = Trial { sequences: 60, nodes: 7, operations: 40, seed: 0 };

/// Random runs in which clauses that prove nothing are tested.
const LARGE: Trial = Trial { sequences: 400, nodes: 10, operations: 60, seed: 1 };

/// Looks for clauses: what held in random runs, without what the checker finds not to be inductive,
/// and without what the proof does not need. Clauses that the program declares are kept. If they
/// prove nothing, they are at least such that larger runs do not refute them.
///
/// ```
/// use pgn_lab::machine::suggest;
/// use pgn_machines::{programs, reclaused};
///
/// let dsu = reclaused(&programs::named("dsu").unwrap(), Vec::new());
/// let found = suggest(&dsu)?;
/// assert!(found.clauses.contains(&"acyclic up".to_owned()));
/// assert_eq!(found.views, Some(21));
/// # Ok::<(), pgn_lab::Error>(())
/// ```
pub fn suggest(program: &Arc<dyn Program>) -> Result<Suggestion> {
    Ok(suggest_first(std::slice::from_ref(program))?.1)
}

/// [`suggest`] for the first of several programs that is proved; if none is, for the first.
pub fn suggest_first(programs: &[Arc<dyn Program>]) -> Result<(usize, Suggestion)> {
    let mut failed = None;
    for (number, program) in programs.iter().enumerate() {
        match attempt(program)? {
            (found, _) if found.refutation.is_none() => return Ok((number, found)),
            other => failed = failed.or(Some(other)),
        }
    }
    let (Some((mut found, candidates)), [program, ..]) = (failed, programs) else {
        return Ok((0, Suggestion::default()));
    };
    // Nothing is proved. What is true leaves out views that do not occur all the same.
    let declared = program.clauses();
    let held = that_hold(&**program, with(&declared, &candidates), LARGE)?;
    let views = |clauses: &[String]| {
        Machine::new(reclaused(program, clauses.to_vec())).map(|it| it.consistent().len())
    };
    let least = views(&held)?;
    found.clauses = fewest(held, 0, 16, &|fewer| views(fewer).is_ok_and(|views| views == least));
    Ok((0, found))
}

/// What was found, and the candidates that it was found among.
fn attempt(program: &Arc<dyn Program>) -> Result<(Suggestion, Vec<String>)> {
    let (mut best, mut failed) = (None, Ok(Default::default()));
    for candidates in candidates(&**program, TRIAL)? {
        let found = match among(program, &candidates) {
            Ok(found) => found,
            // With another order, there may be fewer views.
            Err(error) => {
                failed = Err(error);
                continue;
            }
        };
        if found.refutation.is_none() {
            return Ok((found, candidates));
        }
        // Whoever got as far as to a view that is not in the table has an order that holds.
        let far = |found: &Suggestion| {
            found.refutation.as_ref().is_some_and(|one| one.part == "coverage")
        };
        if best.as_ref().is_none_or(|best: &(_, Suggestion)| far(&found) && !far(&best.1)) {
            best = Some((candidates, found));
        }
    }
    best.map_or(failed, |(candidates, found)| Ok((found, candidates)))
}

/// What is declared, with candidates that fit it.
fn with(declared: &[String], candidates: &[String]) -> Vec<String> {
    let is_order = |one: &str| one.starts_with("acyclic ") || one.starts_with("tree ");
    let ordered = declared.iter().any(|one| is_order(one));
    let fits = |one: &&String| !(declared.contains(one) || ordered && is_order(one));
    declared.iter().chain(candidates.iter().filter(fits)).cloned().collect()
}

/// Without what can be left out, parts of at least `finest` clauses first; the first `kept` stay.
fn fewest(
    mut clauses: Vec<String>,
    kept: usize,
    finest: usize,
    enough: &dyn Fn(&[String]) -> bool,
) -> Vec<String> {
    let mut size = (clauses.len() - kept).div_ceil(2);
    while size >= finest {
        let mut from = kept;
        while from < clauses.len() {
            let mut fewer = clauses.clone();
            fewer.drain(from..(from + size).min(clauses.len()));
            // Without its order, what is left may not even be clauses.
            if enough(&fewer) {
                clauses = fewer;
            } else {
                from = (from + size).min(clauses.len());
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    clauses
}

fn among(program: &Arc<dyn Program>, candidates: &[String]) -> Result<Suggestion> {
    let declared = program.clauses();
    let mut clauses = with(&declared, candidates);
    // Without those that fail others may fail, so this is repeated until none does.
    loop {
        match not_inductive(&table(program, &clauses)?) {
            Err(refutation) => return Ok(refuted(clauses, refutation)),
            Ok(broken) => {
                let before = clauses.len();
                clauses.retain(|one| declared.contains(one) || !broken.contains(one));
                if clauses.len() == before {
                    break;
                }
            }
        }
    }
    let views = match check_table(&table(program, &clauses)?) {
        Err(refutation) => return Ok(refuted(clauses, refutation)),
        Ok(report) => report.views,
    };
    let proved = |fewer: &[String]| {
        let report = table(program, fewer).ok().and_then(|table| check_table(&table).ok());
        report.is_some_and(|report| report.views == views)
    };
    let clauses = fewest(clauses, declared.len(), 1, &proved);
    Ok(Suggestion { clauses, views: Some(views), refutation: None })
}

fn refuted(clauses: Vec<String>, refutation: Refutation) -> Suggestion {
    Suggestion { clauses, views: None, refutation: Some(refutation) }
}

/// The table of the program under these clauses, for the checker; without a network.
fn table(program: &Arc<dyn Program>, clauses: &[String]) -> Result<String> {
    let machine = Machine::new(reclaused(program, clauses.to_vec()))?;
    Ok(machine.proof(serde_json::json!({ "k": 8, "rounds": 1, "cap": 6.0 })).to_string())
}
