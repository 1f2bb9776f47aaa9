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
    let tops = vectors_mut(top).iter_mut().zip(source.as_chunks_mut::<LANES>().0);
    for (row, (top, source)) in vectors(row).iter().zip(tops) {
        let (new, old) = (f32x8::load_array_ref(simd, row), f32x8::load_array_ref(simd, top));
        let higher = new.simd_gt(old);
        higher.select(new, old).store_array(top);
        higher.select(number, u32x8::load_array_ref(simd, source)).store_array(source);
    }
}
