//! Messages added up, or averaged: every edge written out.
//!
//! ReLU(aᵢ + bⱼ) does not split into a share of the receiver and one of the sender, so that the work
//! is one addition and one maximum per edge and latent: O(n·k) along pointers, O(n²·k) in the
//! complete graph.

use fearless_simd::{f32x8, prelude::*};
use pgn_structures::Node;

use super::{AggregateGradients, Aggregated, Aggregation, Message, Senders};
use crate::{
    Graph,
    graph::Neighbours,
    kernels::{
        matmul::{Start, Then, mat, mat_mut, matmul},
        rows::{chunks, gate, load, store},
    },
    rows::Rows,
};

/// Calls `visit(j)` with every node that node i receives from, in ascending order; how many there are.
#[inline(always)]
fn for_each_sender(
    graph: Graph,
    neighbours: &Neighbours,
    i: usize,
    nodes: usize,
    mut visit: impl FnMut(usize),
) -> usize {
    if graph == Graph::Complete {
        (0..nodes).for_each(visit);
        return nodes;
    }
    let list = neighbours.of(i);
    list.iter().for_each(|&j: &Node| visit(j as usize));
    list.len()
}

/// mᵢ = Σⱼ ReLU(aᵢ + bⱼ), or its mean.
#[inline(always)]
pub fn aggregate<S: Simd>(
    aggregation: Aggregation,
    simd: S,
    senders: Senders,
    first: usize,
    mixed: Rows,
    m: &mut [f32],
) {
    let k = senders.by_all.len();
    let zero = f32x8::splat(simd, 0.0);
    let nodes = senders.sent.len() / (senders.channels * k);
    for (i, (m, a)) in m.chunks_exact_mut(k).zip(mixed.iter()).enumerate() {
        // A node that receives only from itself: its sender's half is part of a.
        if senders.graph == Graph::SelfOnly {
            for at in chunks(k) {
                store(load(simd, a, at).max(zero), m, at);
            }
            continue;
        }
        m.fill(0.0);
        let count = for_each_sender(
            senders.graph,
            senders.neighbours,
            first + i,
            nodes,
            #[inline(always)]
            |j| {
                let b = senders.of(j);
                for at in chunks(k) {
                    let message = (load(simd, a, at) + load(simd, b, at)).max(zero);
                    store(load(simd, m, at) + message, m, at);
                }
            },
        );
        if aggregation == Aggregation::Mean {
            let share = f32x8::splat(simd, aggregation.share(count));
            for at in chunks(k) {
                store(load(simd, m, at) * share, m, at);
            }
        }
    }
}

/// The mirror of [`aggregate`]. Both halves of the messages are computed again: keeping them for all
/// operations would cost more than the two products.
#[inline(always)]
pub fn aggregate_backward<S: Simd>(
    aggregation: Aggregation,
    simd: S,
    aggregated: Aggregated,
    d_m: &[f32],
    into: AggregateGradients,
) {
    let Message { mix, bias, width, receiver, sender, .. } = aggregated.message;
    let k = into.by_all.len();
    let nodes = aggregated.m.len() / k;
    let d_mixed = into.mixed;
    if aggregated.graph == Graph::SelfOnly {
        let rows = aggregated.m.chunks_exact(k).zip(d_m.chunks_exact(k));
        for ((m, d_m), d_mixed) in rows.zip(d_mixed.chunks_exact_mut(width)) {
            gate(simd, m, d_m, &mut d_mixed[..k]);
        }
        return;
    }
    into.halves.resize(2 * nodes * k, 0.0);
    let (a, b) = into.halves.split_at_mut(nodes * k);
    let (shape, x) = ((nodes, k, k), mat(aggregated.x, k));
    let bias = Start::Row(&bias[receiver..][..k]);
    matmul(simd, shape, x, mat(&mix[receiver..], width), bias, Then::Store, mat_mut(a, k));
    let weights = mat(&mix[sender..], width);
    matmul(simd, shape, x, weights, Start::Zero, Then::Store, mat_mut(b, k));
    for row in d_mixed.chunks_exact_mut(width) {
        row[receiver..][..k].fill(0.0);
        row[sender..][..k].fill(0.0);
    }
    let zero = f32x8::splat(simd, 0.0);
    for i in 0..nodes {
        let (a, d_m) = (&a[i * k..][..k], &d_m[i * k..][..k]);
        let count = for_each_sender(aggregated.graph, aggregated.neighbours, i, nodes, |_| {});
        let share = f32x8::splat(simd, aggregation.share(count));
        for_each_sender(
            aggregated.graph,
            aggregated.neighbours,
            i,
            nodes,
            #[inline(always)]
            |j| {
                let b = &b[j * k..][..k];
                for at in chunks(k) {
                    let open = (load(simd, a, at) + load(simd, b, at)).simd_gt(zero);
                    let d = open.select(load(simd, d_m, at) * share, zero);
                    let of_receiver = i * width + receiver + at;
                    store(load(simd, d_mixed, of_receiver) + d, d_mixed, of_receiver);
                    let of_sender = j * width + sender + at;
                    store(load(simd, d_mixed, of_sender) + d, d_mixed, of_sender);
                }
            },
        );
    }
}
