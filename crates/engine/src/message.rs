//! The heart of the processor (equation 8): mᵢ = max over neighbours j of ReLU(aᵢ + bⱼ), forward
//! and backward.
//!
//! `mixed` holds aᵢ | cᵢ | bᵢ per row (see [`crate::weights`]).

use fearless_simd::{f32x8, prelude::*, u32x8};

use crate::{
    graph::Neighbours,
    kernels::{
        LANES,
        rows::{add_rows, axpy, chunks, load, max_over_rows, store},
    },
};

/// Pointer graphs: one list of neighbours a node.
///
/// `source` \[n, k\] receives the neighbour each element of the maximum came from; it is left alone
/// where a node has only one.
#[inline(always)]
pub fn listed_forward<S: Simd>(
    simd: S,
    k: usize,
    neighbours: &Neighbours,
    mixed: &[f32],
    m: &mut [f32],
    source: &mut [u32],
) {
    let zero = f32x8::splat(simd, 0.0);
    let half = |row: usize, part: usize| mixed[(3 * row + part) * k..][..k].as_chunks::<LANES>().0;
    for (i, (m, source)) in m.chunks_exact_mut(k).zip(source.chunks_exact_mut(k)).enumerate() {
        let a = half(i, 0);
        let (m, source) = (m.as_chunks_mut::<LANES>().0, source.as_chunks_mut::<LANES>().0);
        let list = neighbours.of(i);
        let first = half(list[0] as usize, 2);
        if let [_] = list {
            for (m, (a, b)) in m.iter_mut().zip(a.iter().zip(first)) {
                (f32x8::load_array_ref(simd, a) + f32x8::load_array_ref(simd, b))
                    .max(zero)
                    .store_array(m);
            }
            continue;
        }
        for (at, (m, source)) in m.iter_mut().zip(source).enumerate() {
            let mut top = f32x8::load_array_ref(simd, &first[at]);
            let mut from = u32x8::splat(simd, list[0]);
            for &j in &list[1..] {
                let new = f32x8::load_array_ref(simd, &half(j as usize, 2)[at]);
                let higher = new.simd_gt(top);
                top = higher.select(new, top);
                from = higher.select(u32x8::splat(simd, j), from);
            }
            from.store_array(source);
            (f32x8::load_array_ref(simd, &a[at]) + top).max(zero).store_array(m);
        }
    }
}

/// From ∂aᵢ (in `d_mixed`, the ReLU's gate applied) to ∂bⱼ: each element goes back to the neighbour
/// it came from.
#[inline(always)]
pub fn listed_backward<S: Simd>(
    simd: S,
    k: usize,
    neighbours: &Neighbours,
    source: &[u32],
    d_mixed: &mut [f32],
) {
    let zero = f32x8::splat(simd, 0.0);
    for row in d_mixed.chunks_exact_mut(3 * k) {
        for part in row[2 * k..].as_chunks_mut::<LANES>().0 {
            zero.store_array(part);
        }
    }
    // Rows are read and written in one matrix, in vectors: row i begins at vector i · width.
    let (d_mixed, width) = (d_mixed.as_chunks_mut::<LANES>().0, 3 * k / LANES);
    let sender = 2 * k / LANES;
    for (i, source) in source.chunks_exact(k).enumerate() {
        let list = neighbours.of(i);
        for (at, source) in source.as_chunks::<LANES>().0.iter().enumerate() {
            let d = f32x8::load_array_ref(simd, &d_mixed[i * width + at]);
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

/// The complete graph: every node hears the same maximum, `top` \[k\], found at nodes `source` \[k\].
#[inline(always)]
pub fn complete_forward<S: Simd>(
    simd: S,
    k: usize,
    mixed: &[f32],
    m: &mut [f32],
    top: &mut [f32],
    source: &mut [u32],
) {
    top.fill(f32::NEG_INFINITY);
    source.fill(0);
    max_over_rows(simd, mixed, (3 * k, 2 * k), 0, top, source);
    let zero = f32x8::splat(simd, 0.0);
    for (row, m) in mixed.chunks_exact(3 * k).zip(m.chunks_exact_mut(k)) {
        for at in chunks(k) {
            store((load(simd, row, at) + load(simd, top, at)).max(zero), m, at);
        }
    }
}

/// The complete graph's ∂b has one non-zero element a dimension: `d_top` = Σᵢ ∂aᵢ, at `source`. Adds
/// its share to ∂z and to the gradient of the sender weights, which is kept as \[out, in\].
#[allow(clippy::too_many_arguments)] // two gradients in, two out, and what they came from
#[inline(always)]
pub fn complete_backward<S: Simd>(
    simd: S,
    k: usize,
    d_mixed: &[f32],
    source: &[u32],
    sender_t: &[f32],
    z: &[f32],
    d_z: &mut [f32],
    d_sender: &mut [f32],
    d_top: &mut [f32],
) {
    d_top.fill(0.0);
    add_rows(simd, d_mixed, 3 * k, d_top);
    for (d, (&total, &from)) in d_top.iter().zip(source).enumerate() {
        let from = from as usize * k;
        axpy(simd, total, &sender_t[d * k..][..k], &mut d_z[from..][..k]);
        axpy(simd, total, &z[from..][..k], &mut d_sender[d * k..][..k]);
    }
}

/// Self only: mᵢ = ReLU(aᵢ), the sender's half being part of a.
#[inline(always)]
pub fn alone_forward<S: Simd>(simd: S, k: usize, mixed: &[f32], m: &mut [f32]) {
    let zero = f32x8::splat(simd, 0.0);
    for (row, m) in mixed.chunks_exact(2 * k).zip(m.chunks_exact_mut(k)) {
        for at in chunks(k) {
            store(load(simd, row, at).max(zero), m, at);
        }
    }
}
