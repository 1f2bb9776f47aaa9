//! Operations per second of both structures, with and without recording, beside petgraph's
//! `UnionFind` and the crate `lctree` on the same operations.
//!
//!     cargo bench -p pgn-bench --bench structures

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use petgraph::unionfind::UnionFind;
use pgn_structures::{Dsu, LinkCutTree, Max, Visited};

mod workload;

use workload::{SIZES, apply, apply_lctree, edits, run, workload};

fn dsu(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dsu");
    group.sample_size(10);
    for nodes in SIZES {
        let (priorities, operations) = workload(nodes, 0);
        let n = nodes as usize;
        group.throughput(Throughput::Elements(operations.len() as u64));
        group.bench_function(BenchmarkId::new("ours", nodes), |bencher| {
            bencher.iter_batched(
                || (Dsu::new(&priorities), &operations[..]),
                |start| run(start, |sets, op| sets.query_union(op.u, op.v).unwrap()),
                BatchSize::LargeInput,
            );
        });
        group.bench_function(BenchmarkId::new("ours, recording", nodes), |bencher| {
            let mut visited = Visited::new(n);
            bencher.iter_batched(
                || (Dsu::new(&priorities), &operations[..]),
                |start| {
                    run(start, |sets, op| {
                        visited.clear();
                        sets.query_union_with(op.u, op.v, &mut visited).unwrap()
                    })
                },
                BatchSize::LargeInput,
            );
        });
        group.bench_function(BenchmarkId::new("petgraph", nodes), |bencher| {
            bencher.iter_batched(
                || (UnionFind::<u32>::new(n), &operations[..]),
                |start| run(start, |sets, op| sets.union(op.u, op.v)),
                BatchSize::LargeInput,
            );
        });
    }
}

/// Against `lctree`, which always aggregates a maximum; ours with one and without.
fn lct(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lct");
    group.sample_size(10);
    for nodes in SIZES {
        let (_, operations) = workload(nodes, 0);
        let edits = edits(nodes, &operations);
        let weights: Vec<f64> = (0..nodes).map(f64::from).collect();
        group.throughput(Throughput::Elements(edits.len() as u64));
        group.bench_function(BenchmarkId::new("ours", nodes), |bencher| {
            bencher.iter_batched(
                || (<LinkCutTree>::with_nodes(nodes as usize), &edits[..]),
                |start| run(start, apply),
                BatchSize::LargeInput,
            );
        });
        group.bench_function(BenchmarkId::new("ours, maximum", nodes), |bencher| {
            let values: Vec<_> = weights.iter().map(|&weight| Max(weight)).collect();
            bencher.iter_batched(
                || (LinkCutTree::with_values(&values), &edits[..]),
                |start| run(start, apply),
                BatchSize::LargeInput,
            );
        });
        group.bench_function(BenchmarkId::new("lctree, maximum", nodes), |bencher| {
            bencher.iter_batched(
                || {
                    let mut forest = lctree::LinkCutTree::default();
                    assert_eq!(forest.extend_forest(&weights).len(), nodes as usize);
                    (forest, &edits[..])
                },
                |start| run(start, apply_lctree),
                BatchSize::LargeInput,
            );
        });
    }
}

/// What recording costs: the paper's query-toggle, with and without.
fn toggle(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("query-toggle");
    group.sample_size(10);
    for nodes in SIZES {
        let (priorities, operations) = workload(nodes, 0);
        group.throughput(Throughput::Elements(operations.len() as u64));
        group.bench_function(BenchmarkId::new("ours", nodes), |bencher| {
            bencher.iter_batched(
                || (LinkCutTree::new(&priorities), &operations[..]),
                |start| run(start, |forest, op| forest.query_toggle(op.u, op.v).unwrap()),
                BatchSize::LargeInput,
            );
        });
        group.bench_function(BenchmarkId::new("ours, recording", nodes), |bencher| {
            let mut visited = Visited::new(nodes as usize);
            bencher.iter_batched(
                || (LinkCutTree::new(&priorities), &operations[..]),
                |start| {
                    run(start, |forest, op| {
                        visited.clear();
                        forest.query_toggle_with(op.u, op.v, &mut visited).unwrap()
                    })
                },
                BatchSize::LargeInput,
            );
        });
    }
}

criterion_group!(benches, dsu, lct, toggle);
criterion_main!(benches);
