//! Pointers by attention (equation 6): scores ⟨q_i, k_j⟩ for the nodes that are re-aimed, their
//! softmax and its gradient.
//!
//! Query and key are folded: q̃ = xᵀ (W_qᵀ W_k) is the query, and the keys are the x themselves. x is
//! h, or \[z ‖ h\]; its width is written `w` here.

use std::cmp::Ordering;

use fearless_simd::{f32x4, prelude::*, u32x4};
use pgn_structures::Node;

use crate::{
    Parameters,
    kernels::{
        LANES,
        matmul::{Start, Then, mat, mat_mut, matmul, matmul_transposed},
        rows::{DOTS, add, dots, store_dots},
    },
    packing::{Linear, Packer},
};

/// Copies the rows of the nodes that ask.
#[inline(always)]
pub fn gather(w: usize, x: &[f32], rows: &[Node], into: &mut [f32]) {
    for (&row, into) in rows.iter().zip(into.chunks_exact_mut(w)) {
        into.copy_from_slice(&x[row as usize * w..][..w]);
    }
}

/// Query and key of one pointer type, folded: W_qᵀ W_k.
#[derive(Clone, Debug)]
pub struct QueryKey {
    fold: Linear, // [w, w]
    w: usize,
    names: [&'static str; 2],
}

impl QueryKey {
    /// Of tensors \[k, w\] with these names.
    pub fn new((k, w): (usize, usize), names: [&'static str; 2], packer: &mut Packer) -> QueryKey {
        let [query, key] = names.map(|name| packer.parameters().tensor(name));
        let mut fold = vec![0.0; w * w];
        for o in 0..k {
            for a in 0..w {
                for b in 0..w {
                    fold[a * w + b] += query[o * w + a] * key[o * w + b];
                }
            }
        }
        QueryKey { fold: Linear::new(packer.computed(fold), w), w, names }
    }

    /// Queries \[rows, w\] of the gathered rows of x, \[rows, w\].
    #[inline(always)]
    pub fn forward<S: Simd>(&self, simd: S, gathered: &[f32], into: &mut [f32]) {
        let into = &mut into[..gathered.len()];
        self.fold.forward(simd, gathered, Start::Zero, Then::Store, into);
    }

    /// From ∂scores \[rows, stride\] of the rows that asked, with queries `q`, to ∂queries and to ∂x
    /// of keys and rows \[n, w\], which is added to.
    #[inline(always)]
    pub fn backward<S: Simd>(
        &self,
        simd: S,
        rows: &[Node],
        keys: &[f32],
        (q, d_scores): (&[f32], &[f32]),
        into: AttentionGradients,
        d_x: &mut [f32],
    ) {
        let AttentionGradients { d_q, d_gathered } = into;
        let (w, x) = (self.w, mat(keys, self.w));
        let (count, nodes) = (rows.len(), keys.len() / w);
        let d_scores = mat(d_scores, nodes.next_multiple_of(LANES));
        matmul(simd, (count, nodes, w), d_scores, x, Start::Zero, Then::Store, mat_mut(d_q, w));
        matmul_transposed(simd, (nodes, count, w), d_scores, mat(q, w), mat_mut(d_x, w));
        self.fold.backward(simd, &d_q[..count * w], Start::Zero, d_gathered);
        for (&row, d) in rows.iter().zip(d_gathered.chunks_exact(w)) {
            add(simd, d, &mut d_x[row as usize * w..][..w]);
        }
    }

    /// The gradient of the fold, from all gathered rows and ∂queries, \[rows, w\] each.
    #[inline(always)]
    pub fn weights_backward<S: Simd>(
        &self,
        simd: S,
        rows: usize,
        [gathered, d_q]: [&[f32]; 2],
        gradients: &mut [f32],
    ) {
        self.fold.weights_backward(simd, gathered, &d_q[..rows * self.w], gradients);
    }

    /// ∂W_q = W_k ∂foldᵀ and ∂W_k = W_q ∂fold.
    pub fn unpack(&self, gradients: &[f32], parameters: &Parameters, into: &mut Parameters) {
        let (w, d_fold) = (self.w, self.fold.weight.gradient_of(gradients));
        let [query, key] = self.names.map(|name| parameters.tensor(name));
        let [mut d_query, mut d_key] = [vec![0.0; query.len()], vec![0.0; key.len()]];
        for o in 0..query.len() / w {
            for a in 0..w {
                for b in 0..w {
                    let d = d_fold[a * w + b];
                    d_query[o * w + a] += d * key[o * w + b];
                    d_key[o * w + b] += d * query[o * w + a];
                }
            }
        }
        into.tensor_mut(self.names[0]).copy_from_slice(&d_query);
        into.tensor_mut(self.names[1]).copy_from_slice(&d_key);
    }
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
