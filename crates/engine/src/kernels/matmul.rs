//! Small matrix products: C = A·B with everything row-major and the number of columns a
//! multiple of 8.
//!
//! A tile of results stays in registers while the depth is walked once: up to 6 × 16 of them, or
//! 12 × 32 with AVX-512. Matrices here are some 20 × 32, so nothing is blocked for caches; rows are
//! split evenly between tiles (20 = 5 + 5 + 5 + 5, not 6 + 6 + 6 + 2). Each result is one chain of
//! fused multiply-adds in the order of the depth, so its bits do not depend on the tile it fell into.
//!
//! The loop over the depth is the only place in the project that reads memory unchecked: with a
//! check for every element it has twice the instructions and is no longer bound by arithmetic.
//! The bounds are asserted once a tile instead.

#[cfg(target_arch = "x86_64")]
use fearless_simd::f32x16;
use fearless_simd::{f32x8, prelude::*};

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
    /// One row everywhere, \[cols\]: a bias.
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
#[inline(always)]
pub fn matmul<S: Simd>(
    simd: S,
    shape: (usize, usize, usize),
    a: Mat,
    b: Mat,
    start: Start,
    then: Then,
    c: MatMut,
) {
    multiply::<S, false>(simd, shape, a, b, start, then, c);
}

/// C\[rows, cols\] += Aᵀ · B, where A is \[depth, rows\] and B is \[depth, cols\]: the weight gradient
/// of a layer, from its inputs and the gradients of its outputs.
#[inline(always)]
pub fn matmul_transposed<S: Simd>(
    simd: S,
    shape: (usize, usize, usize),
    a: Mat,
    b: Mat,
    c: MatMut,
) {
    // A sequence in which no pointer was asked for has no rows of queries at all.
    if shape.1 > 0 {
        multiply::<S, true>(simd, shape, a, b, Start::Result, Then::Store, c);
    }
}

/// The product with A or, if `T`, with Aᵀ.
///
/// Not inlined: one copy of each loop serves all callers, and a call is nothing beside a product.
#[inline(never)]
fn multiply<S: Simd, const T: bool>(
    simd: S,
    (rows, depth, cols): (usize, usize, usize),
    a: Mat,
    b: Mat,
    start: Start,
    then: Then,
    mut c: MatMut,
) {
    /// The tiles of as many whole strips of columns as are left from `$column` on, each `$n` vectors
    /// wide and as high as one of `$height`.
    macro_rules! strips {
        ($column:ident, $vector:ty, $n:literal, $($height:literal)*, $most:literal) => {
            while cols - $column >= $n * <$vector>::LEN {
                let b = mat(&b.data[$column..], b.stride);
                for (row, height) in even_blocks(rows, $most) {
                    let a = mat(&a.data[row * if T { 1 } else { a.stride }..], a.stride);
                    let c = Target { c: &mut c, row, column: $column, start, then };
                    match height {
                        $($height => tile::<S, $vector, $height, $n, T>(simd, depth, a, b, c),)*
                        _ => tile::<S, $vector, $most, $n, T>(simd, depth, a, b, c),
                    }
                }
                $column += $n * <$vector>::LEN;
            }
        };
    }
    simd.vectorize(
        #[inline(always)]
        || {
            let mut column = 0;
            // 24 accumulators leave 8 of 32 registers for operands; 12 leave 4 of 16.
            #[cfg(target_arch = "x86_64")]
            if matches!(simd.level(), fearless_simd::Level::Avx512(_)) {
                strips!(column, f32x16<S>, 2, 1 2 3 4 5 6 7 8 9 10 11, 12);
            }
            strips!(column, f32x8<S>, 2, 1 2 3 4 5, 6);
            strips!(column, f32x8<S>, 1, 1 2 3 4 5, 6);
        },
    )
}

/// Splits `rows` into as few blocks of at most `most` as possible, as even as possible: the place
/// and the height of each.
#[inline(always)]
fn even_blocks(rows: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    let blocks = rows.div_ceil(most);
    let (height, higher) = (rows / blocks.max(1), rows % blocks.max(1));
    (0..blocks).map(move |block| {
        (block * height + block.min(higher), height + usize::from(block < higher))
    })
}

