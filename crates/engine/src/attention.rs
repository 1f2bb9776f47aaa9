//! Pointers by attention (equation 6): scores ⟨q_i, k_j⟩ for the nodes that are re-aimed, their
//! softmax and its gradient.
//!
//! Query and key are folded: q̃ = xᵀ (W_qᵀ W_k) is the query, and the keys are the x themselves. x is
//! h, or \[z ‖ h\]; its width is written `w` here.

use fearless_simd::prelude::*;
use pgn_structures::Node;

use crate::kernels::{
    LANES,
    matmul::{Start, Then, mat, matmul, matmul_transposed},
    rows::{DOTS, add, dots, store_dots},
};

/// Copies the rows of the nodes that ask.
#[inline(always)]
pub fn gather(w: usize, x: &[f32], rows: &[Node], into: &mut [f32]) {
    for (&row, into) in rows.iter().zip(into.chunks_exact_mut(w)) {
        into.copy_from_slice(&x[row as usize * w..][..w]);
    }
}

/// Folded queries of the gathered rows.
#[inline(always)]
pub fn queries<S: Simd>(simd: S, w: usize, fold: &[f32], gathered: &[f32], into: &mut [f32]) {
    let shape = (gathered.len() / w, w, w);
    matmul(simd, shape, mat(gathered, w), mat(fold, w), Start::Zero, Then::Store, into, w);
}

/// One row of scores against all keys; what lies behind the last node is filled with −∞.
#[inline(always)]
pub fn scores<S: Simd>(simd: S, query: &[f32], keys: &[f32], into: &mut [f32]) {
    let w = query.len();
    let nodes = keys.len() / w;
    let (scores, behind) = into.split_at_mut(nodes);
    for (scores, keys) in scores.chunks_mut(DOTS).zip(keys.chunks(DOTS * w)) {
        store_dots(dots(simd, query, keys), scores);
    }
    behind.fill(f32::NEG_INFINITY);
}

/// Excludes everything but nodes with mask 0 and the node itself.
#[inline(always)]
pub fn keep_visited(scores: &mut [f32], node: Node, visited: impl Fn(usize) -> bool) {
    for (j, score) in scores.iter_mut().enumerate() {
        if j != node as usize && !visited(j) {
            *score = f32::NEG_INFINITY;
        }
    }
}

/// The best of a row of scores; the lowest index among equals. A row that compares with nothing
/// (NaN) keeps the pointer it is given.
#[inline(always)]
pub fn argmax(scores: &[f32], otherwise: Node) -> Node {
    let mut best = (f32::NEG_INFINITY, otherwise);
    for (j, &score) in scores.iter().enumerate() {
        if score > best.0 {
            best = (score, j as Node);
        }
    }
    best.1
}

/// From ∂scores \[rows, stride\] to ∂queries, and to the keys' share of ∂x.
#[allow(clippy::too_many_arguments)] // one matrix of each kind, forward and backward
#[inline(always)]
pub fn attention_backward<S: Simd>(
    simd: S,
    w: usize,
    rows: &[Node],
    fold_t: &[f32],
    x: &[f32],
    q: &[f32],
    d_scores: &[f32],
    d_q: &mut [f32],
    d_gathered: &mut [f32],
    d_x: &mut [f32],
) {
    let (count, nodes) = (rows.len(), x.len() / w);
    let stride = nodes.next_multiple_of(LANES);
    let d_scores = mat(d_scores, stride);
    matmul(simd, (count, nodes, w), d_scores, mat(x, w), Start::Zero, Then::Store, d_q, w);
    matmul_transposed(simd, (nodes, count, w), d_scores, mat(q, w), d_x, w);
    let shape = (count, w, w);
    matmul(simd, shape, mat(d_q, w), mat(fold_t, w), Start::Zero, Then::Store, d_gathered, w);
    for (&row, d) in rows.iter().zip(d_gathered.chunks_exact(w)) {
        add(simd, d, &mut d_x[row as usize * w..][..w]);
    }
}
