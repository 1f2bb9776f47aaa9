//! Analyses in tables: means over seeds.

use super::{Analyses, Analysis, BeyondCounting, Chain, Credit, PointerStudy};
use crate::Table;

/// The tasks there are analyses of, in the order of [`Task::names`](pgn_structures::Task::names).
pub fn tasks(analyses: &Analyses) -> Vec<&str> {
    crate::collection::in_order(analyses.runs.iter().map(|run| &*run.task))
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
        ("steps with valid pointers", |chain| {
            chain.valid_steps() as f64 / chain.steps.len() as f64
        }),
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
