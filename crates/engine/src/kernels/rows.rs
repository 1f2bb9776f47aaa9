//! Loops over rows of latents: sums, dots, maxima with the node they came from.

use fearless_simd::{f32x4, f32x8, prelude::*};

use super::{LANES, math, sources::Sources};
use crate::simd::Vector;

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

/// Runs `$body` for columns `$at..` of a row of `$k`, `$N` vectors `$V` of them: 2 of 16 lanes while
/// there are as many left, then 1 of 8. What belongs to so many columns stays in registers, and one
/// vector's chain of operations need not wait for another's.
macro_rules! for_columns {
    ($k:expr, |$at:ident, $V:ident, $N:ident| $body:expr) => {{
        let mut $at = 0;
        while $at + 4 * $crate::kernels::LANES <= $k {
            use fearless_simd::f32x16 as $V;
            const $N: usize = 2;
            $body;
            $at += 4 * $crate::kernels::LANES;
        }
        while $at < $k {
            use fearless_simd::f32x8 as $V;
            const $N: usize = 1;
            $body;
            $at += $crate::kernels::LANES;
        }
    }};
}
pub(crate) use for_columns;

/// Loads N vectors from `at` on.
#[inline(always)]
pub fn get<S: Simd, V: Vector<S>, const N: usize>(simd: S, row: &[f32], at: usize) -> [V; N] {
    let row = &row[at..][..N * V::LEN];
    let mut vectors = [V::splat(simd, 0.0); N];
    for v in 0..N {
        vectors[v] = V::from_slice(simd, &row[v * V::LEN..][..V::LEN]);
    }
    vectors
}

/// Stores N vectors from `at` on.
#[inline(always)]
pub fn put<S: Simd, V: Vector<S>, const N: usize>(vectors: &[V; N], row: &mut [f32], at: usize) {
    let row = &mut row[at..][..N * V::LEN];
    for v in 0..N {
        vectors[v].store_slice(&mut row[v * V::LEN..][..V::LEN]);
    }
}

/// sum += a · the vectors of `x` from `at` on.
#[inline(always)]
pub fn multiply_add<S: Simd, V: Vector<S>, const N: usize>(
    simd: S,
    a: f32,
    x: &[f32],
    at: usize,
    sum: &mut [V; N],
) {
    let x: [V; N] = get(simd, x, at);
    for v in 0..N {
        sum[v] = V::splat(simd, a).mul_add_precise(x[v], sum[v]);
    }
}

/// y += a · x.
#[inline(always)]
pub fn axpy<S: Simd>(simd: S, a: f32, x: &[f32], y: &mut [f32]) {
    let x = &x[..y.len()];
    for_columns!(y.len(), |at, V, N| {
        let mut sum: [V<S>; N] = get(simd, y, at);
        multiply_add(simd, a, x, at, &mut sum);
        put(&sum, y, at);
    });
}

/// y += x.
#[inline(always)]
pub fn add<S: Simd>(simd: S, x: &[f32], y: &mut [f32]) {
    let x = &x[..y.len()];
    for_columns!(y.len(), |at, V, N| {
        let (x, mut sum): ([V<S>; N], [V<S>; N]) = (get(simd, x, at), get(simd, y, at));
        for v in 0..N {
            sum[v] += x[v];
        }
        put(&sum, y, at);
    });
}

/// ⟨x, y⟩.
#[inline(always)]
pub fn dot<S: Simd>(simd: S, x: &[f32], y: &[f32]) -> f32 {
    let mut total = f32x8::splat(simd, 0.0);
    for (x, y) in vectors(x).iter().zip(vectors(y)) {
        total =
            f32x8::load_array_ref(simd, x).mul_add_precise(f32x8::load_array_ref(simd, y), total);
    }
    math::sum(total)
}

