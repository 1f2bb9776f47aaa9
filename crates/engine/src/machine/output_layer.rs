//! A linear layer whose outputs are read: those of the nodes, or of the controllers.

use fearless_simd::prelude::*;

use super::layout::padded;
use crate::{
    kernels::{
        matmul::{Start, Then, mat, mat_mut, matmul, matmul_transposed},
        rows::add_rows,
    },
    packing::{Matrix, Packer},
};

/// Its weights.
#[derive(Clone, Debug)]
pub struct OutputLayer {
    /// How many outputs there are.
    pub outputs: usize,
    /// How many there are, padded to whole vectors.
    pub width: usize,
    forward: Vec<f32>, // [k, width]
    weight: Matrix,    // [width, k], as in the file: what the backward pass multiplies with
    bias: Matrix,      // [width]
}

impl OutputLayer {
    pub fn new(
        k: usize,
        outputs: usize,
        names: [&'static str; 2],
        packer: &mut Packer,
    ) -> OutputLayer {
        let width = padded(outputs);
        let weight = packer.copy(names[0], width * k);
        let bias = packer.copy(names[1], width);
        OutputLayer { outputs, width, forward: weight.transposed(k), weight, bias }
    }

    /// The outputs \[count, width\] of `count` rows x \[count, k\].
    #[inline(always)]
    pub fn forward<S: Simd>(&self, simd: S, k: usize, x: &[f32], outputs: &mut [f32]) {
        matmul(
            simd,
            (x.len() / k, k, self.width),
            mat(x, k),
            mat(&self.forward, self.width),
            Start::Row(&self.bias),
            Then::Store,
            mat_mut(outputs, self.width),
        );
    }

    /// ∂x \[count, k\] from ∂ of the outputs \[count, width\]; adds the gradients of the weights.
    #[inline(always)]
    pub fn backward<S: Simd>(
        &self,
        simd: S,
        k: usize,
        x: &[f32],
        d_outputs: &[f32],
        gradients: &mut [f32],
        d_x: &mut [f32],
    ) {
        let count = x.len() / k;
        if count == 0 {
            return;
        }
        let d_outputs = mat(&d_outputs[..count * self.width], self.width);
        let into = mat_mut(self.weight.gradient(gradients), k);
        matmul_transposed(simd, (self.width, count, k), d_outputs, mat(x, k), into);
        add_rows(simd, d_outputs.data, self.width, self.bias.gradient(gradients));
        let weight = mat(&self.weight, k);
        let shape = (count, self.outputs, k);
        matmul(simd, shape, d_outputs, weight, Start::Zero, Then::Store, mat_mut(d_x, k));
    }
}
