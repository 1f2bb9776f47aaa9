//! Kernels against scalar code, over every small size and on every SIMD level.

use super::{
    LANES,
    math::{binary_cross_entropies, binary_cross_entropy, exp, sigmoid, softmax},
    matmul::{Start, Then, mat, mat_mut, matmul, matmul_transposed},
    rows::{DOTS, add, add_rows, axpy, dot, dots, gate, max_over_rows, store_dots},
};
use crate::simd::{SimdLevel, with_simd};
use fearless_simd::f32x8;
use fearless_simd::prelude::*;
use pgn_structures::Rng;

/// Numbers in [−1, 1) that are multiples of 1/16: products of two and sums of up to 2¹⁵ such
/// products are exact in f32, so that any order of summation, fused or not, has the same bits, and
/// a wrong element cannot hide behind a tolerance.
fn exact(count: usize, seed: u64) -> Vec<f32> {
    let mut rng = Rng::new([seed, count as u64, 0, 0]);
    (0..count).map(|_| rng.below(32) as f32 / 16.0 - 1.0).collect()
}

/// Numbers in [−1, 1) with all their bits.
fn rounded(count: usize, seed: u64) -> Vec<f32> {
    let mut rng = Rng::new([seed, count as u64, 1, 0]);
    (0..count).map(|_| 2.0 * rng.unit_f32() - 1.0).collect()
}

/// What lies outside of a result must stay as it is.
const UNTOUCHED: f32 = 77.0;

#[test]
fn matmul_of_every_small_shape() {
    for rows in 0..=20 {
        for depth in 0..=40 {
            for cols in (8..=104).step_by(8) {
                check_matmul(rows, depth, cols);
            }
        }
    }
}

fn check_matmul(rows: usize, depth: usize, cols: usize) {
    // Strides beyond the width, as where one matrix is part of another.
    let (a_stride, b_stride, c_stride, m_stride) = (depth + 3, cols + 8, cols + 16, cols + 5);
    let a = exact((rows + 1) * a_stride, 1);
    let b = exact((depth + 1) * b_stride, 2);
    let bias = exact(cols, 3);
    let start_mat = exact((rows + 1) * m_stride, 4);
    let before = exact(rows * c_stride + cols, 5);
    for (number, start) in
        [Start::Zero, Start::Row(&bias), Start::Mat(mat(&start_mat, m_stride)), Start::Result]
            .into_iter()
            .enumerate()
    {
        for then in [Then::Store, Then::Relu] {
            let mut expected = before.clone();
            for i in 0..rows {
                for j in 0..cols {
                    let sum: f32 =
                        (0..depth).map(|p| a[i * a_stride + p] * b[p * b_stride + j]).sum();
                    let sum = sum
                        + match start {
                            Start::Zero => 0.0,
                            Start::Row(bias) => bias[j],
                            Start::Mat(m) => m.data[i * m.stride + j],
                            Start::Result => before[i * c_stride + j],
                        };
                    let open = then == Then::Store || sum > 0.0;
                    expected[i * c_stride + j] = if open { sum } else { 0.0 };
                }
            }
            for level in SimdLevel::all() {
                let mut c = before.clone();
                with_simd!(level, simd => matmul(
                    simd,
                    (rows, depth, cols),
                    mat(&a, a_stride),
                    mat(&b, b_stride),
                    start,
                    then,
                    mat_mut(&mut c, c_stride),
                ));
                assert!(
                    c == expected,
                    "{rows}×{depth}×{cols}, start {number}, relu {}, {}",
                    then == Then::Relu,
                    level.name()
                );
            }
        }
    }
}

#[test]
fn matmul_transposed_of_every_small_shape() {
    for rows in 0..=20 {
        for depth in 0..=40 {
            for cols in (8..=104).step_by(8) {
                let (a_stride, b_stride, c_stride) = (rows + 3, cols + 8, cols + 16);
                let a = exact(depth * a_stride, 1);
                let b = exact(depth * b_stride, 2);
                let before = exact(rows * c_stride, 5);
                let mut expected = before.clone();
                for i in 0..rows {
                    for j in 0..cols {
                        expected[i * c_stride + j] += (0..depth)
                            .map(|p| a[p * a_stride + i] * b[p * b_stride + j])
                            .sum::<f32>();
                    }
                }
                for level in SimdLevel::all() {
                    let mut c = before.clone();
                    let (a, b) = (mat(&a, a_stride), mat(&b, b_stride));
                    with_simd!(level, simd => {
                        matmul_transposed(simd, (rows, depth, cols), a, b, mat_mut(&mut c, c_stride));
                    });
                    assert!(c == expected, "{rows}×{depth}×{cols}, {}", level.name());
                }
            }
        }
    }
}

