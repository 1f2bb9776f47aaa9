//! Equation 1: zᵢ = encoder\[eᵢ ‖ hᵢ\], without ever forming the features eᵢ.
//!
//! A priority is the same at every operation, so its share of z is computed once a sequence; the
//! other features are 0 but for a few nodes, and only those are touched.

use std::ops::Range;

use fearless_simd::prelude::*;
use pgn_structures::{Feature, Node, Operation};

use super::step::StepContext;
use crate::{
    Config,
    kernels::{
        matmul::{Start, Then, mat},
        rows::{add, axpy},
    },
    packing::{Linear, Matrix, Packer},
    rows::{Rows, RowsMut},
};

/// The encoder's weights.
#[derive(Clone, Debug)]
pub struct Encoder {
    e: Matrix, // [m, k]
    /// \[k, k\], of h before the operation; empty where nothing is carried.
    pub h: Linear,
    bias: Matrix, // [k]
}

impl Encoder {
    pub fn new(config: &Config, packer: &mut Packer) -> Encoder {
        let (k, m, carried) = (config.k, config.m(), config.carried());
        let (mut e, mut h) = (packer.zeros(m * k), packer.zeros(carried * k));
        packer.columns(&mut e, "encoder.weight", 0..m, 0, k);
        packer.columns(&mut h, "encoder.weight", m..m + carried, 0, k);
        Encoder { e, h: Linear::new(h, k), bias: packer.copy("encoder.bias", k) }
    }

    /// The part of z that is the same at every operation, \[n, k\]: bias + rᵢ · (column of the
    /// priority).
    #[inline(always)]
    pub fn fixed<S: Simd>(
        &self,
        simd: S,
        features: &[Feature],
        priorities: &[f32],
        into: &mut [f32],
    ) {
        let k = self.bias.len();
        for (row, &priority) in into.chunks_exact_mut(k).zip(priorities) {
            row.copy_from_slice(&self.bias);
            for (feature, column) in features.iter().zip(self.e.chunks_exact(k)) {
                if *feature == Feature::Priority {
                    axpy(simd, priority, column, row);
                }
            }
        }
    }

    /// z \[rows, k\] of the nodes from `first` on, given their `fixed` part and h before the
    /// operation, \[rows, k\] each.
    #[inline(always)]
    pub fn forward<S: Simd>(
        &self,
        simd: S,
        context: &StepContext,
        first: usize,
        [fixed, h]: [&[f32]; 2],
        z: &mut [f32],
    ) {
        let k = context.config.k;
        let count = z.len() / k;
        if context.fresh || context.config.carried() == 0 {
            z.copy_from_slice(fixed);
        } else {
            self.h.forward(simd, h, Start::Mat(mat(fixed, k)), Then::Store, z);
        }
        let (columns, mut rows) = (Rows::new(&self.e, k), RowsMut::new(z, k));
        for_each_flag(
            &context.config.features,
            context.operation,
            context.pointers,
            first..first + count,
            #[inline(always)]
            |input, node| add(simd, columns.row(input), rows.row(node - first)),
        );
    }

    /// From ∂z \[n, k\] of an operation to the gradients of flags, and to `d_fixed` \[n, k\], which is
    /// added to.
    #[inline(always)]
    pub fn backward<S: Simd>(
        &self,
        simd: S,
        context: &StepContext,
        d_z: &[f32],
        d_fixed: &mut [f32],
        gradients: &mut [f32],
    ) {
        let k = context.config.k;
        add(simd, d_z, d_fixed);
        let (d_rows, mut columns) =
            (Rows::new(d_z, k), RowsMut::new(self.e.gradient(gradients), k));
        for_each_flag(
            &context.config.features,
            context.operation,
            context.pointers,
            0..d_z.len() / k,
            #[inline(always)]
            |input, node| add(simd, d_rows.row(node), columns.row(input)),
        );
    }

    /// The gradients of bias and priority, from Σ over operations of ∂z, \[n, k\].
    #[inline(always)]
    pub fn fixed_backward<S: Simd>(
        &self,
        simd: S,
        features: &[Feature],
        priorities: &[f32],
        d_fixed: &[f32],
        gradients: &mut [f32],
    ) {
        let k = self.bias.len();
        for (row, &priority) in d_fixed.chunks_exact(k).zip(priorities) {
            add(simd, row, self.bias.gradient(gradients));
            let columns = self.e.gradient(gradients).chunks_exact_mut(k);
            for (input, column) in features.iter().zip(columns) {
                if *input == Feature::Priority {
                    axpy(simd, priority, row, column);
                }
            }
        }
    }
}

/// Calls `visit(index, node)` for every feature, by its index, of every node in `nodes` that is
/// 1 for this operation. `pointers` are those before it.
#[inline(always)]
fn for_each_flag(
    features: &[Feature],
    Operation { u, v, kind, .. }: Operation,
    pointers: &[Node],
    nodes: Range<usize>,
    mut visit: impl FnMut(usize, usize),
) {
    let here = |node: Node| nodes.contains(&(node as usize));
    for (index, feature) in features.iter().enumerate() {
        let (is_first, is_second) = match feature {
            Feature::Priority => (false, false),
            Feature::Operated => (true, true),
            Feature::First => (true, false),
            Feature::Second => (false, true),
            Feature::Kind(told) => (*told == kind, *told == kind),
            Feature::SelfPointing => {
                for (i, &pointer) in nodes.clone().zip(&pointers[nodes.clone()]) {
                    if pointer as usize == i {
                        visit(index, i);
                    }
                }
                (false, false)
            }
        };
        if is_first && here(u) {
            visit(index, u as usize);
        }
        // A node that is both operands is still told once.
        if is_second && here(v) && !(is_first && u == v) {
            visit(index, v as usize);
        }
    }
}
