//! Analyses in tables: means over seeds.

use std::collections::BTreeSet;

use super::{Analyses, Analysis, BeyondCounting, Chain, Credit, PointerStudy};
use crate::collection::{Group, Table, groups};

/// The tasks there are analyses of, in the order of [`Task::names`](pgn_structures::Task::names).
pub fn tasks(analyses: &Analyses) -> Vec<&str> {
    crate::collection::in_order(analyses.runs.iter().map(|run| &*run.task))
}

/// The tables of one task: credit, pointers and the chain.
pub fn of_task(analyses: &Analyses, task: &str) -> Vec<Table> {
    let groups = groups(&analyses.runs, task);
    [credit(&groups), pointers(&groups), chains(&groups)].into_iter().flatten().collect()
}

/// A number by its name.
type Number<T> = (&'static str, fn(&T) -> f64);

/// What a table is about: one part of an analysis for each test size.
struct Subject<T> {
    title: &'static str,
    parts: fn(&Analysis) -> &[T],
    nodes: fn(&T) -> usize,
}

impl<T> Subject<T> {
    /// Rows of `shared` numbers, which are the same for all models, then of `numbers` for each
    /// group of runs; a column for each test size. `None` if there is nothing to tell.
    fn table(
        &self,
        groups: &[Group<'_, Analysis>],
        shared: &[Number<T>],
        numbers: &[Number<T>],
    ) -> Option<Table> {
        let has = |group: &&Group<'_, Analysis>| {
            group.runs.iter().any(|run| !(self.parts)(run).is_empty())
        };
        let groups: Vec<_> = groups.iter().filter(has).collect();
        let all = groups.iter().flat_map(|group| &group.runs).flat_map(|run| (self.parts)(run));
        let sizes: BTreeSet<usize> = all.map(self.nodes).collect();
        let mut rows = Vec::new();
        let first = *groups.first()?;
        for &(name, number) in shared {
            rows.push(self.row(first, format!("share of nodes: {name}"), &sizes, number));
        }
        for group in groups {
            for &(name, number) in numbers {
                rows.push(self.row(group, format!("{}: {name}", group.name()), &sizes, number));
            }
        }
        let mut header = vec![String::new()];
        header.extend(sizes.iter().map(|nodes| format!("n = {nodes}")));
        Some(Table { title: self.title.to_owned(), header, rows })
    }

    /// The mean over seeds of a number, for each size.
    fn row(
        &self,
        group: &Group<'_, Analysis>,
        name: String,
        sizes: &BTreeSet<usize>,
        number: fn(&T) -> f64,
    ) -> Vec<String> {
        let mut cells = vec![name];
        for &size in sizes {
            let of_size = |part: &&T| (self.nodes)(part) == size;
            let part = |run: &&Analysis| (self.parts)(run).iter().find(of_size).map(number);
            let values: Vec<f64> = group.runs.iter().filter_map(part).collect();
            cells.push(match values.len() {
                0 => "–".to_owned(),
                count => format!("{:.3}", values.iter().sum::<f64>() / count as f64),
            });
        }
        cells
    }
}

/// What the models know beyond counting; `None` for files of versions that did not measure it.
pub fn beyond(analyses: &Analyses, task: &str) -> Option<Table> {
    const NUMBERS: [Number<BeyondCounting>; 3] = [
        ("where the truth is 1", |beyond| beyond.where_1),
        ("where it is 0", |beyond| beyond.where_0),
        ("difference", BeyondCounting::gain),
    ];
    let subject = Subject {
        title: "Beyond counting: share of answers 1 at equal counts of u and v",
        parts: |run| &run.beyond,
        nodes: |beyond: &BeyondCounting| beyond.nodes,
    };
    subject.table(&groups(&analyses.runs, task), &[], &NUMBERS)
}

fn credit(groups: &[Group<'_, Analysis>]) -> Option<Table> {
    const NUMBERS: [Number<Credit>; 7] = [
        ("u and v", |credit| credit.both.mean.operated),
        ("others with mask 0", |credit| credit.both.mean.path),
        ("both", |credit| credit.both.mean.relevant()),
        ("both, max z only", |credit| credit.z.mean.relevant()),
        ("both, max h only", |credit| credit.h.mean.relevant()),
        ("both, without idle dimensions", |credit| credit.live.mean.relevant()),
        ("idle dimensions, of h", |credit| credit.idle),
    ];
    const BASELINE: [Number<Credit>; 3] = [
        ("u and v", |credit| credit.baseline.mean.operated),
        ("others with mask 0", |credit| credit.baseline.mean.path),
        ("both", |credit| credit.baseline.mean.relevant()),
    ];
    let subject = Subject {
        title: "Share of credit, mean over the rollout",
        parts: |run| &run.credit,
        nodes: |credit: &Credit| credit.nodes,
    };
    subject.table(groups, &BASELINE, &NUMBERS)
}

fn pointers(groups: &[Group<'_, Analysis>]) -> Option<Table> {
    const NUMBERS: [Number<PointerStudy>; 12] = [
        ("steps with valid pointers", |study| study.valid),
        ("steps with the same components", |study| study.same_components),
        ("steps without cycles", |study| study.acyclic),
        ("sequences valid after every step", |study| study.sequences_valid),
        ("steps before the first invalid one", |study| study.steps_until_invalid),
        ("connected pairs, precision", |study| study.pair_precision),
        ("connected pairs, recall", |study| study.pair_recall),
        ("depth", |study| study.model.depth),
        ("depth of the truth", |study| study.truth.depth),
        ("mean depth of a node", |study| study.model.mean_depth),
        ("diameter", |study| study.model.diameter),
        ("diameter of the truth", |study| study.truth.diameter),
    ];
    let subject = Subject {
        title: "Pointers of free rollouts",
        parts: |run| &run.pointers,
        nodes: |study: &PointerStudy| study.nodes,
    };
    subject.table(groups, &[], &NUMBERS)
}

fn chains(groups: &[Group<'_, Analysis>]) -> Option<Table> {
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
    let subject = Subject {
        title: "The chain (i, i + 1)",
        parts: |run| &run.chains,
        nodes: |chain: &Chain| chain.nodes,
    };
    subject.table(groups, &[], &NUMBERS)
}
