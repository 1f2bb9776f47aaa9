//! Loops over rows of latents: sums, dots, maxima with the node they came from.

use fearless_simd::{f32x4, f32x8, prelude::*};

use super::{LANES, math, sources::Sources};

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
        a.mul_add_precise(f32x8::load_array_ref(simd, x), f32x8::load_array_ref(simd, y))
            .store_array(y);
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
        total =
            f32x8::load_array_ref(simd, x).mul_add_precise(f32x8::load_array_ref(simd, y), total);
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

/// Rows that [`dots`] takes at a time.
pub const DOTS: usize = 4;

/// ⟨x, row⟩ of up to [`DOTS`] rows, each with the bits [`dot`] gives it; where there are fewer, the
/// last is repeated. Four sums are reduced to a number each in little more time than one.
#[inline(always)]
pub fn dots<S: Simd>(simd: S, x: &[f32], rows: &[f32]) -> f32x4<S> {
    let last = rows.len() / x.len() - 1;
    let (x, rows) = (vectors(x), vectors(rows));
    // Spelt out: `array::from_fn` would not be inlined.
    let row = |r: usize| &rows[r.min(last) * x.len()..][..x.len()];
    let rows: [_; DOTS] = [row(0), row(1), row(2), row(3)];
    let mut totals = [f32x8::splat(simd, 0.0); DOTS];
    for (at, x) in x.iter().enumerate() {
        let x = f32x8::load_array_ref(simd, x);
        for (row, total) in rows.iter().zip(&mut totals) {
            *total = x.mul_add_precise(f32x8::load_array_ref(simd, &row[at]), *total);
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

/// Folds every column of some rows into what `into` has for it. Row i is
/// `rows[i * stride + column..][..width]`.
///
/// Four vectors of columns at a time: what is folded stays in registers, and one column's chain of
/// operations need not wait for another's.
#[inline(always)]
fn fold_rows<S: Simd, Into, T: Copy>(
    simd: S,
    rows: &[f32],
    (stride, column, width): (usize, usize, usize),
    into: &mut Into,
    begin: impl Fn(&Into, usize) -> T,
    step: impl Fn(T, f32x8<S>, usize) -> T,
    end: impl Fn(&mut Into, usize, T),
) {
    let mut at = 0;
    macro_rules! fold {
        ($vectors:literal) => {
            while at + $vectors * LANES <= width {
                let mut folded = [begin(into, at); $vectors];
                for (v, folded) in folded.iter_mut().enumerate().skip(1) {
                    *folded = begin(into, at + v * LANES);
                }
                for (i, row) in rows.chunks_exact(stride).enumerate() {
                    let row = &row[column + at..][..$vectors * LANES];
                    for (folded, new) in folded.iter_mut().zip(vectors(row)) {
                        *folded = step(*folded, f32x8::load_array_ref(simd, new), i);
                    }
                }
                for (v, folded) in folded.into_iter().enumerate() {
                    end(into, at + v * LANES, folded);
                }
                at += $vectors * LANES;
            }
        };
    }
    fold!(4);
    fold!(1);
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
    sources: F,
) {
    fold_rows(
        simd,
        rows,
        (stride, column, top.len()),
        &mut (top, sources),
        #[inline(always)]
        |(top, sources), at| (load(simd, top, at), sources.get(simd, at)),
        #[inline(always)]
        |(highest, from), new, i| {
            let higher = new.simd_gt(highest);
            let from = F::replace(simd, higher, first + i as u32, from);
            (higher.select(new, highest), from)
        },
        #[inline(always)]
        |(top, sources), at, (highest, from)| {
            store(highest, top, at);
            sources.set(at, from);
        },
    );
}

/// into += every row in turn; row i is `rows[i * stride..][..into.len()]`.
#[inline(always)]
pub fn add_rows<S: Simd>(simd: S, rows: &[f32], stride: usize, into: &mut [f32]) {
    fold_rows(
        simd,
        rows,
        (stride, 0, into.len()),
        &mut &mut *into,
        #[inline(always)]
        |into, at| load(simd, into, at),
        #[inline(always)]
        |total, new, _| new + total,
        #[inline(always)]
        |into, at, total| store(total, into, at),
    );
}
