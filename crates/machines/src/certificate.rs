//! Certificates: that a function from views to actions is the program, for every n.

use serde::{Deserialize, Serialize};

use crate::{Action, Machine, View};

/// The outcome of comparing a policy, such as a network, with a program on every consistent view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Certificate {
    /// The program's name.
    pub program: String,
    /// The program's version.
    pub version: u32,
    /// Whether the policy's action was the program's on every view.
    pub certified: bool,
    /// What is proved, and on what assumptions.
    pub statement: String,
    /// What holds before every micro-step.
    pub clauses: Vec<String>,
    /// What calls must satisfy, by operation; others are refused before the first micro-step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// Number of consistent views on which the program is defined.
    pub views: usize,
    /// On how many of them the policy does what the program does.
    pub right: usize,
    /// Both counts by state, with what each state looks at.
    pub states: Vec<StateReport>,
    /// The first views on which they differ, at most [`Certificate::MOST_FAILURES`].
    pub failures: Vec<Failure>,
    /// A hash of the weights, which the caller fills in.
    pub weights: Option<String>,
}

/// The part of a certificate that is about one state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StateReport {
    /// The state.
    pub state: String,
    /// What its lens shows.
    pub lens: Vec<String>,
    /// Number of consistent views.
    pub views: usize,
    /// On how many of them the policy is right.
    pub right: usize,
}

/// A view on which the policy differs from the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// A picture of the view.
    pub view: String,
    /// What the program does.
    pub expected: String,
    /// What the policy does.
    pub found: String,
}

impl Certificate {
    /// How many failures are kept.
    pub const MOST_FAILURES: usize = 50;
}

/// Compares a policy with the program on every consistent view.
///
/// ```
/// use std::sync::Arc;
/// use pgn_machines::{Machine, certify, programs::dsu};
///
/// let machine = Machine::new(Arc::new(dsu()))?;
/// assert!(certify(&machine, |view| machine.action(view).unwrap()).certified);
///
/// // A policy that never ends a climb:
/// let damaged = |view: &_| pgn_machines::Action { next: 1, ..machine.action(view).unwrap() };
/// let certificate = certify(&machine, damaged);
/// assert!(!certificate.certified && !certificate.failures.is_empty());
/// # Ok::<(), pgn_machines::Error>(())
/// ```
pub fn certify(machine: &Machine, policy: impl FnMut(&View) -> Action) -> Certificate {
    certify_on(machine, machine.consistent(), policy)
}

/// [`certify`] on views that have been enumerated already, by [`Machine::consistent`].
pub fn certify_on(
    machine: &Machine,
    pairs: &[(View, Action)],
    mut policy: impl FnMut(&View) -> Action,
) -> Certificate {
    let signature = machine.signature();
    let mut states: Vec<StateReport> = signature
        .states
        .iter()
        .zip(machine.lenses())
        .map(|(state, lens)| StateReport {
            state: state.name.clone(),
            lens: lens.text(signature),
            views: 0,
            right: 0,
        })
        .collect();
    let mut failures = Vec::new();
    for (view, expected) in pairs {
        let found = policy(view);
        let report = &mut states[usize::from(view.state)];
        report.views += 1;
        if found == *expected {
            report.right += 1;
        } else if failures.len() < Certificate::MOST_FAILURES {
            failures.push(Failure {
                view: view.picture(signature),
                expected: expected.picture(signature),
                found: found.picture(signature),
            });
        }
    }
    states.retain(|report| report.views > 0);
    let right = states.iter().map(|report| report.right).sum();
    let certified = right == pairs.len() && !pairs.is_empty();
    Certificate {
        program: signature.name.clone(),
        version: signature.version,
        certified,
        statement: statement(machine, pairs.len(), right),
        clauses: machine.program().clauses(),
        refused: signature
            .operations
            .iter()
            .flat_map(|one| one.requires.iter().map(|why| format!("{}: {why}", one.name)))
            .collect(),
        views: pairs.len(),
        right,
        states,
        failures,
        weights: None,
    }
}

fn statement(machine: &Machine, views: usize, right: usize) -> String {
    let signature = machine.signature();
    let (name, version) = (&signature.name, signature.version);
    if right < views {
        return format!(
            "Not certified: the model does what program `{name}` (version {version}) does on \
             {right} of {views} consistent views. Nothing is proved about its runs."
        );
    }
    format!(
        "On each of the {views} views that the clauses allow and on which program `{name}` \
         (version {version}) is defined, the model's action is the program's."
    )
}
