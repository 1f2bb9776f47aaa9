//! The strongest message: a maximum, element by element, which remembers where it came from.

use fearless_simd::{f32x8, prelude::*};

use super::{AggregateGradients, Aggregated, Message, Senders};
use crate::{
    Graph,
    graph::Neighbours,
    kernels::{
        rows::{add_rows, axpy, chunks, for_columns, gate, get, load, put, store},
        sources::Sources,
    },
    rows::Rows,
    simd::Vector,
};

/// mᵢ = maxⱼ ReLU(aᵢ + bⱼ) = ReLU(aᵢ + maxⱼ bⱼ): exact, as rounding is monotone, and so is ReLU.
#[inline(always)]
pub fn aggregate<S: Simd, F: Sources>(
    simd: S,
    senders: Senders,
    first: usize,
    mixed: Rows,
    m: &mut [f32],
    mut sources: F,
) {
    let k = senders.by_all.len();
    let zero = f32x8::splat(simd, 0.0);
    let rows = m.chunks_exact_mut(k).zip(mixed.iter());
    match senders.graph {
        // A node that receives only from itself: its sender's half is part of a.
        Graph::SelfOnly => {
            for (m, mixed) in rows {
                for at in chunks(k) {
                    store(load(simd, mixed, at).max(zero), m, at);
                }
            }
        }
        Graph::Complete => {
            for (m, mixed) in rows {
                for at in chunks(k) {
                    let sum = load(simd, mixed, at) + load(simd, senders.by_all, at);
                    store(sum.max(zero), m, at);
                }
            }
        }
        Graph::Symmetric | Graph::Directed => {
            for (i, (m, mixed)) in rows.enumerate() {
                let list = senders.neighbours.of(first + i);
                for_columns!(k, |at, V, N| {
                    let mut top: [V<S>; N] = get(simd, senders.of(list[0] as usize), at);
                    let mut from = [F::all::<S, V<S>>(simd, list[0]); N];
                    for &j in &list[1..] {
                        let new: [V<S>; N] = get(simd, senders.of(j as usize), at);
                        for v in 0..N {
                            let higher = new[v].simd_gt(top[v]);
                            top[v] = higher.select(new[v], top[v]);
                            from[v] = F::replace::<S, V<S>>(simd, higher, j, from[v]);
                        }
                    }
                    let a: [V<S>; N] = get(simd, mixed, at);
                    for v in 0..N {
                        sources.set::<S, V<S>>(i * k + at + v * V::<S>::LEN, from[v]);
                        top[v] = (a[v] + top[v]).max(0.0);
                    }
                    put(&top, m, at);
                });
            }
        }
    }
}

#[inline(always)]
pub fn aggregate_backward<S: Simd>(
    simd: S,
    aggregated: Aggregated,
    d_m: &[f32],
    into: AggregateGradients,
) {
    let Message { width, receiver, sender, .. } = aggregated.message;
    let k = into.by_all.len();
    // m = ReLU(a + max b): ∂a …
    let rows = aggregated.m.chunks_exact(k).zip(d_m.chunks_exact(k));
    for ((m, d_m), d_mixed) in rows.zip(into.mixed.chunks_exact_mut(width)) {
        gate(simd, m, d_m, &mut d_mixed[receiver..][..k]);
    }
    // … and from it ∂b.
    match aggregated.graph {
        Graph::Symmetric | Graph::Directed => {
            let columns = (width, receiver, sender);
            listed_backward(
                simd,
                k,
                columns,
                aggregated.neighbours,
                aggregated.sources,
                into.mixed,
            );
        }
        Graph::Complete => complete_backward(simd, k, aggregated, into),
        Graph::SelfOnly => {}
    }
}

/// Each element of ∂a goes back to the neighbour it came from.
#[inline(always)]
fn listed_backward<S: Simd>(
    simd: S,
    k: usize,
    (width, receiver, sender): (usize, usize, usize),
    neighbours: &Neighbours,
    sources: &[u32],
    d_mixed: &mut [f32],
) {
    for row in d_mixed.chunks_exact_mut(width) {
        row[sender..][..k].fill(0.0);
    }
    for (i, sources) in sources.chunks_exact(k).enumerate() {
        for_columns!(k, |at, V, N| {
            let d: [V<S>; N] = get(simd, d_mixed, i * width + receiver + at);
            for &j in neighbours.of(i) {
                let target = j as usize * width + sender + at;
                let mut sum: [V<S>; N] = get(simd, d_mixed, target);
                for v in 0..N {
                    let from = &sources[at + v * V::<S>::LEN..][..V::<S>::LEN];
                    let mine = <V<S> as Vector<S>>::Numbers::from_slice(simd, from).simd_eq(j);
                    sum[v] += mine.select(d[v], V::splat(simd, 0.0));
                }
                put(&sum, d_mixed, target);
            }
        });
    }
}

/// The complete graph's ∂b has one non-zero element a dimension, Σᵢ ∂aᵢ at its source. Adds its
/// share to ∂x and to the gradient of the sender weights.
#[inline(always)]
fn complete_backward<S: Simd>(simd: S, k: usize, aggregated: Aggregated, into: AggregateGradients) {
    let sender_t = Rows::new(&aggregated.message.mix_t[2 * k * k..], k);
    let x = Rows::new(aggregated.x, k);
    into.by_all.fill(0.0);
    add_rows(simd, into.mixed, 3 * k, into.by_all);
    for (d, (&total, &from)) in into.by_all.iter().zip(aggregated.sources).enumerate() {
        let from = from as usize;
        axpy(simd, total, sender_t.row(d), &mut into.x[from * k..][..k]);
        axpy(simd, total, x.row(from), &mut into.sender[d * k..][..k]);
    }
}
