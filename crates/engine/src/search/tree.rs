//! Exact search: keys in a balanced tree of boxes.
//!
//! A box has the highest and the lowest value of every dimension, so that
//! Σ max(q·low, q·high) bounds the score of every key in it from above. A query begins with the score
//! of its present target, goes down to the more promising child first, and leaves out boxes whose
//! bound is below the best score so far. The bound has room for rounding, so that no key is left out
//! that the full search would find: both end with the same node, bit for bit.

use fearless_simd::prelude::*;
use pgn_structures::Node;

use super::Champion;
use crate::kernels::rows::dot;

/// Keys of a leaf.
const LEAF: usize = 32;
/// Nodes of a subtree that is worth a thread of its own while it is built.
const ALONE: usize = 4096;

/// A tree over the keys of one operation. Subtrees lie one after the other: a node's left child
/// follows it, its right child comes after all of the left.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    order: Vec<Node>, // [n]: the nodes, leaf by leaf; ascending in each
    rows: Vec<f32>,   // [n, w]: their keys in that order
    boxes: Vec<f32>,  // [2 · leaves − 1, 2w]: high | low
    /// The largest absolute value of a key.
    largest: f32,
}

/// How many boxes a subtree with so many leaves has.
fn boxes(leaves: usize) -> usize {
    2 * leaves - 1
}

impl Tree {
    /// Sorts the keys into boxes.
    pub fn build(&mut self, w: usize, keys: &[f32]) {
        let n = keys.len() / w;
        self.order.clear();
        self.order.extend(0..n as Node);
        self.rows.resize(n * w, 0.0);
        self.boxes.clear();
        self.boxes.resize(boxes(n.div_ceil(LEAF)) * 2 * w, 0.0);
        grow(w, keys, &mut self.order, &mut self.rows, &mut self.boxes);
        self.largest = self.boxes[..2 * w].iter().fold(0.0, |most, value| most.max(value.abs()));
        if keys.iter().any(|value| value.is_nan()) {
            // Bounds ignore NaN, as scores that are NaN win nothing; but sums may turn out NaN too.
            self.largest = f32::INFINITY;
        }
    }

    /// For every query the best key.
    #[inline(always)]
    pub fn find<S: Simd>(
        &self,
        simd: S,
        w: usize,
        q: &[f32],
        keys: &[f32],
        best: &mut [(f32, Node)],
    ) {
        let mut signs = vec![0.0; 2 * w];
        // One place for every level, and one more for the sibling at the last.
        let mut ahead: Vec<(usize, usize, usize, f32)> = Vec::with_capacity(64);
        let leaves = self.order.len().div_ceil(LEAF);
        for (q, best) in q.chunks_exact(w).zip(best) {
            let (high, low) = signs.split_at_mut(w);
            let mut size = 0.0;
            for ((high, low), &value) in high.iter_mut().zip(low).zip(q) {
                (*high, *low) = (value.max(0.0), value.min(0.0));
                size += value.abs();
            }
            // Score and bound are sums of w products, each off by at most this, together.
            let slack = 8.0 * w as f32 * (f32::EPSILON / 2.0) * size * self.largest + 1e-37;
            let mut champion = Champion::NOBODY;
            champion.see_key(simd, q, keys, best.1);
            ahead.clear();
            ahead.push((0, 0, leaves, f32::INFINITY));
            while let Some((at, first, count, bound)) = ahead.pop() {
                if bound < champion.score {
                    continue;
                }
                if count == 1 {
                    let end = ((first + 1) * LEAF).min(self.order.len());
                    let nodes = first * LEAF..end;
                    let rows = &self.rows[nodes.start * w..nodes.end * w];
                    champion.see_rows(simd, q, rows, &self.order[nodes]);
                    continue;
                }
                let half = count / 2;
                let (left, right) = (at + 1, at + 1 + boxes(half));
                let bound =
                    |at: usize| dot(simd, &signs, &self.boxes[at * 2 * w..][..2 * w]) + slack;
                let left = (left, first, half, bound(left));
                let right = (right, first + half, count - half, bound(right));
                // The last one is taken first.
                match left.3 > right.3 {
                    true => ahead.extend([right, left]),
                    false => ahead.extend([left, right]),
                }
            }
            champion.take(best);
        }
    }
}

/// Sorts some nodes into the boxes of a subtree; the first box is that of all of them.
fn grow(w: usize, keys: &[f32], order: &mut [Node], rows: &mut [f32], into: &mut [f32]) {
    let key = |node: Node| &keys[node as usize * w..][..w];
    let (own, below) = into.split_at_mut(2 * w);
    let (high, low) = own.split_at_mut(w);
    high.fill(f32::NEG_INFINITY);
    low.fill(f32::INFINITY);
    for &node in &*order {
        for ((high, low), &value) in high.iter_mut().zip(&mut *low).zip(key(node)) {
            // Neither takes a NaN.
            *high = high.max(value);
            *low = low.min(value);
        }
    }
    let leaves = order.len().div_ceil(LEAF);
    if leaves == 1 {
        order.sort_unstable();
        for (&node, row) in order.iter().zip(rows.chunks_exact_mut(w)) {
            row.copy_from_slice(key(node));
        }
        return;
    }
    // Along the longest side.
    let spread = |d: usize| high[d] - low[d];
    let side = (0..w).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0);
    let middle = leaves / 2 * LEAF;
    order.select_nth_unstable_by(middle, |&a, &b| key(a)[side].total_cmp(&key(b)[side]));
    let ((left, right), (left_rows, right_rows)) =
        (order.split_at_mut(middle), rows.split_at_mut(middle * w));
    let (left_boxes, right_boxes) = below.split_at_mut(boxes(leaves / 2) * 2 * w);
    let mut halves = (
        || grow(w, keys, left, left_rows, left_boxes),
        || grow(w, keys, right, right_rows, right_boxes),
    );
    if middle >= ALONE {
        rayon::join(&mut halves.0, &mut halves.1);
    } else {
        halves.0();
        halves.1();
    }
}
