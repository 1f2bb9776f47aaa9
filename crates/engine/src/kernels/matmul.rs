//! Small matrix products: C = A·B with everything row-major and the number of columns a
//! multiple of 8.
//!
//! A tile of up to 6 × 16 results stays in registers while the depth is walked once. Matrices here
//! are some 20 × 32, so nothing is packed or blocked for caches; rows are split evenly between
//! tiles (20 = 5 + 5 + 5 + 5, not 6 + 6 + 6 + 2). Each result is one chain of multiply-adds in the
//! order of the depth, so its bits do not depend on the tile it fell into.

use fearless_simd::{f32x8, prelude::*};

use super::LANES;

/// The most rows a tile has: 6 × 2 accumulators leave 4 of 16 registers for operands.
const ROWS: usize = 6;

/// A matrix in a slice: row i starts at `i * stride`.
#[derive(Clone, Copy)]
pub struct Mat<'a> {
    pub data: &'a [f32],
    pub stride: usize,
}

/// Shorthand for [`Mat`].
pub fn mat(data: &[f32], stride: usize) -> Mat<'_> {
    Mat { data, stride }
}

/// What a product starts from.
#[derive(Clone, Copy)]
pub enum Start<'a> {
    /// 0
    Zero,
    /// The same row everywhere, \[cols\]: a bias.
    Row(&'a [f32]),
    /// A matrix of the result's shape.
    Mat(Mat<'a>),
    /// What the result holds already.
    Result,
}

/// What happens to a result before it is stored.
#[derive(Clone, Copy, PartialEq)]
pub enum Then {
    Store,
    Relu,
}

/// C\[rows, cols\] = then(start + A\[rows, depth\] · B\[depth, cols\]).
#[allow(clippy::too_many_arguments)] // the shape of a matrix product
#[inline(always)]
pub fn matmul<S: Simd>(
    simd: S,
    (rows, depth, cols): (usize, usize, usize),
    a: Mat,
    b: Mat,
    start: Start,
    then: Then,
    c: &mut [f32],
    c_stride: usize,
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let mut column = 0;
            while column < cols {
                let wide = cols - column >= 2 * LANES;
                let b = mat(&b.data[column..], b.stride);
                for (row, height) in even_blocks(rows) {
                    let a = mat(&a.data[row * a.stride..], a.stride);
                    let place = Place { row, column, start, then, c_stride };
                    macro_rules! tile {
                        ($($r:literal)*) => {
                            match height {
                                $($r if wide => product::<S, $r, 2>(simd, depth, a, b, place, c),
                                $r => product::<S, $r, 1>(simd, depth, a, b, place, c),)*
                                _ => unreachable!("blocks have 1 to 6 rows"),
                            }
                        };
                    }
                    tile!(1 2 3 4 5 6);
                }
                column += if wide { 2 * LANES } else { LANES };
            }
        },
    )
}

/// C\[rows, cols\] += Aᵀ · B, where A is \[depth, rows\] and B is \[depth, cols\]: the weight gradient
/// of a layer, from its inputs and the gradients of its outputs.
#[inline(always)]
pub fn matmul_transposed<S: Simd>(
    simd: S,
    (rows, depth, cols): (usize, usize, usize),
    a: Mat,
    b: Mat,
    c: &mut [f32],
    c_stride: usize,
) {
    // A sequence in which no pointer was asked for has no rows of queries at all.
    if depth == 0 {
        return;
    }
    simd.vectorize(
        #[inline(always)]
        || {
            let mut column = 0;
            while column < cols {
                let wide = cols - column >= 2 * LANES;
                let b = mat(&b.data[column..], b.stride);
                for (row, height) in even_blocks(rows) {
                    let a = mat(&a.data[row..], a.stride);
                    let place =
                        Place { row, column, start: Start::Result, then: Then::Store, c_stride };
                    macro_rules! tile {
                        ($($r:literal)*) => {
                            match height {
                                $($r if wide => product_t::<S, $r, 2>(simd, depth, a, b, place, c),
                                $r => product_t::<S, $r, 1>(simd, depth, a, b, place, c),)*
                                _ => unreachable!("blocks have 1 to 6 rows"),
                            }
                        };
                    }
                    tile!(1 2 3 4 5 6);
                }
                column += if wide { 2 * LANES } else { LANES };
            }
        },
    )
}

