//! Small matrix products: C = A·B with everything row-major and the number of columns a
//! multiple of 8.
//!
//! A tile of up to 6 × 16 results stays in registers while the depth is walked once. Matrices here
//! are some 20 × 32, so nothing is blocked for caches; rows are split evenly between tiles
//! (20 = 5 + 5 + 5 + 5, not 6 + 6 + 6 + 2). Each result is one chain of multiply-adds in the order of
//! the depth, so its bits do not depend on the tile it fell into.
//!
//! The loops over the depth are the only place in the project that reads memory unchecked: with a
//! check for every element the loop has twice the instructions and is no longer bound by arithmetic.
//! The bounds are asserted once a tile instead.

use fearless_simd::{f32x8, prelude::*};

use super::{
    LANES,
    rows::{load, store},
};

/// Columns of a tile: two vectors.
const WIDTH: usize = 2 * LANES;
/// The most rows a tile has: 6 × 2 accumulators leave 4 of 16 registers for operands.
const ROWS: usize = 6;

/// A matrix in a slice: row i starts at `i * stride`.
#[derive(Clone, Copy)]
pub struct Mat<'a> {
    pub data: &'a [f32],
    pub stride: usize,
}

/// [`Mat`], to change.
pub struct MatMut<'a> {
    pub data: &'a mut [f32],
    pub stride: usize,
}

/// Shorthand for [`MatMut`].
pub fn mat_mut(data: &mut [f32], stride: usize) -> MatMut<'_> {
    MatMut { data, stride }
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

/// A function call with the height of a tile as a constant.
macro_rules! with_height {
    ($height:expr, $call:ident ( $($arg:expr),* )) => {
        match $height {
            1 => $call::<S, 1>($($arg),*),
            2 => $call::<S, 2>($($arg),*),
            3 => $call::<S, 3>($($arg),*),
            4 => $call::<S, 4>($($arg),*),
            5 => $call::<S, 5>($($arg),*),
            _ => $call::<S, ROWS>($($arg),*),
        }
    };
}

/// C\[rows, cols\] = then(start + A\[rows, depth\] · B\[depth, cols\]).
///
/// Not inlined: one copy of each loop serves all callers, and a call is nothing beside a product.
#[inline(never)]
pub fn matmul<S: Simd>(
    simd: S,
    (rows, depth, cols): (usize, usize, usize),
    a: Mat,
    b: Mat,
    start: Start,
    then: Then,
    c: MatMut,
) {
    simd.vectorize(
        #[inline(always)]
        || {
            for column in (0..cols).step_by(WIDTH) {
                let b = mat(&b.data[column..], b.stride);
                for (row, height) in even_blocks(rows) {
                    let a = mat(&a.data[row * a.stride..], a.stride);
                    let c = Target { data: c.data, stride: c.stride, row, column, start, then };
                    if cols - column >= WIDTH {
                        with_height!(height, product(simd, depth, a, b, c));
                    } else {
                        with_height!(height, product_narrow(simd, depth, a, b, c));
                    }
                }
            }
        },
    )
}

/// C\[rows, cols\] += Aᵀ · B, where A is \[depth, rows\] and B is \[depth, cols\]: the weight gradient
/// of a layer, from its inputs and the gradients of its outputs.
#[inline(never)]
pub fn matmul_transposed<S: Simd>(
    simd: S,
    (rows, depth, cols): (usize, usize, usize),
    a: Mat,
    b: Mat,
    c: MatMut,
) {
    // A sequence in which no pointer was asked for has no rows of queries at all.
    if depth == 0 {
        return;
    }
    let (start, then) = (Start::Result, Then::Store);
    simd.vectorize(
        #[inline(always)]
        || {
            for column in (0..cols).step_by(WIDTH) {
                let b = mat(&b.data[column..], b.stride);
                for (row, height) in even_blocks(rows) {
                    let a = mat(&a.data[row..], a.stride);
                    let c = Target { data: c.data, stride: c.stride, row, column, start, then };
                    if cols - column >= WIDTH {
                        with_height!(height, product_t(simd, depth, a, b, c));
                    } else {
                        with_height!(height, product_t_narrow(simd, depth, a, b, c));
                    }
                }
            }
        },
    )
}

/// Splits `rows` into as few blocks of at most [`ROWS`] as possible, as even as possible: the place
/// and the height of each.
#[inline(always)]
fn even_blocks(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    let blocks = rows.div_ceil(ROWS);
    let (height, higher) = (rows / blocks.max(1), rows % blocks.max(1));
    (0..blocks).map(move |block| {
        (block * height + block.min(higher), height + usize::from(block < higher))
    })
}

/// Where a tile goes, and what is added to it first.
struct Target<'c, 's> {
    data: &'c mut [f32],
    stride: usize,
    row: usize,
    column: usize,
    start: Start<'s>,
    then: Then,
}