/// What `run` gives with every level, which must be the same bits.
fn same_bits(what: &str, run: impl Fn(SimdLevel) -> Vec<f32>) {
    let bits = |level| -> Vec<u32> { run(level).iter().map(|value| value.to_bits()).collect() };
    let levels = SimdLevel::all();
    let first = bits(levels[0]);
    for &level in &levels[1..] {
        assert!(bits(level) == first, "{what}: {}, {}", level.name(), levels[0].name());
    }
}

/// Rounding is the same on all levels: numbers with all their bits, tiny and huge ones among them.
#[test]
fn every_kernel_has_the_same_bits_on_all_levels() {
    let values = |count: usize, seed: u64| -> Vec<f32> {
        let mut values = rounded(count, seed);
        for (i, value) in values.iter_mut().enumerate() {
            *value *= [1.0, 1.0, 1e-3, 1e-20, 1e-39, 1e4][(i * 7 + i / 5) % 6];
        }
        values
    };
    for rows in 1..=26 {
        for (depth, k) in (8..=104).step_by(8).flat_map(|k| [(1, k), (7, k), (33, k)]) {
            let what = format!("{rows}×{depth}×{k}");
            let (a, b) = (values(rows * depth, 1), values(depth * k, 2));
            let (c, bias) = (values(rows * k, 3), values(k, 4));
            same_bits(&what, |level| {
                let [mut relu, mut transposed] = [c.clone(), c.clone()];
                with_simd!(level, simd => {
                    let (shape, a, b) = ((rows, depth, k), mat(&a, depth), mat(&b, k));
                    let into = mat_mut(&mut relu, k);
                    matmul(simd, shape, a, b, Start::Row(&bias), Then::Relu, into);
                    let (a, into) = (mat(a.data, rows), mat_mut(&mut transposed, k));
                    matmul_transposed(simd, shape, a, b, into);
                });
                [relu, transposed].concat()
            });
            if depth > 1 {
                continue;
            }
            same_bits(&what, |level| {
                let [mut top, mut sum, mut gated] = [bias.clone(), bias.clone(), bias.clone()];
                let mut source = vec![0; k];
                let mut scores = vec![f32::NEG_INFINITY; rows.next_multiple_of(LANES)];
                let mut gradient = scores.clone();
                let ones: Vec<u8> = (0..rows).map(|i| (i % 2) as u8).collect();
                with_simd!(level, simd => {
                    max_over_rows(simd, &c, (k, 0), 0, &mut top, &mut source[..]);
                    add_rows(simd, &c, k, &mut sum);
                    axpy(simd, 0.3, &c[..k], &mut sum);
                    add(simd, &top, &mut sum);
                    gate(simd, &c[..k], &sum, &mut gated);
                    for (scores, rows) in scores[..rows].chunks_mut(DOTS).zip(c.chunks(DOTS * k)) {
                        store_dots(dots(simd, &bias, rows), scores);
                    }
                    scores.push(dot(simd, &bias, &c[..k]));
                    let last = scores.pop();
                    let log = softmax(simd, &mut scores);
                    let loss = binary_cross_entropies(simd, &c, &ones, 0.5, &mut gradient);
                    gated.extend(last);
                    gated.extend([log, loss as f32, (loss - f64::from(loss as f32)) as f32]);
                });
                let sources = source.into_iter().map(|source| source as f32).collect();
                [top, sum, gated, scores, gradient, sources].concat()
            });
        }
    }
}

/// Rows are split between tiles in a way that depends on how many there are; their bits must not.
#[test]
fn a_row_has_the_same_bits_in_any_tile() {
    let (depth, cols) = (37, 24);
    let (a, b) = (rounded(20 * depth, 1), rounded(depth * cols, 2));
    for level in SimdLevel::all() {
        let product = |rows: usize| {
            let mut c = vec![0.0; rows * cols];
            let (a, b) = (mat(&a, depth), mat(&b, cols));
            with_simd!(level, simd => {
                let shape = (rows, depth, cols);
                matmul(simd, shape, a, b, Start::Zero, Then::Store, mat_mut(&mut c, cols));
            });
            c
        };
        let whole = product(20);
        for rows in 1..20 {
            assert!(product(rows) == whole[..rows * cols], "{rows} rows, {}", level.name());
        }
    }
}

