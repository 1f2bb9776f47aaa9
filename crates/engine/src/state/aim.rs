//! Where pointers go (equations 5 to 7), and what was in the balance.

use std::cmp::Ordering;

use fearless_simd::{f32x4, prelude::*, u32x4};
use pgn_structures::Node;
use rayon::prelude::*;

use super::{ALONE, State, block};
use crate::{
    AttentionInput, Candidates, Pointers,
    attention::{gather, keep_visited, queries, scores},
    kernels::{
        LANES,
        math::softmax,
        rows::{DOTS, dots},
    },
    readout::left_alone,
    simd::with_simd,
};

/// In place of a key, where none was better.
const NOWHERE: u32 = u32::MAX;

impl State {
    /// Equations 5 to 7: nodes with mask 0 (or all) are re-aimed at the node with the highest score.
    /// α's softmax does not change which that is.
    #[inline(always)]
    pub(super) fn aim<S: Simd>(&mut self, simd: S) {
        let (config, weights) = (self.model.config(), self.model.weights());
        let w = config.attention_width();
        let rows: Vec<Node> = match config.pointers {
            Pointers::Every => (0..self.n as Node).collect(),
            _ => {
                (0..self.n as Node).filter(|&i| !left_alone(self.mask_logits[i as usize])).collect()
            }
        };
        let concatenated = self.concatenated();
        let keys = concatenated.as_deref().unwrap_or(&self.h);
        let mut gathered = vec![0.0; rows.len() * w];
        gather(w, keys, &rows, &mut gathered);
        let mut q = vec![0.0; rows.len() * w];
        queries(simd, w, &weights.fold, &gathered, &mut q);

        // A row whose scores compare with nothing (NaN) keeps its pointer.
        let mut best: Vec<(f32, Node)> =
            rows.iter().map(|&i| (f32::NEG_INFINITY, self.pointers[i as usize])).collect();
        match config.candidates {
            // Candidates are the rows themselves: each is visited, or itself.
            Candidates::Visited => best_keys(simd, w, &q, &gathered, |j| rows[j], &mut best),
            Candidates::All => best_of_all(simd, w, &q, keys, &mut best),
        }
        for (&node, (_, target)) in rows.iter().zip(best) {
            let pointer = &mut self.pointers[node as usize];
            if *pointer != target {
                self.changed.push(node);
                self.changed_from.push(std::mem::replace(pointer, target));
                self.moved = true;
            }
        }
    }

    /// \[z ‖ h\], for models whose attention reads it.
    fn concatenated(&self) -> Option<Vec<f32>> {
        let k = self.model.config().k;
        (self.model.config().attention_input == AttentionInput::Zh).then(|| {
            let rows = self.z.chunks_exact(k).zip(self.h.chunks_exact(k));
            rows.flat_map(|(z, h)| z.iter().chain(h)).copied().collect()
        })
    }

    /// α of one node after the last operation (equation 6): how relevant every node is to it.
    /// `None` in models without attention, or if there is no such node.
    pub fn attention(&self, node: Node) -> Option<Vec<f32>> {
        let config = self.model.config();
        if !config.has_attention() || node as usize >= self.n {
            return None;
        }
        if let Some(runner) = &self.runner {
            let k = config.k;
            return Some(
                with_simd!(self.model.simd_level(), simd => runner.attention(simd, k, node)),
            );
        }
        let w = config.attention_width();
        let concatenated = self.concatenated();
        let keys = concatenated.as_deref().unwrap_or(&self.h);
        let mut alpha = vec![0.0; self.n.next_multiple_of(LANES)];
        with_simd!(self.model.simd_level(), simd => {
            let mut q = vec![0.0; w];
            queries(simd, w, &self.model.weights().fold, &keys[node as usize * w..][..w], &mut q);
            scores(simd, &q, keys, &mut alpha);
            if config.candidates == Candidates::Visited {
                let visited = |j: usize| !left_alone(self.mask_logits[j]);
                keep_visited(&mut alpha[..self.n], node, visited);
            }
            softmax(simd, &mut alpha);
        });
        alpha.truncate(self.n);
        Some(alpha)
    }
}

/// For every query the best of all keys, on several threads where there are many: each takes some
/// of the queries or, where these are few, some of the keys. Memory is O(queries + keys) either way.
#[inline(always)]
fn best_of_all<S: Simd>(simd: S, w: usize, q: &[f32], keys: &[f32], best: &mut [(f32, Node)]) {
    let (queries, nodes) = (best.len(), keys.len() / w);
    if nodes <= ALONE {
        return best_keys(simd, w, q, keys, |j| j as Node, best);
    }
    let size = block(nodes);
    if queries > size {
        let parts = q.par_chunks(size * w).zip(best.par_chunks_mut(size)).with_max_len(1);
        return parts.for_each(|(q, best)| {
            simd.vectorize(
                #[inline(always)]
                || best_keys(simd, w, q, keys, |j| j as Node, best),
            );
        });
    }
    let blocks: Vec<Vec<(f32, Node)>> = keys
        .par_chunks(size * w)
        .with_max_len(1)
        .enumerate()
        .map(|(i, keys)| {
            let number = |j: usize| (i * size + j) as Node;
            let mut best = best.to_vec();
            simd.vectorize(
                #[inline(always)]
                || best_keys(simd, w, q, keys, number, &mut best),
            );
            best
        })
        .collect();
    for block in blocks {
        for (best, new) in best.iter_mut().zip(block) {
            if new.0 > best.0 {
                *best = new;
            }
        }
    }
}

/// For every query the best of these keys, if better than what it has; the lowest number among
/// equals, keys being in ascending order.
#[inline(always)]
fn best_keys<S: Simd>(
    simd: S,
    w: usize,
    q: &[f32],
    keys: &[f32],
    number: impl Fn(usize) -> Node,
    best: &mut [(f32, Node)],
) {
    for (q, best) in q.chunks_exact(w).zip(best) {
        // Each lane has its own best, of every fourth key, and the four keys it was found among.
        let mut highest = f32x4::splat(simd, best.0);
        let mut found = u32x4::splat(simd, NOWHERE);
        for (four, keys) in keys.chunks(DOTS * w).enumerate() {
            let score = dots(simd, q, keys);
            let higher = score.simd_gt(highest);
            highest = higher.select(score, highest);
            found = higher.select(u32x4::splat(simd, four as u32), found);
        }
        let lanes = highest.to_array().into_iter().zip(found.to_array()).enumerate();
        let keys = lanes
            .filter(|(_, (_, four))| *four != NOWHERE)
            .map(|(lane, (score, four))| (score, four as usize * DOTS + lane));
        let order = |a: &(f32, usize), b: &(f32, usize)| {
            a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal).then(b.1.cmp(&a.1))
        };
        // Where the last key stands in for missing ones it wins nothing: its own lane has it too,
        // or something better, under a lower number.
        if let Some((score, key)) = keys.max_by(order) {
            *best = (score, number(key));
        }
    }
}
