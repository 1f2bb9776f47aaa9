//! The same comparison as `structures`, for machines that have other things to do: the
//! candidates take turns, what counts is processor time, and of many rounds the best.
//!
//!     cargo bench -p pgn-bench --bench structures_in_turn

mod workload;

use std::hint::black_box;
use std::time::Duration;

use cpu_time::ThreadTime;
use petgraph::unionfind::UnionFind;
use pgn_structures::{Dsu, LinkCutTree, Max, Operation, Visited};
use workload::{Edit, SIZES, apply, apply_lctree, edits, run, workload};

/// A name, and a way to do all operations of workload number i on a fresh structure: how long
/// it took, without making the structure.
type Candidate<'a> = (&'a str, Box<dyn FnMut(usize) -> Duration + 'a>);

fn timed<S, O: Copy>(
    structure: S,
    operations: &[O],
    apply: impl FnMut(&mut S, O) -> bool,
) -> Duration {
    let start = ThreadTime::now();
    black_box(run((structure, operations), apply));
    start.elapsed()
}

/// Prints the best time per operation of each candidate, and how it compares to the last one.
fn compare(title: &str, nodes: u32, loads: usize, ops: usize, mut candidates: Vec<Candidate<'_>>) {
    let rounds = (20_000_000 / ops / 4).clamp(3, 2000);
    let mut best = vec![Duration::MAX; candidates.len()];
    // The first round only warms the caches.
    for round in 0..=rounds {
        for ((_, candidate), best) in candidates.iter_mut().zip(&mut best) {
            let time = candidate(round % loads);
            if round > 0 {
                *best = time.min(*best);
            }
        }
    }
    let last = best[best.len() - 1].as_secs_f64();
    for ((name, _), best) in candidates.iter().zip(best) {
        let seconds = best.as_secs_f64();
        println!(
            "{title:<13}{nodes:>9}  {name:<16}{:>8.1} ns  ×{:.2}",
            seconds / ops as f64 * 1e9,
            seconds / last
        );
    }
}

fn main() {
    for nodes in SIZES {
        let n = nodes as usize;
        // Several workloads where one is short enough to be learned by the branch predictor.
        let count = if nodes < 1000 { 200 } else { 1 };
        let loads: Vec<_> = (0..count).map(|seed| workload(nodes, seed)).collect();
        let ops = loads[0].1.len();
        let mut visited = Visited::new(n);
        compare(
            "query-union",
            nodes,
            loads.len(),
            ops,
            vec![
                (
                    "recording",
                    Box::new(|i| {
                        timed(Dsu::new(&loads[i].0), &loads[i].1, |sets, Operation { u, v, .. }| {
                            visited.clear();
                            sets.query_union_with(u, v, &mut visited).unwrap()
                        })
                    }),
                ),
                (
                    "ours",
                    Box::new(|i| {
                        timed(Dsu::new(&loads[i].0), &loads[i].1, |sets, Operation { u, v, .. }| {
                            sets.query_union(u, v).unwrap()
                        })
                    }),
                ),
                (
                    "petgraph",
                    Box::new(|i| {
                        let sets = UnionFind::<u32>::new(n);
                        timed(sets, &loads[i].1, |sets, Operation { u, v, .. }| sets.union(u, v))
                    }),
                ),
            ],
        );

        let edited: Vec<Vec<Edit>> = loads.iter().map(|(_, ops)| edits(nodes, ops)).collect();
        let weights: Vec<f64> = (0..nodes).map(f64::from).collect();
        let values: Vec<_> = weights.iter().map(|&weight| Max(weight)).collect();
        compare(
            "link/cut",
            nodes,
            loads.len(),
            edited[0].len(),
            vec![
                ("ours", Box::new(|i| timed(<LinkCutTree>::with_nodes(n), &edited[i], apply))),
                (
                    "ours, maximum",
                    Box::new(|i| timed(LinkCutTree::with_values(&values), &edited[i], apply)),
                ),
                (
                    "lctree, maximum",
                    Box::new(|i| {
                        let mut forest = lctree::LinkCutTree::default();
                        assert_eq!(forest.extend_forest(&weights).len(), n);
                        timed(forest, &edited[i], apply_lctree)
                    }),
                ),
            ],
        );

        let mut visited = Visited::new(n);
        compare(
            "query-toggle",
            nodes,
            loads.len(),
            ops,
            vec![
                (
                    "recording",
                    Box::new(|i| {
                        let forest = LinkCutTree::new(&loads[i].0);
                        timed(forest, &loads[i].1, |forest, Operation { u, v, .. }| {
                            visited.clear();
                            forest.query_toggle_with(u, v, &mut visited).unwrap()
                        })
                    }),
                ),
                (
                    "ours",
                    Box::new(|i| {
                        let forest = LinkCutTree::new(&loads[i].0);
                        timed(forest, &loads[i].1, |forest, Operation { u, v, .. }| {
                            forest.query_toggle(u, v).unwrap()
                        })
                    }),
                ),
            ],
        );
    }
}
