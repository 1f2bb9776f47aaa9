//! The feature vectors eᵢ, without ever forming them.
//!
//! A priority is the same at every step, so its share of the encoder's output is computed once a
//! sequence; the other features are 0 but for a few nodes, and only those are touched.

use std::ops::Range;

use fearless_simd::prelude::*;
use pgn_structures::{Feature, Node, Operation};

use crate::kernels::rows::axpy;

/// The part of the encoder's output that does not change from step to step, \[n, k\]:
/// bias + rᵢ · (column of the priority).
#[inline(always)]
pub fn fixed_part<S: Simd>(
    simd: S,
    features: &[Feature],
    encoder_e: &[f32],
    bias: &[f32],
    priorities: &[f32],
    into: &mut [f32],
) {
    let k = bias.len();
    for (row, &priority) in into.chunks_exact_mut(k).zip(priorities) {
        row.copy_from_slice(bias);
        for (feature, column) in features.iter().zip(encoder_e.chunks_exact(k)) {
            if *feature == Feature::Priority {
                axpy(simd, priority, column, row);
            }
        }
    }
}

/// Calls `visit(index, node)` for every feature, by its index, of every node in `nodes` that is
/// 1 for this operation. `pointers` are those before it.
#[inline(always)]
pub fn for_each_flag(
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
