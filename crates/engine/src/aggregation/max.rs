//! The strongest message: a maximum, element by element, which remembers where it came from.

use fearless_simd::{f32x8, prelude::*, u32x8};
use pgn_structures::Node;

use super::{AggregateGradients, Aggregated, Message, Senders};
use crate::{
    Graph,
    graph::Neighbours,
    kernels::{
        LANES,
        rows::{add_rows, axpy, chunks, gate, load, store},
        sources::Sources,
    },
    rows::Rows,
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
        // A node that hears only itself: its sender's half is part of a.
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
            let sent = |j: Node| senders.of(j as usize).as_chunks::<LANES>().0;
            for (i, (m, mixed)) in rows.enumerate() {
                let a = mixed[..k].as_chunks::<LANES>().0;
                let m = m.as_chunks_mut::<LANES>().0;
                let list = senders.neighbours.of(first + i);
                let nearest = sent(list[0]);
                if let [_] = list {
                    for (m, (a, b)) in m.iter_mut().zip(a.iter().zip(nearest)) {
                        let sum = f32x8::load_array_ref(simd, a) + f32x8::load_array_ref(simd, b);
                        sum.max(zero).store_array(m);
                    }
                    continue;
                }
                for (at, (m, a)) in m.iter_mut().zip(a).enumerate() {
                    let mut top = f32x8::load_array_ref(simd, &nearest[at]);
                    let mut from = F::all(simd, list[0]);
                    for &j in &list[1..] {
                        let new = f32x8::load_array_ref(simd, &sent(j)[at]);
                        let higher = new.simd_gt(top);
                        top = higher.select(new, top);
                        from = F::replace(simd, higher, j, from);
                    }
                    sources.set(i * k + at * LANES, from);
                    (f32x8::load_array_ref(simd, a) + top).max(zero).store_array(m);
                }
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
    let zero = f32x8::splat(simd, 0.0);
    for row in d_mixed.chunks_exact_mut(width) {
        for part in row[sender..][..k].as_chunks_mut::<LANES>().0 {
            zero.store_array(part);
        }
    }
    // Rows are read and written in one matrix, in vectors: row i begins at vector i · width.
    let (d_mixed, width) = (d_mixed.as_chunks_mut::<LANES>().0, width / LANES);
    let (receiver, sender) = (receiver / LANES, sender / LANES);
    for (i, sources) in sources.chunks_exact(k).enumerate() {
        let list = neighbours.of(i);
        for (at, source) in sources.as_chunks::<LANES>().0.iter().enumerate() {
            let d = f32x8::load_array_ref(simd, &d_mixed[i * width + receiver + at]);
            if let [only] = list {
                let target = &mut d_mixed[*only as usize * width + sender + at];
                (f32x8::load_array_ref(simd, target) + d).store_array(target);
                continue;
            }
            let from = u32x8::load_array_ref(simd, source);
            for &j in list {
                let mine = from.simd_eq(u32x8::splat(simd, j)).select(d, zero);
                let target = &mut d_mixed[j as usize * width + sender + at];
                (f32x8::load_array_ref(simd, target) + mine).store_array(target);
            }
        }
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
