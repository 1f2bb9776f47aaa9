//! Exponentials and what is made of them: sigmoid, binary cross-entropy, softmax.

use fearless_simd::{f32x4, f32x8, f64x2, i32x8, prelude::*};

use super::LANES;

/// eˣ to within 2 ulp for x in \[−87, 88\]; below it falls to about 1e−38, above it saturates.
///
/// x = n ln 2 + r with |r| ≤ ½ ln 2; eʳ by a polynomial (the coefficients of Cephes' `expf`), 2ⁿ by
/// writing the exponent.
#[inline(always)]
pub fn exp<S: Simd>(simd: S, x: f32x8<S>) -> f32x8<S> {
    let splat = |value: f32| f32x8::splat(simd, value);
    let x = x.max(splat(-87.0)).min(splat(88.0));
    let n = (x * splat(std::f32::consts::LOG2_E)).round_ties_even();
    let r = n.mul_add_precise(splat(-0.693_359_4), x);
    let r = n.mul_add_precise(splat(2.121_944_4e-4), r);
    let mut p = splat(1.987_569_1e-4);
    for c in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        p = p.mul_add_precise(r, splat(c));
    }
    let p = p.mul_add_precise(r * r, r + splat(1.0));
    let exponent = n.to_int::<i32x8<S>>() + i32x8::splat(simd, 127);
    p * (exponent << 23).bitcast::<f32x8<S>>()
}

/// The sum of a vector's lanes, always in the same order.
#[inline(always)]
pub fn sum<S: Simd>(x: f32x8<S>) -> f32 {
    let [a, b, c, d, e, f, g, h] = x.to_array();
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// The sums of four vectors, each with the bits [`sum`] gives it.
#[inline(always)]
pub fn sums<S: Simd>(x: [f32x8<S>; 4]) -> f32x4<S> {
    // a + e, b + f, c + g, d + h of each
    let [x, y, z, w] = x.map(
        #[inline(always)]
        |x| {
            let (low, high) = x.split();
            low + high
        },
    );
    // (a + e) + (c + g) of two vectors, then (b + f) + (d + h) of both
    let pair = |x: f32x4<S>, y| (x.zip_low(y) + x.zip_high(y)).bitcast::<f64x2<S>>();
    let (xy, zw) = (pair(x, y), pair(z, w));
    xy.zip_low(zw).bitcast::<f32x4<S>>() + xy.zip_high(zw).bitcast::<f32x4<S>>()
}

/// σ(x) = P(μ = 1).
pub fn sigmoid(x: f32) -> f32 {
    let e = (-x.abs()).exp();
    if x >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// Binary cross-entropy of one logit: −log P(target), in a form that cannot overflow.
pub fn binary_cross_entropy(logit: f32, target: bool) -> f64 {
    let x = f64::from(logit);
    x.max(0.0) - if target { x } else { 0.0 } + (-x.abs()).exp().ln_1p()
}

/// Binary cross-entropy of many logits against 0/1 targets: returns the sum of the losses and
/// leaves `scale · (σ(x) − target)` in `gradient`.
///
/// Slices are padded to whole vectors by the caller; padding must hold logit −∞ … any finite
/// value and is ignored beyond `targets.len()`.
#[inline(always)]
pub fn binary_cross_entropies<S: Simd>(
    simd: S,
    logits: &[f32],
    targets: &[u8],
    scale: f32,
    gradient: &mut [f32],
) -> f64 {
    let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    let scale = f32x8::splat(simd, scale);
    let mut loss = 0.0;
    // Π (1 + e⁻|ˣ|) instead of Σ log(1 + e⁻|ˣ|): one logarithm for many nodes. Each factor is at
    // most 2, so 512 of them are far from overflowing an f64.
    let mut product = 1.0f64;
    for (block, targets) in targets.chunks(LANES).enumerate() {
        let x = f32x8::from_slice(simd, &logits[LANES * block..][..LANES]);
        let target = f32x8::from_fn(simd, |lane| targets.get(lane).map_or(0.0, |&t| f32::from(t)));
        let e = exp(simd, zero - x.abs());
        let positive = x.simd_ge(zero);
        let sigma = positive.select(one, e) / (one + e);
        ((sigma - target) * scale).store_slice(&mut gradient[LANES * block..][..LANES]);
        let linear = (x.max(zero) - x * target).to_array();
        let e = e.to_array();
        for lane in 0..targets.len() {
            loss += f64::from(linear[lane]);
            product *= 1.0 + f64::from(e[lane]);
        }
        if block % 64 == 63 {
            loss += product.ln();
            product = 1.0;
        }
    }
    loss + product.ln()
}

/// Turns a row of scores into its softmax, in place, and returns log Σ eˢ.
///
/// The row is padded to whole vectors with −∞. A row of all −∞ cannot occur: a node is always a
/// candidate for itself.
#[inline(always)]
pub fn softmax<S: Simd>(simd: S, row: &mut [f32]) -> f32 {
    let mut top = f32x8::splat(simd, f32::NEG_INFINITY);
    for chunk in row.as_chunks::<LANES>().0 {
        top = top.max(f32x8::from_slice(simd, chunk));
    }
    let top = top.to_array().into_iter().fold(f32::NEG_INFINITY, f32::max);
    let mut total = f32x8::splat(simd, 0.0);
    let none = f32x8::splat(simd, f32::NEG_INFINITY);
    for chunk in row.as_chunks_mut::<LANES>().0 {
        let score = f32x8::from_slice(simd, chunk);
        let e = exp(simd, score - f32x8::splat(simd, top));
        // exp clamps, so what is excluded must be excluded by name.
        let e = score.simd_eq(none).select(f32x8::splat(simd, 0.0), e);
        total += e;
        e.store_slice(chunk);
    }
    let total = sum(total);
    let scale = f32x8::splat(simd, 1.0 / total);
    for chunk in row.as_chunks_mut::<LANES>().0 {
        (f32x8::from_slice(simd, chunk) * scale).store_slice(chunk);
    }
    top + total.ln()
}
