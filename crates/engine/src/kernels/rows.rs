//! Loops over rows of latents: sums, dots, maxima with the node they came from.

use fearless_simd::{f32x8, prelude::*, u32x8};

use super::{LANES, math};

/// The vectors of a row, each with the place it starts at.
#[inline(always)]
pub fn chunks(k: usize) -> impl Iterator<Item = usize> {
    (0..k / LANES).map(|chunk| chunk * LANES)
}

/// Loads the vector at `at`.
#[inline(always)]
pub fn load<S: Simd>(simd: S, row: &[f32], at: usize) -> f32x8<S> {
    f32x8::from_slice(simd, &row[at..][..LANES])
}

/// Stores a vector at `at`.
#[inline(always)]
pub fn store<S: Simd>(value: f32x8<S>, row: &mut [f32], at: usize) {
    value.store_slice(&mut row[at..][..LANES]);
}

/// The vectors of a row.
#[inline(always)]
fn vectors(row: &[f32]) -> &[[f32; LANES]] {
    row.as_chunks().0
}

/// The vectors of a row, to change.
#[inline(always)]
fn vectors_mut(row: &mut [f32]) -> &mut [[f32; LANES]] {
    row.as_chunks_mut().0
}

/// y += a · x.
#[inline(always)]
pub fn axpy<S: Simd>(simd: S, a: f32, x: &[f32], y: &mut [f32]) {
    let a = f32x8::splat(simd, a);
    for (x, y) in vectors(x).iter().zip(vectors_mut(y)) {
        a.mul_add(f32x8::load_array_ref(simd, x), f32x8::load_array_ref(simd, y)).store_array(y);
    }
}

/// y += x.
#[inline(always)]
pub fn add<S: Simd>(simd: S, x: &[f32], y: &mut [f32]) {
    for (x, y) in vectors(x).iter().zip(vectors_mut(y)) {
        (f32x8::load_array_ref(simd, x) + f32x8::load_array_ref(simd, y)).store_array(y);
    }
}

/// ⟨x, y⟩.
#[inline(always)]
pub fn dot<S: Simd>(simd: S, x: &[f32], y: &[f32]) -> f32 {
    let mut total = f32x8::splat(simd, 0.0);
    for (x, y) in vectors(x).iter().zip(vectors(y)) {
        total = f32x8::load_array_ref(simd, x).mul_add(f32x8::load_array_ref(simd, y), total);
    }
    math::sum(total)
}

/// y = x where `gate` is positive, else 0: the gradient of a ReLU with output `gate`.
#[inline(always)]
pub fn gate<S: Simd>(simd: S, gate: &[f32], x: &[f32], y: &mut [f32]) {
    let zero = f32x8::splat(simd, 0.0);
    for ((gate, x), y) in vectors(gate).iter().zip(vectors(x)).zip(vectors_mut(y)) {
        let open = f32x8::load_array_ref(simd, gate).simd_gt(zero);
        open.select(f32x8::load_array_ref(simd, x), zero).store_array(y);
    }
}

/// Goes on with a running maximum over rows, element by element, and with the number of the row
/// each element came from; ties stay with the row seen first. Row i is `rows[i * stride + column..][..top.len()]` and has the
/// number `first + i`.
#[inline(always)]
pub fn max_over_rows<S: Simd>(
    simd: S,
    rows: &[f32],
    (stride, column): (usize, usize),
    first: u32,
    top: &mut [f32],
    source: &mut [u32],
) {
    // Column by column, so that the running maximum stays in a register.
    let columns = vectors_mut(top).iter_mut().zip(source.as_chunks_mut().0);
    for (at, (top, source)) in columns.enumerate() {
        let mut highest = f32x8::load_array_ref(simd, top);
        let mut from = u32x8::load_array_ref(simd, source);
        let mut number = u32x8::splat(simd, first);
        for row in rows.chunks_exact(stride) {
            let new = load(simd, row, column + at * LANES);
            let higher = new.simd_gt(highest);
            highest = higher.select(new, highest);
            from = higher.select(number, from);
            number += u32x8::splat(simd, 1);
        }
        highest.store_array(top);
        from.store_array(source);
    }
}

/// into += every row in turn; row i is `rows[i * stride..][..into.len()]`.
#[inline(always)]
pub fn add_rows<S: Simd>(simd: S, rows: &[f32], stride: usize, into: &mut [f32]) {
    for (at, into) in vectors_mut(into).iter_mut().enumerate() {
        let mut total = f32x8::load_array_ref(simd, into);
        for row in rows.chunks_exact(stride) {
            total = load(simd, row, at * LANES) + total;
        }
        total.store_array(into);
    }
}
