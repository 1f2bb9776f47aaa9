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

/// y += a · x.
#[inline(always)]
pub fn axpy<S: Simd>(simd: S, a: f32, x: &[f32], y: &mut [f32]) {
    let a = f32x8::splat(simd, a);
    for at in chunks(y.len()) {
        store(a.mul_add(load(simd, x, at), load(simd, y, at)), y, at);
    }
}

/// y += x.
#[inline(always)]
pub fn add<S: Simd>(simd: S, x: &[f32], y: &mut [f32]) {
    for at in chunks(y.len()) {
        store(load(simd, x, at) + load(simd, y, at), y, at);
    }
}

/// ⟨x, y⟩.
#[inline(always)]
pub fn dot<S: Simd>(simd: S, x: &[f32], y: &[f32]) -> f32 {
    let mut total = f32x8::splat(simd, 0.0);
    for at in chunks(x.len()) {
        total = load(simd, x, at).mul_add(load(simd, y, at), total);
    }
    math::sum(total)
}

/// y = x where `gate` is positive, else 0: the gradient of a ReLU with output `gate`.
#[inline(always)]
pub fn gate<S: Simd>(simd: S, gate: &[f32], x: &[f32], y: &mut [f32]) {
    let zero = f32x8::splat(simd, 0.0);
    for at in chunks(y.len()) {
        let open = load(simd, gate, at).simd_gt(zero);
        store(open.select(load(simd, x, at), zero), y, at);
    }
}

/// A running maximum over rows, element by element, with the number of the row each element came
/// from. Ties stay with the row seen first.
#[inline(always)]
pub fn max_with_source<S: Simd>(
    simd: S,
    row: &[f32],
    number: u32,
    top: &mut [f32],
    source: &mut [u32],
) {
    let number = u32x8::splat(simd, number);
    for at in chunks(top.len()) {
        let (new, old) = (load(simd, row, at), load(simd, top, at));
        let source = &mut source[at..][..LANES];
        let higher = new.simd_gt(old);
        store(higher.select(new, old), top, at);
        higher.select(number, u32x8::from_slice(simd, source)).store_slice(source);
    }
}