/// y = x where `gate` is positive, else 0: the gradient of a ReLU with output `gate`.
#[inline(always)]
pub fn gate<S: Simd>(simd: S, gate: &[f32], x: &[f32], y: &mut [f32]) {
    let (gate, x) = (&gate[..y.len()], &x[..y.len()]);
    for_columns!(y.len(), |at, V, N| {
        let (gate, mut open): ([V<S>; N], [V<S>; N]) = (get(simd, gate, at), get(simd, x, at));
        for v in 0..N {
            open[v] = gate[v].simd_gt(0.0).select(open[v], V::splat(simd, 0.0));
        }
        put(&open, y, at);
    });
}

/// Rows that [`dots`] takes at a time.
pub const DOTS: usize = 4;

/// ⟨x, row⟩ of up to [`DOTS`] rows, each with the bits [`dot`] gives it; where there are fewer, the
/// last is repeated. Four sums are reduced to a number each in little more time than one.
#[inline(always)]
pub fn dots<S: Simd>(simd: S, x: &[f32], rows: &[f32]) -> f32x4<S> {
    /// A function: neither a closure nor `array::from_fn` would be inlined.
    #[inline(always)]
    fn row(rows: &[[f32; LANES]], width: usize, r: usize) -> &[[f32; LANES]] {
        &rows[r * width..][..width]
    }
    let last = rows.len() / x.len() - 1;
    let (x, rows, w) = (vectors(x), vectors(rows), x.len() / LANES);
    let rows: [_; DOTS] = [
        row(rows, w, 0),
        row(rows, w, last.min(1)),
        row(rows, w, last.min(2)),
        row(rows, w, last.min(3)),
    ];
    let mut totals = [f32x8::splat(simd, 0.0); DOTS];
    for (at, x) in x.iter().enumerate() {
        let x = f32x8::load_array_ref(simd, x);
        for r in 0..DOTS {
            totals[r] = x.mul_add_precise(f32x8::load_array_ref(simd, &rows[r][at]), totals[r]);
        }
    }
    math::sums(totals)
}

/// Stores as many of the [`dots`] as there is room for.
#[inline(always)]
pub fn store_dots<S: Simd>(dots: f32x4<S>, into: &mut [f32]) {
    match <&mut [f32; DOTS]>::try_from(&mut *into) {
        Ok(into) => dots.store_array(into),
        Err(_) => into.copy_from_slice(&dots.to_array()[..into.len()]),
    }
}

/// Goes on with a running maximum over rows, element by element, and with the number of the row
/// each element came from; ties stay with the row seen first. Row i is
/// `rows[i * stride + column..][..top.len()]` and has the number `first + i`.
#[inline(always)]
pub fn max_over_rows<S: Simd, F: Sources>(
    simd: S,
    rows: &[f32],
    (stride, column): (usize, usize),
    first: u32,
    top: &mut [f32],
    mut sources: F,
) {
    for_columns!(top.len(), |at, V, N| {
        let mut highest: [V<S>; N] = get(simd, top, at);
        let mut from = [F::all::<S, V<S>>(simd, 0); N];
        for (v, from) in from.iter_mut().enumerate() {
            *from = sources.get::<S, V<S>>(simd, at + v * V::<S>::LEN);
        }
        for (row, number) in rows.chunks_exact(stride).zip(first..) {
            let new: [V<S>; N] = get(simd, row, column + at);
            for v in 0..N {
                let higher = new[v].simd_gt(highest[v]);
                highest[v] = higher.select(new[v], highest[v]);
                from[v] = F::replace::<S, V<S>>(simd, higher, number, from[v]);
            }
        }
        put(&highest, top, at);
        for (v, from) in from.iter().enumerate() {
            sources.set::<S, V<S>>(at + v * V::<S>::LEN, *from);
        }
    });
}

/// into += every row in turn; row i is `rows[i * stride..][..into.len()]`.
#[inline(always)]
pub fn add_rows<S: Simd>(simd: S, rows: &[f32], stride: usize, into: &mut [f32]) {
    for_columns!(into.len(), |at, V, N| {
        let mut total: [V<S>; N] = get(simd, into, at);
        for row in rows.chunks_exact(stride) {
            let new: [V<S>; N] = get(simd, row, at);
            for v in 0..N {
                total[v] += new[v];
            }
        }
        put(&total, into, at);
    });
}