#[test]
fn loops_over_rows() {
    for k in (8..=104).step_by(8) {
        let (x, y) = (exact(k, 1), exact(k, 2));
        for level in SimdLevel::all() {
            with_simd!(level, simd => {
                let mut sum = y.clone();
                add(simd, &x, &mut sum);
                let mut scaled = y.clone();
                axpy(simd, 0.5, &x, &mut scaled);
                let mut gated = vec![UNTOUCHED; k];
                gate(simd, &x, &y, &mut gated);
                for i in 0..k {
                    assert_eq!(sum[i], y[i] + x[i]);
                    assert_eq!(scaled[i], y[i] + 0.5 * x[i]);
                    assert_eq!(gated[i], if x[i] > 0.0 { y[i] } else { 0.0 });
                }
                assert_eq!(dot(simd, &x, &y), x.iter().zip(&y).map(|(x, y)| x * y).sum::<f32>());
            });
        }
    }
}

/// Several at a time or one by one, the bits are the same.
#[test]
fn dots_are_those_of_single_rows() {
    for k in (8..=104).step_by(8) {
        let x = rounded(k, 1);
        for count in 1..=DOTS {
            let rows = rounded(count * k, 2);
            for level in SimdLevel::all() {
                let mut together = vec![UNTOUCHED; count];
                with_simd!(level, simd => {
                    store_dots(dots(simd, &x, &rows), &mut together);
                    for (row, together) in rows.chunks_exact(k).zip(&together) {
                        assert_eq!(together.to_bits(), dot(simd, &x, row).to_bits());
                    }
                });
            }
        }
    }
}

/// Few values, so that most maxima are tied; the first row that has one must be named. Rows are
/// parts of longer ones, and come in two goes.
#[test]
fn maxima_stay_with_the_first_of_equals() {
    let (n, k, stride, column) = (9, 24, 40, 16);
    let rows: Vec<f32> =
        exact(n * stride, 1).iter().map(|x| x.signum() * (x.abs() > 0.5) as u8 as f32).collect();
    for level in SimdLevel::all() {
        let mut top = vec![f32::NEG_INFINITY; k];
        let mut source = vec![0; k];
        let (early, late) = rows.split_at(4 * stride);
        with_simd!(level, simd => {
            max_over_rows(simd, early, (stride, column), 100, &mut top, &mut source[..]);
            max_over_rows(simd, late, (stride, column), 104, &mut top, &mut source[..]);
        });
        for d in 0..k {
            let column: Vec<f32> = (0..n).map(|i| rows[i * stride + column + d]).collect();
            let largest = column.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let first = column.iter().position(|&value| value == largest).unwrap();
            assert_eq!((top[d], source[d]), (largest, 100 + first as u32));
        }
        // Without the place, over whole rows.
        let mut top = vec![-0.5; stride];
        with_simd!(level, simd => max_over_rows(simd, &rows, (top.len(), 0), 0, &mut top, ()));
        for (d, &top) in top.iter().enumerate() {
            assert_eq!(top, (0..n).map(|i| rows[i * stride + d]).fold(-0.5, f32::max));
        }
    }
}

#[test]
fn rows_add_up_in_turn() {
    for (n, k, stride) in [(0, 8, 8), (1, 16, 40), (7, 32, 96)] {
        let rows = rounded(n * stride, 3);
        let before = rounded(k, 4);
        for level in SimdLevel::all() {
            let mut sum = before.clone();
            with_simd!(level, simd => add_rows(simd, &rows, stride, &mut sum));
            for d in 0..k {
                let expected = (0..n).fold(before[d], |sum, i| sum + rows[i * stride + d]);
                assert_eq!(sum[d].to_bits(), expected.to_bits());
            }
        }
    }
}

#[test]
fn exponentials() {
    for level in SimdLevel::all() {
        let eight = |x: [f32; LANES]| -> [f32; LANES] {
            with_simd!(level, simd => exp(simd, f32x8::from_slice(simd, &x)).into())
        };
        // Every 1/64 from −87 to 88.
        for start in (-87 * 64..88 * 64).step_by(LANES) {
            let x: [f32; LANES] = std::array::from_fn(|lane| (start + lane as i32) as f32 / 64.0);
            for (x, y) in x.into_iter().zip(eight(x)) {
                let truth = f64::from(x).exp();
                let off = (f64::from(y) - truth).abs() / truth;
                // 2 units in the last place.
                assert!(off < 2.4e-7, "e^{x} is {y}, not {truth}; {}", level.name());
            }
        }
        assert_eq!(eight([0.0; LANES]), [1.0; LANES]);
        let ends =
            eight([f32::NEG_INFINITY, -1e30, -100.0, 100.0, 1e30, f32::INFINITY, -87.0, 88.0]);
        assert!(ends[..3].iter().all(|&y| y == ends[6] && y < 2e-38), "{ends:?}");
        assert!(ends[3..6].iter().all(|&y| y == ends[7] && y.is_finite()), "{ends:?}");
    }
}

