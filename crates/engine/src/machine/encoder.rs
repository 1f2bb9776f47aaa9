//! What a row is given of itself: z = Σ columns of the encoder, one for each of its features.

use fearless_simd::prelude::*;

use super::{graph::Graph, layer::row};
use crate::{kernels::rows::add, packing::Matrix};

/// z \[rows, k\], which begins as 0, from `weight` \[features, k\].
#[inline(always)]
pub fn forward<S: Simd>(simd: S, k: usize, weight: &Matrix, graph: &Graph, z: &mut [f32]) {
    for &(i, feature) in &graph.features {
        add(simd, &weight[row(feature, k)], &mut z[row(i, k)]);
    }
}

/// Adds the gradients of the weight, given ∂z \[rows, k\].
#[inline(always)]
pub fn backward<S: Simd>(
    simd: S,
    k: usize,
    weight: &Matrix,
    graph: &Graph,
    d_z: &[f32],
    gradients: &mut [f32],
) {
    let into = weight.gradient(gradients);
    for &(i, feature) in &graph.features {
        add(simd, &d_z[row(i, k)], &mut into[row(feature, k)]);
    }
}
