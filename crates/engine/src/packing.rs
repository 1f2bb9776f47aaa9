//! Weights laid out for the kernels, and their gradients: the one layout of all networks.
//!
//! A product x·W wants its matrix as \[in, out\], files have it as \[out, in\], and several tensors may
//! share one matrix. A [`Packer`] copies pieces of tensors into matrices and remembers where each
//! went. The gradients of all matrices lie one after the other in one flat array: adding two of them
//! is a loop over numbers, and [`Packing::unpack`] copies them back into the tensors.

use std::ops::{Deref, Range};

use fearless_simd::prelude::*;

use crate::{
    Parameters,
    buffer_pool::BufferPool,
    kernels::matmul::{Start, Then, mat, mat_mut, matmul, matmul_transposed},
};

/// Matrices begin at multiples of this many numbers of the flat array: a cache line.
const ALIGNED: usize = 16;

/// A matrix of weights, and the place of its gradient in the flat array.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    values: Vec<f32>,
    place: Range<usize>,
}

impl Deref for Matrix {
    type Target = [f32];

    #[inline(always)]
    fn deref(&self) -> &[f32] {
        &self.values
    }
}

impl Matrix {
    /// Its gradient.
    #[inline(always)]
    pub fn gradient<'a>(&self, gradients: &'a mut [f32]) -> &'a mut [f32] {
        &mut gradients[self.place.clone()]
    }

    /// Its gradient, to read.
    pub fn gradient_of<'a>(&self, gradients: &'a [f32]) -> &'a [f32] {
        &gradients[self.place.clone()]
    }

    /// \[rows, `columns`\] as \[columns, rows\]: what the backward pass multiplies with.
    pub fn transposed(&self, columns: usize) -> Vec<f32> {
        transposed(self, columns)
    }
}

/// A matrix W \[in, out\] that rows are multiplied with, forward and backward.
#[derive(Clone, Debug)]
pub struct Linear {
    pub weight: Matrix,
    pub transposed: Vec<f32>, // [out, in]
    out: usize,
}

impl Linear {
    /// Of a matrix with `out` columns.
    pub fn new(weight: Matrix, out: usize) -> Linear {
        Linear { transposed: weight.transposed(out), weight, out }
    }

    fn inputs(&self) -> usize {
        self.weight.len() / self.out
    }

    /// y \[rows, out\] = then(start + x·W), as many rows as `y` has.
    #[inline(always)]
    pub fn forward<S: Simd>(&self, simd: S, x: &[f32], start: Start, then: Then, y: &mut [f32]) {
        let (inputs, out) = (self.inputs(), self.out);
        let (shape, w) = ((y.len() / out, inputs, out), mat(&self.weight, out));
        matmul(simd, shape, mat(x, inputs), w, start, then, mat_mut(y, out));
    }

    /// ∂x \[rows, in\] = start + ∂y·Wᵀ, as many rows as `d_y` has.
    #[inline(always)]
    pub fn backward<S: Simd>(&self, simd: S, d_y: &[f32], start: Start, d_x: &mut [f32]) {
        let (inputs, out) = (self.inputs(), self.out);
        let (shape, w) = ((d_y.len() / out, out, inputs), mat(&self.transposed, inputs));
        matmul(simd, shape, mat(d_y, out), w, start, Then::Store, mat_mut(d_x, inputs));
    }

    /// Adds ∂W = xᵀ·∂y to the gradients, of as many rows as `d_y` has.
    #[inline(always)]
    pub fn weights_backward<S: Simd>(
        &self,
        simd: S,
        x: &[f32],
        d_y: &[f32],
        gradients: &mut [f32],
    ) {
        let (inputs, out) = (self.inputs(), self.out);
        let (shape, into) = ((inputs, d_y.len() / out, out), self.weight.gradient(gradients));
        matmul_transposed(simd, shape, mat(x, inputs), mat(d_y, out), mat_mut(into, out));
    }
}

/// \[rows, `columns`\] as \[columns, rows\].
pub fn transposed(matrix: &[f32], columns: usize) -> Vec<f32> {
    let rows = matrix.len() / columns;
    let mut result = vec![0.0; matrix.len()];
    for (i, row) in matrix.chunks_exact(columns).enumerate() {
        row.iter().enumerate().for_each(|(j, &value)| result[j * rows + i] = value);
    }
    result
}

/// Some input columns of a tensor: the weight from input i to output o is at `at + i·in + o·out` of
/// the flat array, `strides` being \[in, out\]. A bias has one input.
#[derive(Clone, Debug)]
struct Piece {
    tensor: &'static str,
    /// \[outputs, inputs\]
    shape: [usize; 2],
    inputs: Range<usize>,
    at: usize,
    strides: [usize; 2],
}

