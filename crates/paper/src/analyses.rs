//! What the paper says about credit and pointers, checked against analyses of our runs.

use pgn_lab::{
    analysis::{Analyses, Analysis, BeyondCounting, Chain, Credit, beyond, of_task, tasks},
    collection::{Table, title},
};

use crate::{
    Check, Claim,
    claims::{Unchecked, checked, in_their_place},
    tables::render_claims,
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
        Style::Markdown => text + &render_claims(&claims, &free),
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
    checked(&CLAIMS, analyses)
}

const CLAIMS: [Unchecked<Analyses>; 5] = [
    (
        "Ours: PGN knows more than how often u and v have appeared",
        "Not a claim of the paper. Among operations whose operands have appeared equally often, \
         the share of answers 1 where the truth is 1 minus the share where it is 0 is larger for \
         `pgn` than for `gnn` and `deepsets`.",
        |analyses| {
            let gain = |beyond: &BeyondCounting| (beyond.nodes, beyond.gain());
            let others = ["gnn", "deepsets"].iter();
            others.flat_map(|other| larger(analyses, other, |run| &run.beyond, gain)).collect()
        },
    ),
    (
        "PGN amplifies the credit of relevant nodes (appendix D)",
        "The share of the readout that comes from u, v and the other nodes with mask 0, mean over \
         the rollout, is larger for `pgn` than for `gnn`.",
        |analyses| {
            let both = |credit: &Credit| (credit.nodes, credit.both.mean.relevant());
            larger(analyses, "gnn", |run| &run.credit, both)
        },
    ),
    (
        "Ours: the same without idle dimensions",
        "The same share (not a claim of the paper), counting only dimensions in which some node \
         is above 0, or which belong to z. In an idle dimension all nodes tie, so its credit goes \
         to an arbitrary node.",
        |analyses| {
            let live = |credit: &Credit| (credit.nodes, credit.live.mean.relevant());
            larger(analyses, "gnn", |run| &run.credit, live)
        },
    ),
    (
        "On the chain the pointers are a valid disjoint-set union at all times (figure 4)",
        "After every operation of the chain union(i, i + 1) the same nodes are connected as in the \
         truth, and every pointer leads to a root. The paper does not state the length of its \
         chain.",
        |analyses| {
            on_chains(analyses, |chain| {
                let (valid, steps) = (chain.valid_steps(), chain.steps.len());
                Some((valid == steps, format!("valid after {valid} of {steps} operations")))
            })
        },
    ),
    (
        "On the chain the pointers are half as deep as the truth's (figure 4)",
        "After the last operation the largest depth is at most half of the truth's. Pointers that \
         are not valid may be shallow because something is missing, so this means little where \
         the claim before does not hold.",
        |analyses| {
            on_chains(analyses, |chain| {
                let last = chain.steps.last()?;
                let (model, truth) = (last.model_depth, last.truth_depth);
                let text = format!("depth {model} at the end, {truth} in the truth");
                Some((2 * model <= truth, text))
            })
        },
    ),
];

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

/// Whether something holds of each of the chains of `pgn`, and what was found.
fn on_chains(analyses: &Analyses, found: fn(&Chain) -> Option<(bool, String)>) -> Vec<Check> {
    let chains = |run: &'_ Analysis| {
        let check = |chain: &Chain| {
            let (holds, text) = found(chain)?;
            let text = format!("seed {}, n = {}: {text}", run.seed, chain.nodes);
            Some(Check { text, holds, seeds: None })
        };
        run.chains.iter().filter_map(check).collect::<Vec<_>>()
    };
    analyses.of("dsu", "pgn").flat_map(chains).collect()
}