#[test]
fn sigmoids_and_single_cross_entropies() {
    for i in -4000..=4000 {
        let x = i as f32 / 32.0;
        let truth = 1.0 / (1.0 + (-f64::from(x)).exp());
        assert!((f64::from(sigmoid(x)) - truth).abs() < 1.2e-7, "σ({x})");
        for (target, probability) in [(true, truth), (false, 1.0 - truth)] {
            let loss = binary_cross_entropy(x, target);
            assert!(loss.is_finite() && loss >= 0.0);
            // Where 1 − σ has lost its digits the loss is |x|.
            let expected = if probability > 1e-6 { -probability.ln() } else { f64::from(x).abs() };
            assert!((loss - expected).abs() < 1e-5, "loss of {x} for {target}");
        }
    }
    assert_eq!(sigmoid(f32::INFINITY), 1.0);
    assert_eq!(sigmoid(f32::NEG_INFINITY), 0.0);
    assert!(sigmoid(f32::NAN).is_nan());
}

/// Up to more nodes than share one logarithm (512).
#[test]
fn cross_entropies_of_many() {
    for n in (0..=40usize).chain([511, 512, 513, 1030]) {
        let padded = n.next_multiple_of(LANES);
        let mut logits: Vec<f32> = rounded(padded, 7).iter().map(|x| 12.0 * x).collect();
        logits[n..].fill(0.0);
        let targets: Vec<u8> = rounded(n, 8).iter().map(|&x| u8::from(x > 0.3)).collect();
        let expected: f64 =
            logits.iter().zip(&targets).map(|(&x, &t)| binary_cross_entropy(x, t == 1)).sum();
        for level in SimdLevel::all() {
            let mut gradient = vec![UNTOUCHED; padded];
            let loss = with_simd!(level, simd => {
                binary_cross_entropies(simd, &logits, &targets, 0.25, &mut gradient)
            });
            // Each loss has been rounded to f32 somewhere, by 1e-6 at most for logits below 12.
            assert!((loss - expected).abs() < 1e-6 * (n as f64 + 1.0), "{n}: {loss}, {expected}");
            for i in 0..n {
                let truth = 0.25 * (sigmoid(logits[i]) - f32::from(targets[i]));
                assert!((gradient[i] - truth).abs() < 1e-7, "{n}: gradient {i}");
            }
        }
    }
}

#[test]
fn softmaxes() {
    for n in 1..=40usize {
        for spread in [1.0, 30.0, 1e4] {
            let scores: Vec<f32> = rounded(n, 9).iter().map(|x| spread * x).collect();
            for excluded in [0, 1, n / 2] {
                let mut row = scores.clone();
                // The last one is never excluded, as a node never is for itself.
                row[..excluded.min(n - 1)].fill(f32::NEG_INFINITY);
                let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let powers: Vec<f64> = row.iter().map(|&s| f64::from(s - top).exp()).collect();
                let total: f64 = powers.iter().sum();
                for level in SimdLevel::all() {
                    let mut alpha = row.clone();
                    alpha.resize(n.next_multiple_of(LANES), f32::NEG_INFINITY);
                    let log_sum = with_simd!(level, simd => softmax(simd, &mut alpha));
                    let expected = f64::from(top) + total.ln();
                    let off = (f64::from(log_sum) - expected).abs();
                    assert!(off <= 1e-6 * expected.abs().max(1.0), "{n}: {log_sum}, {expected}");
                    for (j, (&ours, power)) in alpha.iter().zip(&powers).enumerate() {
                        let off = (f64::from(ours) - power / total).abs();
                        assert!(off < 1e-6, "{n}: α of {j} is {ours}");
                        assert!(row[j] > f32::NEG_INFINITY || ours == 0.0);
                    }
                    assert!(alpha[n..].iter().all(|&ours| ours == 0.0), "padding has no share");
                }
            }
        }
    }
}

/// NaN goes through as NaN or is dropped; it never panics.
#[test]
fn nan_is_harmless() {
    for level in SimdLevel::all() {
        let mut row = [f32::NAN, 1.0, f32::INFINITY, -1.0, 0.0, f32::NAN, f32::NEG_INFINITY, 3.0];
        let mut gradient = [0.0; LANES];
        let (mut top, mut source) = ([f32::NEG_INFINITY; LANES], [3; LANES]);
        with_simd!(level, simd => {
            binary_cross_entropies(simd, &row, &[1; LANES], 1.0, &mut gradient);
            max_over_rows(simd, &row, (LANES, 0), 9, &mut top, &mut source[..]);
            let mut alone = [f32::NEG_INFINITY; LANES];
            max_over_rows(simd, &row, (LANES, 0), 0, &mut alone, ());
            assert_eq!(alone, top);
            softmax(simd, &mut row);
        });
        assert_eq!(source, [3, 9, 9, 9, 9, 3, 3, 9], "NaN is no maximum");
    }
}
