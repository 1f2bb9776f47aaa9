//! What the paper says about credit and pointers, checked against analyses of our runs.

use pgn_lab::{
    analysis::{Analyses, Analysis, BeyondCounting, Credit, beyond, of_task, tasks},
    collection::{Table, title},
};

use crate::{
    Check, Claim,
    claims::in_their_place,
    tables::{render_claims, render_free_claims},
};

/// How a document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For files and pages.
    Markdown,
    /// For a terminal: aligned columns, in 80 where that is possible.
    Text,
}

/// A document: all tables, then the claims.
pub fn render(analyses: &Analyses, style: Style) -> String {
    let mut text = String::new();
    for task in tasks(analyses) {
        let mut tables: Vec<Table> = beyond(analyses, task).into_iter().collect();
        tables.extend(of_task(analyses, task));
        match style {
            Style::Markdown => {
                text += &format!("## {}\n\n", title(task));
                text.extend(tables.iter().map(Table::markdown));
            }
            Style::Text => {
                text += &format!("{}\n\n", title(task).to_uppercase());
                text.extend(tables.iter().map(Table::text));
            }
        }
    }
    let (claims, free) = (claims(analyses), free_claims(analyses));
    match style {
        Style::Markdown => text + &render_claims(&claims) + &render_free_claims(&free),
        Style::Text if free.is_empty() => text + &claims_in_brief(&claims),
        Style::Text => {
            text += &claims_in_brief(&claims);
            text += "\nThe same with pgn-free in place of pgn:\n";
            text + &claims_in_brief(&free)
        }
    }
}

/// Each claim in a line, with on how many of its checks it holds.
fn claims_in_brief(claims: &[Claim]) -> String {
    let mut text = String::new();
    for claim in claims {
        let holds = claim.checks.iter().filter(|check| check.holds).count();
        let of = claim.checks.len();
        let verdict = if holds == of { "holds" } else { "does not hold" };
        let name = claim.name.replace('`', "");
        text += &format!("{name}\n  {verdict} ({holds} of {of} checks)\n");
    }
    text
}

/// The claims of [`claims`] for models that read their own pointers in training, each in place of the one
/// it is a variant of; none if there are no analyses of `pgn-free`.
pub fn free_claims(analyses: &Analyses) -> Vec<Claim> {
    let runs = in_their_place(&analyses.runs, |run| &mut run.model);
    runs.map_or(Vec::new(), |runs| claims(&Analyses { runs }))
}

/// What the paper says about credit and pointers, each with whether our runs agree.
pub fn claims(analyses: &Analyses) -> Vec<Claim> {
    let all = [
        beyond_counting(analyses),
        amplifies(analyses),
        amplifies_live(analyses),
        valid_chain(analyses),
        shallower(analyses),
    ];
    all.into_iter().filter(|claim| !claim.checks.is_empty()).collect()
}

fn beyond_counting(analyses: &Analyses) -> Claim {
    Claim {
        name: "Ours: PGN knows more than how often u and v have appeared",
        criterion: "Not a claim of the paper. Among operations whose operands have appeared equally \
                    often, the share of answers 1 where the truth is 1 minus the share where it \
                    is 0 is larger for `pgn` than for `gnn` and `deepsets`.",
        checks: ["gnn", "deepsets"]
            .iter()
            .flat_map(|other| larger(analyses, other, |run| &run.beyond, gain))
            .collect(),
    }
}

fn amplifies(analyses: &Analyses) -> Claim {
    Claim {
        name: "PGN amplifies the credit of relevant nodes (appendix D)",
        criterion: "The share of the readout that comes from u, v and the other nodes with mask \
                    0, mean over the rollout, is larger for `pgn` than for `gnn`.",
        checks: larger(analyses, "gnn", credits, |credit| {
            (credit.nodes, credit.both.mean.relevant())
        }),
    }
}

