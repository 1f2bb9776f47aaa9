//! Pointers by attention (equation 6): scores ⟨q_i, k_j⟩ for the nodes that are re-aimed, their
//! softmax and its gradient.
//!
//! Query and key are folded: q̃ = xᵀ (W_qᵀ W_k) is the query, and the keys are the x themselves. x is
//! h, or \[z ‖ h\]; its width is written `w` here.

use std::cmp::Ordering;

use fearless_simd::{f32x4, prelude::*, u32x4};
use pgn_structures::Node;

use crate::{
    kernels::{
        LANES,
        matmul::{Start, Then, mat, mat_mut, matmul, matmul_transposed},
        rows::{DOTS, add, dots, store_dots},
    },
    rows::Rows,
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
    let (a, b) = (mat(gathered, w), mat(fold, w));
    matmul(simd, shape, a, b, Start::Zero, Then::Store, mat_mut(into, w));
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

/// The highest of many scores that come four at a time; the lowest number among equals.
pub struct Highest<S: Simd> {
    simd: S,
    // Each lane has its own best, of every fourth score, and the four it was found among.
    score: f32x4<S>,
    found: u32x4<S>,
}

/// In place of four scores, where none was higher.
const NOWHERE: u32 = u32::MAX;

impl<S: Simd> Highest<S> {
    /// Looks for scores above `least`.
    #[inline(always)]
    pub fn above(simd: S, least: f32) -> Highest<S> {
        Highest { simd, score: f32x4::splat(simd, least), found: u32x4::splat(simd, NOWHERE) }
    }

    /// Looks at scores 4 · `four` and on. What compares with nothing (NaN) is not higher.
    #[inline(always)]
    pub fn offer(&mut self, four: usize, scores: f32x4<S>) {
        let higher = scores.simd_gt(self.score);
        self.score = higher.select(scores, self.score);
        self.found = higher.select(u32x4::splat(self.simd, four as u32), self.found);
    }

    /// The highest, and its number.
    #[inline(always)]
    pub fn end(self) -> Option<(f32, usize)> {
        let lanes = self.score.to_array().into_iter().zip(self.found.to_array()).enumerate();
        let each = lanes
            .filter(|(_, (_, four))| *four != NOWHERE)
            .map(|(lane, (score, four))| (score, four as usize * DOTS + lane));
        let order = |a: &(f32, usize), b: &(f32, usize)| {
            a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal).then(b.1.cmp(&a.1))
        };
        each.max_by(order)
    }
}

/// The number of the highest score above −∞; scores are padded with −∞ to whole vectors.
#[inline(always)]
pub fn argmax<S: Simd>(simd: S, scores: &[f32]) -> Option<usize> {
    let mut highest = Highest::above(simd, f32::NEG_INFINITY);
    for (four, scores) in scores.as_chunks::<DOTS>().0.iter().enumerate() {
        highest.offer(four, f32x4::load_array_ref(simd, scores));
    }
    highest.end().map(|(_, number)| number)
}

/// Where the gradients of queries go.
pub struct AttentionGradients<'a> {
    pub d_q: &'a mut [f32],        // [rows, w]
    pub d_gathered: &'a mut [f32], // [rows, w], scratch
}

/// From ∂scores \[rows, stride\] of the rows that asked, with queries `q`, to ∂queries and to ∂x of
/// keys and rows, which is added to `d_x`.
#[inline(always)]
pub fn attention_backward<S: Simd>(
    simd: S,
    rows: &[Node],
    fold_t: &[f32],
    keys: Rows,
    (q, d_scores): (&[f32], &[f32]),
    into: AttentionGradients,
    d_x: &mut [f32],
) {
    let AttentionGradients { d_q, d_gathered } = into;
    let (w, x) = (keys.width, mat(keys.data, keys.width));
    let (count, nodes) = (rows.len(), keys.count());
    let d_scores = mat(d_scores, nodes.next_multiple_of(LANES));
    matmul(simd, (count, nodes, w), d_scores, x, Start::Zero, Then::Store, mat_mut(d_q, w));
    matmul_transposed(simd, (nodes, count, w), d_scores, mat(q, w), mat_mut(d_x, w));
    let (shape, b) = ((count, w, w), mat(fold_t, w));
    matmul(simd, shape, mat(d_q, w), b, Start::Zero, Then::Store, mat_mut(d_gathered, w));
    for (&row, d) in rows.iter().zip(d_gathered.chunks_exact(w)) {
        add(simd, d, &mut d_x[row as usize * w..][..w]);
    }
}