/// Where a tile goes, and what is added to it first.
struct Target<'c, 'm, 's> {
    c: &'c mut MatMut<'m>,
    row: usize,
    column: usize,
    start: Start<'s>,
    then: Then,
}

/// One tile, of R rows and N vectors of columns.
#[allow(unsafe_code)]
#[inline(always)]
fn tile<S: Simd, V: SimdFloat<S, Element = f32>, const R: usize, const N: usize, const T: bool>(
    simd: S,
    depth: usize,
    a: Mat,
    b: Mat,
    target: Target,
) {
    /// The start of a sum that changes no sum, not even −0.
    const NOTHING: &[f32] = &[-0.0; 32];
    // How far apart the rows of the product, and the steps of the depth, lie in A.
    let (row, step) = if T { (1, a.stride) } else { (a.stride, 1) };
    if let Some(last) = depth.checked_sub(1) {
        assert!(a.data.len() > (R - 1) * row + last * step, "A is smaller than its shape");
        assert!(b.data.len() >= last * b.stride + N * V::LEN, "B is smaller than its shape");
    }
    let Target { c, row: first, column, start, then } = target;
    let c = MatMut { data: &mut c.data[first * c.stride + column..], stride: c.stride };
    assert!(c.data.len() >= (R - 1) * c.stride + N * V::LEN, "C is smaller than its shape");
    let start = match start {
        Start::Zero => Some(mat(NOTHING, 0)),
        Start::Row(bias) => Some(mat(&bias[column..], 0)),
        Start::Mat(m) => Some(mat(&m.data[first * m.stride + column..], m.stride)),
        Start::Result => None,
    };
    if let Some(start) = start {
        let least = (R - 1) * start.stride + N * V::LEN;
        assert!(start.data.len() >= least, "the start is smaller than its shape");
    }
    let into = c.data.as_mut_ptr();
    let (from, from_stride) =
        start.map_or((into.cast_const(), c.stride), |start| (start.data.as_ptr(), start.stride));
    // Steps of the depth at a time: then most addresses are constants. With 24 accumulators there is
    // no register left for that.
    let unroll = if T || V::LEN > 8 { 1 } else { 2 };
    // SAFETY: every place that is read or written is a vector of columns of one of the first R rows
    // of C and the start, an element of A's first R rows or a vector of B's at a depth that is below
    // `depth`, all of which the assertions cover. Loops without checks are what the compiler needs
    // to keep all of `sum` in registers.
    unsafe {
        let load = |at: *const f32| V::from_slice(simd, std::slice::from_raw_parts(at, V::LEN));
        let mut sum = [[V::splat(simd, 0.0); N]; R];
        let rows: [*const f32; R] = std::array::from_fn(|r| a.data.as_ptr().add(r * row));
        let mut multiply_add = |p: usize| {
            let line = b.data.as_ptr().add(p * b.stride);
            let right: [V; N] = std::array::from_fn(|v| load(line.add(v * V::LEN)));
            for r in 0..R {
                let left = V::splat(simd, *rows[r].add(p * step));
                for v in 0..N {
                    sum[r][v] = left.mul_add_precise(right[v], sum[r][v]);
                }
            }
        };
        let mut p = 0;
        while p + unroll <= depth {
            (p..p + unroll).for_each(&mut multiply_add);
            p += unroll;
        }
        (p..depth).for_each(multiply_add);
        for (r, sum) in sum.iter_mut().enumerate() {
            for (v, sum) in sum.iter_mut().enumerate() {
                *sum += load(from.add(r * from_stride + v * V::LEN));
            }
        }
        if then == Then::Relu {
            sum.as_flattened_mut().iter_mut().for_each(|sum| *sum = sum.max(0.0));
        }
        for (r, sum) in sum.iter().enumerate() {
            for (v, sum) in sum.iter().enumerate() {
                let into = into.add(r * c.stride + v * V::LEN);
                sum.store_slice(std::slice::from_raw_parts_mut(into, V::LEN));
            }
        }
    }
}
