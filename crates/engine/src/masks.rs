//! Equations 4 and 5: masks μᵢ = 𝕀(mask\[zᵢ ‖ hᵢ\] > 0), their loss, and the gradients of layers with
//! one output.

use fearless_simd::{f32x4, prelude::*};

use crate::{
    Config,
    kernels::{
        math::{binary_cross_entropies, binary_cross_entropy},
        rows::{DOTS, axpy, dots, for_columns, get, multiply_add, put, store_dots},
    },
    packing::{Matrix, Packer},
};

/// The masking network's weights.
#[derive(Clone, Debug)]
pub struct Masks {
    weight: Matrix, // [2k]: of z, then of h
    bias: Matrix,   // [1]
}

impl Masks {
    pub fn new(k: usize, packer: &mut Packer) -> Masks {
        let weight = packer.copy("mask.weight", 2 * k);
        Masks { weight, bias: packer.copy("mask.bias", 1) }
    }

    /// Equation 4: logits \[rows\], from z and h \[rows, k\].
    #[inline(always)]
    pub fn forward<S: Simd>(&self, simd: S, [z, h]: [&[f32]; 2], logits: &mut [f32]) {
        let k = self.weight.len() / 2;
        let (of_z, of_h) = self.weight.split_at(k);
        let bias = f32x4::splat(simd, self.bias[0]);
        let rows = z.chunks(DOTS * k).zip(h.chunks(DOTS * k));
        for ((z, h), logits) in rows.zip(logits[..z.len() / k].chunks_mut(DOTS)) {
            store_dots(dots(simd, of_z, z) + dots(simd, of_h, h) + bias, logits);
        }
    }

    /// From ∂logits \[n\] to the weights and to ∂z and ∂h \[n, k\], which are added to.
    #[inline(always)]
    pub fn backward<S: Simd>(
        &self,
        simd: S,
        d: &[f32],
        [z, h]: [&[f32]; 2],
        [d_z, d_h]: [&mut [f32]; 2],
        gradients: &mut [f32],
    ) {
        let k = self.weight.len() / 2;
        let (of_z, of_h) = self.weight.split_at(k);
        outer_add(simd, d, of_z, d_z);
        outer_add(simd, d, of_h, d_h);
        let (into_z, into_h) = self.weight.gradient(gradients).split_at_mut(k);
        weighted_sum(simd, d, z, into_z);
        weighted_sum(simd, d, h, into_h);
        self.bias.gradient(gradients)[0] += d.iter().sum::<f32>();
    }
}

/// Equation 5: whether a mask logit means μ = 1, that the operation leaves the node alone.
#[inline(always)]
pub fn left_alone(logit: f32) -> bool {
    logit > 0.0
}

/// The mask loss of one operation, summed over nodes: each visited node (target 0) counts
/// [`Config::visited_weight`] times. `share` · the loss has the gradient left in `gradient`.
/// `logits` and `gradient` are padded to whole vectors.
#[inline(always)]
pub fn mask_loss<S: Simd>(
    simd: S,
    config: &Config,
    share: f32,
    logits: &[f32],
    targets: &[u8],
    gradient: &mut [f32],
) -> f64 {
    let scale = config.losses.masks * share;
    let mut loss = binary_cross_entropies(simd, logits, targets, scale, gradient);
    let weight = config.visited_weight;
    if weight != 1.0 {
        for (node, _) in targets.iter().enumerate().filter(|(_, target)| **target == 0) {
            loss += (f64::from(weight) - 1.0) * binary_cross_entropy(logits[node], false);
            gradient[node] *= weight;
        }
    }
    loss
}

/// d_rows += d ⊗ weights: one share of every row's gradient.
#[inline(always)]
pub fn outer_add<S: Simd>(simd: S, d: &[f32], weights: &[f32], d_rows: &mut [f32]) {
    for (&d, row) in d.iter().zip(d_rows.chunks_exact_mut(weights.len())) {
        axpy(simd, d, weights, row);
    }
}

/// into += Σᵢ dᵢ · rowᵢ: the gradient of a layer with one output.
#[inline(always)]
pub fn weighted_sum<S: Simd>(simd: S, d: &[f32], rows: &[f32], into: &mut [f32]) {
    let k = into.len();
    for_columns!(k, |at, V, N| {
        // Two chains, since one would wait for each multiply-add in turn.
        let (mut even, mut odd) = ([V::<S>::splat(simd, 0.0); N], [V::<S>::splat(simd, 0.0); N]);
        let (pairs, rest) = d.as_chunks::<2>();
        let mut rows = rows.chunks_exact(2 * k);
        for (&[first, second], rows) in pairs.iter().zip(&mut rows) {
            multiply_add(simd, first, rows, at, &mut even);
            multiply_add(simd, second, rows, k + at, &mut odd);
        }
        if let &[last] = rest {
            multiply_add(simd, last, rows.remainder(), at, &mut even);
        }
        let mut sum: [V<S>; N] = get(simd, into, at);
        for v in 0..N {
            sum[v] += even[v] + odd[v];
        }
        put(&sum, into, at);
    });
}
