//! Equation 3: y = decoder\[maxᵢ zᵢ ‖ maxᵢ hᵢ\].

use fearless_simd::prelude::*;

use crate::{
    Aggregation,
    kernels::rows::{axpy, dot},
    packing::{Matrix, Packer},
};

/// The decoder's weights.
#[derive(Clone, Debug)]
pub struct Decoder {
    weight: Matrix, // [2k]: of z, then of h
    bias: Matrix,   // [1]
}

impl Decoder {
    pub fn new(k: usize, packer: &mut Packer) -> Decoder {
        let weight = packer.copy("decoder.weight", 2 * k);
        Decoder { weight, bias: packer.copy("decoder.bias", 1) }
    }

    /// The answer's logit, from the readout \[2k\].
    #[inline(always)]
    pub fn forward<S: Simd>(&self, simd: S, top: &[f32]) -> f32 {
        dot(simd, top, &self.weight) + self.bias[0]
    }

    /// From ∂logit to the weights and to ∂z and ∂h \[n, k\], which are added to. `top` is the readout
    /// \[2k\], `sources` \[2k\] where its maxima came from.
    #[inline(always)]
    pub fn backward<S: Simd>(
        &self,
        simd: S,
        readout: Aggregation,
        d: f32,
        (top, sources): (&[f32], &[u32]),
        [d_z, d_h]: [&mut [f32]; 2],
        gradients: &mut [f32],
    ) {
        axpy(simd, d, top, self.weight.gradient(gradients));
        self.bias.gradient(gradients)[0] += d;
        let (of_z, of_h) = self.weight.split_at(self.weight.len() / 2);
        let (source_z, source_h) = sources.split_at(sources.len() / 2);
        readout.readout_backward(simd, d, of_z, source_z, d_z);
        readout.readout_backward(simd, d, of_h, source_h, d_h);
    }
}
