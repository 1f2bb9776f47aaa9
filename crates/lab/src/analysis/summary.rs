//! Analyses in tables, means over seeds, and what the paper claims about them.

use super::{Analyses, Analysis, BeyondCounting, Chain, Credit, PointerStudy};
use crate::{
    Check, Claim,
    tables::{self, Table},
};

/// A document in Markdown: all tables, then the claims.
pub fn render(analyses: &Analyses) -> String {
    let mut text = String::new();
    for task in tasks(analyses) {
        text += &format!("## {}\n\n", tables::title(task));
        text.extend(beyond(analyses, task).iter().map(Table::markdown));
        text.extend(of_task(analyses, task).iter().map(Table::markdown));
    }
    text + &tables::render_claims(&claims(analyses))
}

/// The tasks there are analyses of.
pub fn tasks(analyses: &Analyses) -> Vec<&str> {
    let mut tasks: Vec<&str> = analyses.runs.iter().map(|run| &*run.task).collect();
    tasks.dedup();
    tasks
}

fn models<'a>(analyses: &'a Analyses, task: &str) -> Vec<&'a str> {
    let of_task = analyses.runs.iter().filter(|run| run.task == task);
    let mut models: Vec<&str> = of_task.map(|run| &*run.model).collect();
    models.dedup();
    models
}

/// The tables of one task: credit, pointers and the chain.
pub fn of_task(analyses: &Analyses, task: &str) -> Vec<Table> {
    let mut tables = vec![credit(analyses, task)];
    tables.extend(pointers(analyses, task));
    tables.extend(chains(analyses, task));
    tables
}

/// The mean over seeds of a number, for each size.
fn row<T>(
    analyses: &Analyses,
    (task, model): (&str, &str),
    name: String,
    parts: fn(&Analysis) -> &[T],
    number: impl Fn(&T) -> f64,
) -> Vec<String> {
    let runs: Vec<&[T]> = analyses.of(task, model).map(parts).collect();
    let sizes = runs.iter().map(|parts| parts.len()).min().unwrap_or(0);
    let mut cells = vec![name];
    for size in 0..sizes {
        let sum: f64 = runs.iter().map(|parts| number(&parts[size])).sum();
        cells.push(format!("{:.3}", sum / runs.len() as f64));
    }
    cells
}

fn header(sizes: impl Iterator<Item = usize>) -> Vec<String> {
    std::iter::once(String::new()).chain(sizes.map(|nodes| format!("n = {nodes}"))).collect()
}