impl Target<'_, '_> {
    /// Adds the start, applies what follows, stores the tile.
    #[inline(always)]
    fn take<S: Simd, const R: usize, const V: usize>(self, simd: S, mut sum: [[f32x8<S>; V]; R]) {
        let Target { data, stride, row, column, start, then } = self;
        let place = |stride: usize| row * stride + column;
        let target = &mut data[place(stride)..];
        match start {
            Start::Zero => {}
            Start::Row(bias) => add_tile(simd, mat(&bias[column..], 0), &mut sum),
            Start::Mat(m) => add_tile(simd, mat(&m.data[place(m.stride)..], m.stride), &mut sum),
            Start::Result => add_tile(simd, mat(target, stride), &mut sum),
        }
        if then == Then::Relu {
            let zero = f32x8::splat(simd, 0.0);
            sum.as_flattened_mut().iter_mut().for_each(|sum| *sum = sum.max(zero));
        }
        for (r, sum) in sum.into_iter().enumerate() {
            let target = &mut target[r * stride..][..V * LANES];
            for (v, sum) in sum.into_iter().enumerate() {
                store(sum, target, v * LANES);
            }
        }
    }
}

/// sum += the first R rows of `from`.
#[inline(always)]
fn add_tile<S: Simd, const R: usize, const V: usize>(
    simd: S,
    from: Mat,
    sum: &mut [[f32x8<S>; V]; R],
) {
    for (r, sum) in sum.iter_mut().enumerate() {
        let from = &from.data[r * from.stride..][..V * LANES];
        for (v, sum) in sum.iter_mut().enumerate() {
            *sum += load(simd, from, v * LANES);
        }
    }
}

/// One tile of A·B; A's rows are walked side by side.
#[allow(unsafe_code)]
#[inline(always)]
fn product<S: Simd, const R: usize>(simd: S, depth: usize, a: Mat, b: Mat, c: Target) {
    /// The depth is walked in strides of this many, so that most addresses are constants.
    const UNROLL: usize = 4;
    assert!(a.data.len() >= (R - 1) * a.stride + depth, "A is smaller than its shape");
    assert!(depth == 0 || b.data.len() >= (depth - 1) * b.stride + WIDTH, "B is too small");
    let mut sum = [[f32x8::splat(simd, 0.0); 2]; R];
    // SAFETY: all reads are at rows r < R of A, rows p < depth of B, and elements p < depth or
    // below WIDTH of those, which the assertions cover.
    unsafe {
        let rows: [*const f32; R] = std::array::from_fn(|r| a.data.as_ptr().add(r * a.stride));
        let line = |p: usize| &*b.data.as_ptr().add(p * b.stride).cast::<[f32; WIDTH]>();
        let mut p = 0;
        while p + UNROLL <= depth {
            for q in p..p + UNROLL {
                multiply_add(simd, |r| *rows[r].add(q), line(q), &mut sum);
            }
            p += UNROLL;
        }
        for q in p..depth {
            multiply_add(simd, |r| *rows[r].add(q), line(q), &mut sum);
        }
    }
    c.take(simd, sum);
}

/// One tile of Aᵀ·B.
#[allow(unsafe_code)]
#[inline(always)]
fn product_t<S: Simd, const R: usize>(simd: S, depth: usize, a: Mat, b: Mat, c: Target) {
    assert!(a.data.len() >= (depth - 1) * a.stride + R, "A is smaller than its shape");
    assert!(b.data.len() >= (depth - 1) * b.stride + WIDTH, "B is smaller than its shape");
    let mut sum = [[f32x8::splat(simd, 0.0); 2]; R];
    for p in 0..depth {
        // SAFETY: `p` is below `depth`, so the assertions cover both reads.
        let (left, line) = unsafe {
            let left = a.data.as_ptr().add(p * a.stride).cast::<[f32; R]>();
            let line = b.data.as_ptr().add(p * b.stride).cast::<[f32; WIDTH]>();
            (&*left, &*line)
        };
        multiply_add(simd, |r| left[r], line, &mut sum);
    }
    c.take(simd, sum);
}

/// [`product`] where only 8 columns are left.
#[inline(always)]
fn product_narrow<S: Simd, const R: usize>(simd: S, depth: usize, a: Mat, b: Mat, c: Target) {
    let mut sum = [[f32x8::splat(simd, 0.0)]; R];
    for p in 0..depth {
        let right = load(simd, b.data, p * b.stride);
        for (r, sum) in sum.iter_mut().enumerate() {
            sum[0] = f32x8::splat(simd, a.data[r * a.stride + p]).mul_add(right, sum[0]);
        }
    }
    c.take(simd, sum);
}

/// [`product_t`] where only 8 columns are left.
#[inline(always)]
fn product_t_narrow<S: Simd, const R: usize>(simd: S, depth: usize, a: Mat, b: Mat, c: Target) {
    let mut sum = [[f32x8::splat(simd, 0.0)]; R];
    for p in 0..depth {
        let left = &a.data[p * a.stride..][..R];
        let right = load(simd, b.data, p * b.stride);
        for (left, sum) in left.iter().zip(&mut sum) {
            sum[0] = f32x8::splat(simd, *left).mul_add(right, sum[0]);
        }
    }
    c.take(simd, sum);
}

/// sum += left ⊗ line.
#[inline(always)]
fn multiply_add<S: Simd, const R: usize>(
    simd: S,
    left: impl Fn(usize) -> f32,
    line: &[f32; WIDTH],
    sum: &mut [[f32x8<S>; 2]; R],
) {
    let right = [load(simd, line, 0), load(simd, line, LANES)];
    for (r, sum) in sum.iter_mut().enumerate() {
        let left = f32x8::splat(simd, left(r));
        sum[0] = left.mul_add(right[0], sum[0]);
        sum[1] = left.mul_add(right[1], sum[1]);
    }
}
