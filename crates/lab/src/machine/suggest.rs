//! Clauses that make a program provable, found in its runs.

use pgn_check::{Refutation, check_table, not_inductive};
use pgn_machines::{Machine, Trial, candidates};

use crate::Result;

/// Clauses for a program.
#[derive(Clone, Debug)]
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

/// Looks for clauses: what held in random runs, without what the checker finds not to be inductive,
/// and without what the proof does not need. Clauses that the program declares are kept.
///
/// ```
/// use pgn_lab::machine::suggest;
/// use pgn_machines::{Machine, programs};
///
/// let dsu = Machine::new(programs::named("dsu").unwrap())?.with_clauses(Vec::new())?;
/// let found = suggest(&dsu)?;
/// assert!(found.clauses.contains(&"acyclic up".to_owned()));
/// assert_eq!(found.views, Some(21));
/// # Ok::<(), pgn_lab::Error>(())
/// ```
pub fn suggest(machine: &Machine) -> Result<Suggestion> {
    let declared = machine.program().clauses();
    let mut clauses = declared.clone();
    let ordered =
        declared.iter().any(|one| one.starts_with("acyclic ") || one.starts_with("tree "));
    clauses.extend(candidates(machine.program(), TRIAL)?.into_iter().filter(|one| {
        !declared.contains(one)
            && !(ordered && (one.starts_with("acyclic ") || one.starts_with("tree ")))
    }));
    // Without those that fail others may fail, so this is repeated until none does.
    loop {
        match not_inductive(&table(machine, &clauses)?) {
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
    let views = match check_table(&table(machine, &clauses)?) {
        Err(refutation) => return Ok(refuted(clauses, refutation)),
        Ok(report) => report.views,
    };
    let mut size = (clauses.len() - declared.len()).div_ceil(2);
    while size > 0 {
        let mut from = declared.len();
        while from < clauses.len() {
            let mut fewer = clauses.clone();
            let to = (from + size).min(clauses.len());
            fewer.drain(from..to);
            // Without its order, what is left may not even be clauses.
            let proved = table(machine, &fewer).ok().and_then(|table| check_table(&table).ok());
            match proved.is_some_and(|report| report.views == views) {
                true => clauses = fewer,
                false => from = to,
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    Ok(Suggestion { clauses, views: Some(views), refutation: None })
}

fn refuted(clauses: Vec<String>, refutation: Refutation) -> Suggestion {
    Suggestion { clauses, views: None, refutation: Some(refutation) }
}

/// The table of the program under these clauses, for the checker; without a network.
fn table(machine: &Machine, clauses: &[String]) -> Result<String> {
    let machine = machine.with_clauses(clauses.to_vec())?;
    Ok(machine.proof(serde_json::json!({ "k": 8, "rounds": 1, "cap": 6.0 })).to_string())
}