type Number<T> = (&'static str, fn(&T) -> f64);

/// What the models know beyond counting; `None` for files written before that was looked at.
pub fn beyond(analyses: &Analyses, task: &str) -> Option<Table> {
    const NUMBERS: [Number<BeyondCounting>; 3] = [
        ("where the truth is 1", |beyond| beyond.where_1),
        ("where it is 0", |beyond| beyond.where_0),
        ("difference", BeyondCounting::gain),
    ];
    let models = models(analyses, task);
    let mut rows = Vec::new();
    for model in &models {
        for (name, number) in NUMBERS {
            let name = format!("`{model}`: {name}");
            rows.push(row(analyses, (task, model), name, |run| &run.beyond, number));
        }
    }
    let studies = analyses.of(task, models[0]).next().map_or(&[][..], |run| &run.beyond);
    (!studies.is_empty()).then(|| Table {
        title: "Beyond counting: answers 1 to operations on nodes equally often operated on"
            .to_owned(),
        header: header(studies.iter().map(|beyond| beyond.nodes)),
        rows,
    })
}

fn credit(analyses: &Analyses, task: &str) -> Table {
    const NUMBERS: [Number<Credit>; 7] = [
        ("u and v", |credit| credit.both.mean.operated),
        ("others with mask 0", |credit| credit.both.mean.path),
        ("both", |credit| credit.both.mean.relevant()),
        ("both, max z only", |credit| credit.z.mean.relevant()),
        ("both, max h only", |credit| credit.h.mean.relevant()),
        ("both, idle dimensions left out", |credit| credit.live.mean.relevant()),
        ("idle dimensions, of h", |credit| credit.idle),
    ];
    const BASELINE: [Number<Credit>; 3] = [
        ("u and v", |credit| credit.baseline.mean.operated),
        ("others with mask 0", |credit| credit.baseline.mean.path),
        ("both", |credit| credit.baseline.mean.relevant()),
    ];
    let models = models(analyses, task);
    let mut rows = Vec::new();
    for (name, number) in BASELINE {
        let name = format!("share of nodes: {name}");
        rows.push(row(analyses, (task, models[0]), name, |run| &run.credit, number));
    }
    for model in &models {
        for (name, number) in NUMBERS {
            let name = format!("`{model}`: {name}");
            rows.push(row(analyses, (task, model), name, |run| &run.credit, number));
        }
    }
    let sizes = analyses.of(task, models[0]).next().into_iter().flat_map(|run| &run.credit);
    Table {
        title: "Share of credit, mean over the rollout".to_owned(),
        header: header(sizes.map(|credit| credit.nodes)),
        rows,
    }
}

fn pointers(analyses: &Analyses, task: &str) -> Option<Table> {
    const NUMBERS: [Number<PointerStudy>; 12] = [
        ("steps with valid pointers", |study| study.valid),
        ("steps with the same components", |study| study.same_components),
        ("steps without circles", |study| study.acyclic),
        ("sequences valid after every step", |study| study.sequences_valid),
        ("steps until the first that is not valid", |study| study.steps_until_invalid),
        ("connected pairs, precision", |study| study.pair_precision),
        ("connected pairs, recall", |study| study.pair_recall),
        ("depth", |study| study.model.depth),
        ("depth of the truth", |study| study.truth.depth),
        ("mean depth of a node", |study| study.model.mean_depth),
        ("diameter", |study| study.model.diameter),
        ("diameter of the truth", |study| study.truth.diameter),
    ];
    let mut rows = Vec::new();
    let mut sizes = Vec::new();
    for model in models(analyses, task) {
        let studies = analyses.of(task, model).next().map_or(&[][..], |run| &run.pointers);
        if studies.is_empty() {
            continue;
        }
        sizes = studies.iter().map(|study| study.nodes).collect();
        for (name, number) in NUMBERS {
            let name = format!("`{model}`: {name}");
            rows.push(row(analyses, (task, model), name, |run| &run.pointers, number));
        }
    }
    (!rows.is_empty()).then(|| Table {
        title: "Pointers of free rollouts".to_owned(),
        header: header(sizes.into_iter()),
        rows,
    })
}

fn chains(analyses: &Analyses, task: &str) -> Option<Table> {
    const NUMBERS: [Number<Chain>; 4] = [
        ("steps with valid pointers", |chain| valid_steps(chain) as f64 / chain.steps.len() as f64),
        ("answers right", |chain| {
            let right = chain.steps.iter().filter(|step| step.right).count();
            right as f64 / chain.steps.len() as f64
        }),
        ("depth at the end", |chain| f64::from(chain.steps.last().map_or(0, |s| s.model_depth))),
        ("depth of the truth at the end", |chain| {
            f64::from(chain.steps.last().map_or(0, |s| s.truth_depth))
        }),
    ];
    let mut rows = Vec::new();
    let mut sizes = Vec::new();
    for model in models(analyses, task) {
        let chains = analyses.of(task, model).next().map_or(&[][..], |run| &run.chains);
        if chains.is_empty() {
            continue;
        }
        sizes = chains.iter().map(|chain| chain.nodes).collect();
        for (name, number) in NUMBERS {
            let name = format!("`{model}`: {name}");
            rows.push(row(analyses, (task, model), name, |run| &run.chains, number));
        }
    }
    (!rows.is_empty()).then(|| Table {
        title: "The chain (i, i + 1)".to_owned(),
        header: header(sizes.into_iter()),
        rows,
    })
}

fn valid_steps(chain: &Chain) -> usize {
    chain.steps.iter().filter(|step| step.valid).count()
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
        name: "Ours: PGN knows more than how often u and v were operated on",
        criterion: "Not a claim of the paper. Among operations on nodes that were equally often \
                    operated on before, the share of answers 1 where the truth is 1, less that \
                    where it is 0, is larger for `pgn` than for `gnn` and `deepsets`.",
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
                    tie, and whoever gets its credit gets it by chance.",
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
            let (valid, steps) = (valid_steps(chain), chain.steps.len());
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
                    not say of how many nodes its chain is.",
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