fn amplifies_live(analyses: &Analyses) -> Claim {
    Claim {
        name: "Ours: the same without idle dimensions",
        criterion: "The same share (not a claim of the paper), counting only dimensions in which \
                    some node is above 0, or which belong to z. In an idle dimension all nodes \
                    tie, so its credit goes to an arbitrary node.",
        checks: larger(analyses, "gnn", credits, |credit| {
            (credit.nodes, credit.live.mean.relevant())
        }),
    }
}

fn gain(beyond: &BeyondCounting) -> (usize, f64) {
    (beyond.nodes, beyond.gain())
}

fn credits(run: &Analysis) -> &[Credit] {
    &run.credit
}

/// Whether a number is larger for `pgn` than for another model, at every task and size.
fn larger<T>(
    analyses: &Analyses,
    other: &str,
    parts: fn(&Analysis) -> &[T],
    number: fn(&T) -> (usize, f64),
) -> Vec<Check> {
    let mut checks = Vec::new();
    for task in tasks(analyses) {
        let runs = |model| analyses.of(task, model).collect::<Vec<_>>();
        let (others, pgn) = (runs(other), runs("pgn"));
        if others.is_empty() || pgn.is_empty() {
            continue;
        }
        let sizes = others.iter().chain(&pgn).map(|run| parts(run).len()).min().unwrap_or(0);
        for size in 0..sizes {
            let of = |run: &Analysis| number(&parts(run)[size]).1;
            let mean = |runs: &[&Analysis]| {
                runs.iter().map(|run| of(run)).sum::<f64>() / runs.len() as f64
            };
            let (theirs, ours) = (mean(&others), mean(&pgn));
            let of_seed = |pgn: &&Analysis| {
                let other = others.iter().find(|other| other.seed == pgn.seed)?;
                Some(of(pgn) > of(other))
            };
            let seeds: Vec<bool> = pgn.iter().filter_map(of_seed).collect();
            let nodes = number(&parts(pgn[0])[size]).0;
            checks.push(Check {
                text: format!("{task} n = {nodes}: `pgn` {ours:.3}, `{other}` {theirs:.3}"),
                holds: ours > theirs,
                seeds: Some((seeds.iter().filter(|&&holds| holds).count(), seeds.len())),
            });
        }
    }
    checks
}

fn valid_chain(analyses: &Analyses) -> Claim {
    let mut checks = Vec::new();
    for run in analyses.of("dsu", "pgn") {
        for chain in &run.chains {
            let (valid, steps) = (chain.valid_steps(), chain.steps.len());
            checks.push(Check {
                text: format!(
                    "seed {}, n = {}: valid after {valid} of {steps} operations",
                    run.seed, chain.nodes
                ),
                holds: valid == steps,
                seeds: None,
            });
        }
    }
    Claim {
        name: "On the chain the pointers are a valid disjoint-set union at all times (figure 4)",
        criterion: "After every operation of the chain union(i, i + 1) the same nodes are \
                    connected as in the truth, and every pointer leads to a root. The paper does \
                    not state the length of its chain.",
        checks,
    }
}

fn shallower(analyses: &Analyses) -> Claim {
    let mut checks = Vec::new();
    for run in analyses.of("dsu", "pgn") {
        for chain in &run.chains {
            let Some(last) = chain.steps.last() else { continue };
            checks.push(Check {
                text: format!(
                    "seed {}, n = {}: depth {} at the end, {} in the truth",
                    run.seed, chain.nodes, last.model_depth, last.truth_depth
                ),
                holds: 2 * last.model_depth <= last.truth_depth,
                seeds: None,
            });
        }
    }
    Claim {
        name: "On the chain the pointers are half as deep as the truth's (figure 4)",
        criterion: "After the last operation the largest depth is at most half of the truth's. \
                    Pointers that are not valid may be shallow because something is missing, so \
                    this means little where the claim before does not hold.",
        checks,
    }
}
