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
    // Functions: closures would not be inlined.
    #[inline(always)]
    fn halves<S: Simd>(x: f32x8<S>) -> f32x4<S> {
        let (low, high) = x.split();
        low + high
    }
    #[inline(always)]
    fn pair<S: Simd>(x: f32x4<S>, y: f32x4<S>) -> f64x2<S> {
        (x.zip_low(y) + x.zip_high(y)).bitcast()
    }
    // a + e, b + f, c + g, d + h of each; then (a + e) + (c + g) of two vectors, and
    // (b + f) + (d + h) of both.
    let [x, y, z, w] = x;
    let xy = pair(halves(x), halves(y));
    let zw = pair(halves(z), halves(w));
    xy.zip_low(zw).bitcast::<f32x4<S>>() + xy.zip_high(zw).bitcast::<f32x4<S>>()
}

/// eˣ of one x ≤ 0, to within 0.502 ulp: the algorithm of glibc, in place of whatever library a
/// platform has, so that the bits are the same everywhere.
///
/// 32 x / ln 2 = n + r with |r| ≤ ½; 2^(r/32) by a polynomial, 2^(n/32) from a table.
fn exp_scalar(x: f32) -> f32 {
    /// 2^(i/32) in bits, less i in units of the exponent's 32nd part.
    #[rustfmt::skip]
    const POWERS: [u64; 32] = [
        0x3ff0000000000000, 0x3fefd9b0d3158574, 0x3fefb5586cf9890f, 0x3fef9301d0125b51,
        0x3fef72b83c7d517b, 0x3fef54873168b9aa, 0x3fef387a6e756238, 0x3fef1e9df51fdee1,
        0x3fef06fe0a31b715, 0x3feef1a7373aa9cb, 0x3feedea64c123422, 0x3feece086061892d,
        0x3feebfdad5362a27, 0x3feeb42b569d4f82, 0x3feeab07dd485429, 0x3feea47eb03a5585,
        0x3feea09e667f3bcd, 0x3fee9f75e8ec5f74, 0x3feea11473eb0187, 0x3feea589994cce13,
        0x3feeace5422aa0db, 0x3feeb737b0cdc5e5, 0x3feec49182a3f090, 0x3feed503b23e255d,
        0x3feee89f995ad3ad, 0x3feeff76f2fb5e47, 0x3fef199bdd85529c, 0x3fef3720dcef9069,
        0x3fef5818dcfba487, 0x3fef7c97337b9b5f, 0x3fefa4afa2a490da, 0x3fefd0765b6e4540,
    ];
    if x < -104.0 {
        return 0.0;
    }
    let scaled = f64::from(x) * (std::f64::consts::LOG2_E * 32.0);
    let n = scaled.round_ties_even();
    let r = scaled - n;
    let n = n as i64 as u64;
    let power = POWERS[n as usize % 32].wrapping_add(n << 47);
    let [c1, c2, c3] = [0x3fe62e42ff0c52d6, 0x3fcebfce50fac4f3, 0x3fac6af84b912394];
    let c = |bits, scale: f64| f64::from_bits(bits) / scale;
    let p = (c(c3, 32768.0) * r + c(c2, 1024.0)) * (r * r) + (c(c1, 32.0) * r + 1.0);
    (p * f64::from_bits(power)) as f32
}

/// σ(x) = P(μ = 1).
pub fn sigmoid(x: f32) -> f32 {
    let e = exp_scalar(-x.abs());
    if x >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// Binary cross-entropy of one logit: −log P(target), in a form that cannot overflow.
pub fn binary_cross_entropy(logit: f32, target: bool) -> f64 {
    let x = f64::from(logit);
    x.max(0.0) - if target { x } else { 0.0 } + libm::log1p(libm::exp(-x.abs()))
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
            loss += libm::log(product);
            product = 1.0;
        }
    }
    loss + libm::log(product)
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
    let (low, high) = top.split();
    let top = low.max(high).to_array().into_iter().fold(f32::NEG_INFINITY, f32::max);
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
    top + libm::logf(total)
}