/// Splits `rows` into as few blocks of at most [`ROWS`] as possible, as even as possible.
#[inline(always)]
fn even_blocks(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    let blocks = rows.div_ceil(ROWS);
    (0..blocks).map(move |block| {
        let (from, to) = (block * rows / blocks, (block + 1) * rows / blocks);
        (from, to - from)
    })
}

/// Where a tile lies in the result and how it gets there.
#[derive(Clone, Copy)]
struct Place<'a> {
    row: usize,
    column: usize,
    start: Start<'a>,
    then: Then,
    c_stride: usize,
}

type Tile<S, const R: usize, const V: usize> = [[f32x8<S>; V]; R];

/// One tile of A·B; A's rows are walked side by side.
#[inline(always)]
fn product<S: Simd, const R: usize, const V: usize>(
    simd: S,
    depth: usize,
    a: Mat,
    b: Mat,
    place: Place,
    c: &mut [f32],
) {
    let mut sum: Tile<S, R, V> = [[f32x8::splat(simd, 0.0); V]; R];
    let rows: [&[f32]; R] = std::array::from_fn(|r| &a.data[r * a.stride..][..depth]);
    #[allow(clippy::needless_range_loop)] // p walks all rows at once
    for p in 0..depth {
        let row = &b.data[p * b.stride..][..LANES * V];
        let right: [f32x8<S>; V] =
            std::array::from_fn(|v| f32x8::from_slice(simd, &row[LANES * v..][..LANES]));
        for r in 0..R {
            let left = f32x8::splat(simd, rows[r][p]);
            for v in 0..V {
                sum[r][v] = left.mul_add(right[v], sum[r][v]);
            }
        }
    }
    finish(simd, sum, place, c);
}

/// One tile of Aᵀ·B.
#[inline(always)]
fn product_t<S: Simd, const R: usize, const V: usize>(
    simd: S,
    depth: usize,
    a: Mat,
    b: Mat,
    place: Place,
    c: &mut [f32],
) {
    let mut sum: Tile<S, R, V> = [[f32x8::splat(simd, 0.0); V]; R];
    for p in 0..depth {
        let left = &a.data[p * a.stride..][..R];
        let row = &b.data[p * b.stride..][..LANES * V];
        let right: [f32x8<S>; V] =
            std::array::from_fn(|v| f32x8::from_slice(simd, &row[LANES * v..][..LANES]));
        for r in 0..R {
            let left = f32x8::splat(simd, left[r]);
            for v in 0..V {
                sum[r][v] = left.mul_add(right[v], sum[r][v]);
            }
        }
    }
    finish(simd, sum, place, c);
}

/// Adds the start, applies what follows, stores the tile.
#[inline(always)]
fn finish<S: Simd, const R: usize, const V: usize>(
    simd: S,
    sum: Tile<S, R, V>,
    place: Place,
    c: &mut [f32],
) {
    let zero = f32x8::splat(simd, 0.0);
    for (r, sum) in sum.iter().enumerate() {
        let row = place.row + r;
        let target = &mut c[row * place.c_stride + place.column..][..LANES * V];
        for v in 0..V {
            let target = &mut target[LANES * v..][..LANES];
            let column = place.column + LANES * v;
            let mut value = match place.start {
                Start::Zero => sum[v],
                Start::Row(bias) => sum[v] + f32x8::from_slice(simd, &bias[column..][..LANES]),
                Start::Mat(m) => {
                    sum[v] + f32x8::from_slice(simd, &m.data[row * m.stride + column..][..LANES])
                }
                Start::Result => sum[v] + f32x8::from_slice(simd, target),
            };
            if place.then == Then::Relu {
                value = value.max(zero);
            }
            value.store_slice(target);
        }
    }
}
