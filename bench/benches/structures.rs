//! Operations per second of both structures, with and without recording, beside petgraph's
//! `UnionFind` and the crate `lctree` on the same operations.
//!
//!     cargo bench -p pgn-bench --bench structures

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use petgraph::unionfind::UnionFind;
use pgn_structures::{Aggregate, Dsu, LinkCutTree, Max, Operation, Rng, Visited};

const SIZES: [u32; 3] = [100, 10_000, 1_000_000];

/// 1.5 n uniform operations on n nodes, as in the paper, with random priorities.
fn workload(nodes: u32) -> (Vec<f32>, Vec<Operation>) {
    let mut rng = Rng::new([0, 0, nodes.into(), 0]);
    let priorities = (0..nodes).map(|_| rng.unit_f32()).collect();
    let operations = (0..nodes + nodes / 2).map(|_| Operation::sample(nodes, &mut rng)).collect();
    (priorities, operations)
}

/// Applies all operations to a fresh structure; how many answers were yes, so that nothing is
/// optimised away.
fn run<S, O: Copy>(
    (mut structure, operations): (S, &[O]),
    mut apply: impl FnMut(&mut S, O) -> bool,
) -> usize {
    operations.iter().filter(|&&operation| apply(&mut structure, operation)).count()
}

fn dsu(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dsu");
    group.sample_size(10);
    for nodes in SIZES {
        let (priorities, operations) = workload(nodes);
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

/// An operation that any link/cut tree has, on unrooted trees.
#[derive(Clone, Copy)]
enum Edit {
    Connected(u32, u32),
    Link(u32, u32),
    Cut(u32, u32),
}

/// For each pair: are they connected? If not, link them; if so, cut some edge of the forest.
fn edits(nodes: u32, operations: &[Operation]) -> Vec<Edit> {
    let mut rng = Rng::new([1, 0, nodes.into(), 0]);
    let mut forest = <LinkCutTree>::with_nodes(nodes as usize);
    let (mut edges, mut edits) = (Vec::new(), Vec::new());
    for &Operation { u, v } in operations {
        edits.push(Edit::Connected(u, v));
        if forest.connected(u, v).unwrap() {
            let (a, b) = edges.swap_remove(rng.below(edges.len() as u32) as usize);
            edits.push(Edit::Cut(a, b));
            apply(&mut forest, Edit::Cut(a, b));
        } else {
            edges.push((u, v));
            edits.push(Edit::Link(u, v));
            apply(&mut forest, Edit::Link(u, v));
        }
    }
    edits
}

fn apply<A: Aggregate>(forest: &mut LinkCutTree<A>, edit: Edit) -> bool {
    match edit {
        Edit::Connected(u, v) => forest.connected(u, v).unwrap(),
        Edit::Link(u, v) => forest.evert(u).and_then(|()| forest.link(u, v)).is_ok(),
        Edit::Cut(u, v) => forest.evert(u).and_then(|()| forest.cut(v)).is_ok(),
    }
}

fn apply_lctree(forest: &mut lctree::LinkCutTree<lctree::FindMax>, edit: Edit) -> bool {
    match edit {
        Edit::Connected(u, v) => forest.connected(u as usize, v as usize),
        Edit::Link(u, v) => forest.link(u as usize, v as usize),
        Edit::Cut(u, v) => forest.cut(u as usize, v as usize),
    }
}

/// Against `lctree`, which always aggregates a maximum; ours with one and without.
fn lct(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lct");
    group.sample_size(10);
    for nodes in SIZES {
        let (_, operations) = workload(nodes);
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
        let (priorities, operations) = workload(nodes);
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