impl Piece {
    /// Calls `visit(place in the tensor, place in the flat array)`.
    #[inline(always)]
    fn for_each(&self, mut visit: impl FnMut(usize, usize)) {
        let Piece { shape: [outputs, columns], ref inputs, at, strides, .. } = *self;
        for o in 0..outputs {
            for (i, input) in inputs.clone().enumerate() {
                visit(o * columns + input, at + i * strides[0] + o * strides[1]);
            }
        }
    }
}

/// Where the gradients of a network's matrices are.
#[derive(Clone, Debug, Default)]
pub struct Packing {
    pieces: Vec<Piece>,
    len: usize,
}

impl Packing {
    /// The flat array, with nothing in it.
    pub fn zeros(&self) -> Vec<f32> {
        vec![0.0; self.len]
    }

    /// Copies the gradients of matrices into those of the tensors they are made of.
    pub fn unpack(&self, gradients: &[f32], into: &mut Parameters) {
        for piece in &self.pieces {
            let tensor = into.tensor_mut(piece.tensor);
            if piece.strides == [1, piece.inputs.len()] && piece.inputs.len() == piece.shape[1] {
                tensor.copy_from_slice(&gradients[piece.at..][..tensor.len()]);
            } else {
                piece.for_each(|from, to| tensor[from] = gradients[to]);
            }
        }
    }
}

/// The sum of the gradients of a batch's parts, in their order, whichever thread finished first.
/// `note` is told the rest of each part. Spent buffers go to the pool.
pub fn sum_in_order<T>(
    parts: Vec<(T, Vec<f32>)>,
    pool: &BufferPool<Vec<f32>>,
    mut note: impl FnMut(&T),
) -> Option<Vec<f32>> {
    let mut sum: Option<Vec<f32>> = None;
    for (rest, part) in parts {
        note(&rest);
        match &mut sum {
            None => sum = Some(part),
            Some(sum) => {
                sum.iter_mut().zip(&part).for_each(|(sum, part)| *sum += part);
                pool.put_back(part);
            }
        }
    }
    sum
}

/// Copies tensors into matrices.
pub struct Packer<'a> {
    parameters: &'a Parameters,
    packing: Packing,
}

impl<'a> Packer<'a> {
    pub fn new(parameters: &'a Parameters) -> Packer<'a> {
        Packer { parameters, packing: Packing::default() }
    }

    /// A matrix of so many numbers, all 0.
    pub fn zeros(&mut self, len: usize) -> Matrix {
        let start = self.packing.len;
        self.packing.len += len.next_multiple_of(ALIGNED);
        Matrix { values: vec![0.0; len], place: start..start + len }
    }

    /// A matrix that is computed from tensors, whose gradient its layer takes apart itself.
    pub fn computed(&mut self, values: Vec<f32>) -> Matrix {
        Matrix { place: self.zeros(values.len()).place, values }
    }

    /// Adds some inputs of a tensor to a matrix \[in, `stride`\], from its element `at` on.
    pub fn columns(
        &mut self,
        matrix: &mut Matrix,
        tensor: &'static str,
        inputs: Range<usize>,
        at: usize,
        stride: usize,
    ) {
        self.weights(matrix, tensor, inputs.clone(), at, [stride, 1]);
        self.gradients(matrix, tensor, inputs, at, [stride, 1]);
    }

    /// A whole tensor as it is, followed by zeros up to `len` numbers.
    pub fn copy(&mut self, tensor: &'static str, len: usize) -> Matrix {
        let mut matrix = self.zeros(len);
        let (values, columns) = (self.parameters.tensor(tensor), self.parameters.columns(tensor));
        matrix.values[..values.len()].copy_from_slice(values);
        self.gradients(&matrix, tensor, 0..columns, 0, [1, columns]);
        matrix
    }

    /// Adds the values only.
    pub fn weights(
        &mut self,
        matrix: &mut Matrix,
        tensor: &'static str,
        inputs: Range<usize>,
        at: usize,
        strides: [usize; 2],
    ) {
        let values = self.parameters.tensor(tensor);
        let piece = self.piece(tensor, inputs, at, strides);
        piece.for_each(|from, to| matrix.values[to] += values[from]);
    }

    /// Says that a tensor's gradient is there, and nothing about its values.
    pub fn gradients(
        &mut self,
        matrix: &Matrix,
        tensor: &'static str,
        inputs: Range<usize>,
        at: usize,
        strides: [usize; 2],
    ) {
        let piece = self.piece(tensor, inputs, matrix.place.start + at, strides);
        self.packing.pieces.push(piece);
    }

    fn piece(
        &self,
        tensor: &'static str,
        inputs: Range<usize>,
        at: usize,
        strides: [usize; 2],
    ) -> Piece {
        let columns = self.parameters.columns(tensor);
        let shape = [self.parameters.tensor(tensor).len() / columns, columns];
        Piece { tensor, shape, inputs, at, strides }
    }

    /// The weights that are being packed.
    pub fn parameters(&self) -> &'a Parameters {
        self.parameters
    }

    /// The packing of all matrices so far.
    pub fn packing(&mut self) -> &mut Packing {
        &mut self.packing
    }
}
