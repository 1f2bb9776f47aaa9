//! Search for the key with the highest score among many (equation 6 at test time).
//!
//! The paper: "at test time … 1-NN queries in key/query space, which can be implemented
//! storage-efficiently". Keys change with every operation, so an index lives for one operation; it
//! pays where many nodes ask for one of many keys.
//!
//! `tree.rs` has the index: a tree of blocks, each with bounds on its keys.

mod tree;

use fearless_simd::prelude::*;
use pgn_structures::Node;
use rayon::prelude::*;

use crate::{
    attention::Highest,
    kernels::rows::{DOTS, dots},
};

/// How a free rollout finds where a pointer is aimed.
///
/// ```
/// use pgn_engine::{Config, Model, Search};
/// use pgn_structures::Operation;
///
/// let model = Model::new(Config::preset("pgn-nm")?, 0)?;
/// let mut full = model.clone().searching(Search::Full).start(3000)?;
/// let mut exact = model.searching(Search::Exact).start(3000)?;
/// let operation = Operation::new(5, 2000);
/// assert_eq!(full.apply(operation)?.pointers, exact.apply(operation)?.pointers);
/// # Ok::<(), pgn_engine::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// By the index of [`Search::Exact`] where that is faster, from some 12,000 nodes on, and in
    /// full elsewhere. The pointers are the same.
    #[default]
    Auto,
    /// Every key is looked at.
    Full,
    /// By an index of blocks with bounds, from 2,048 nodes on. The pointers are those of
    /// [`Search::Full`].
    Exact,
}

/// As on the command line: `auto`, `full`, `exact`.
impl std::fmt::Display for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Search::Auto => "auto",
            Search::Full => "full",
            Search::Exact => "exact",
        })
    }
}

impl Search {
    /// Whether an index is built for so many queries and keys.
    fn pays(self, queries: usize, keys: usize) -> bool {
        match self {
            // Measured: see docs/performance.md.
            Search::Auto => keys >= 12_288 && queries >= 128,
            Search::Full => false,
            Search::Exact => keys >= 2048 && queries >= 128,
        }
    }
}

/// An index with its buffers, built anew for every operation.
#[derive(Clone, Debug, Default)]
pub struct Finder {
    pub search: Search,
    tree: tree::Tree,
}

impl Finder {
    pub fn new(search: Search) -> Finder {
        Finder { search, ..Finder::default() }
    }

    /// For every query the best of all keys, beginning with the one it has; the lowest number among
    /// equals. Returns whether it did: where an index does not pay, nothing is done.
    #[inline(always)]
    pub fn find<S: Simd>(
        &mut self,
        simd: S,
        w: usize,
        q: &[f32],
        keys: &[f32],
        best: &mut [(f32, Node)],
    ) -> bool {
        if !self.search.pays(best.len(), keys.len() / w) {
            return false;
        }
        let each = best.len().div_ceil(8 * rayon::current_num_threads()).max(8);
        let parts = q.par_chunks(each * w).zip(best.par_chunks_mut(each)).with_max_len(1);
        let tree = &mut self.tree;
        tree.build(w, keys);
        let tree = &*tree;
        parts.for_each(|(q, best)| {
            simd.vectorize(
                #[inline(always)]
                || tree.find(simd, w, q, keys, best),
            );
        });
        true
    }
}

/// The best that was seen so far, in any order: the highest score above −∞, the lowest number among
/// equals.
#[derive(Clone, Copy)]
struct Champion {
    score: f32,
    node: Option<Node>,
}

impl Champion {
    const NOBODY: Champion = Champion { score: f32::NEG_INFINITY, node: None };

    #[inline(always)]
    fn see(&mut self, score: f32, node: Node) {
        let ahead = score > self.score
            || score == self.score && self.node.is_some_and(|champion| node < champion);
        if ahead {
            *self = Champion { score, node: Some(node) };
        }
    }

    /// Sees the rows of some nodes, which are in ascending order.
    #[inline(always)]
    fn see_rows<S: Simd>(&mut self, simd: S, q: &[f32], rows: &[f32], nodes: &[Node]) {
        let mut highest = Highest::above(simd, f32::NEG_INFINITY);
        for (four, rows) in rows.chunks(DOTS * q.len()).enumerate() {
            highest.offer(four, dots(simd, q, rows));
        }
        // Where the last row stands in for missing ones it wins nothing, as in the full search.
        if let Some((score, row)) = highest.end() {
            self.see(score, nodes[row]);
        }
    }

    /// Sees one key.
    #[inline(always)]
    fn see_key<S: Simd>(&mut self, simd: S, q: &[f32], keys: &[f32], node: Node) {
        let w = q.len();
        let score = dots(simd, q, &keys[node as usize * w..][..w]).to_array()[0];
        self.see(score, node);
    }

    /// A row whose scores compare with nothing (NaN) keeps what it has.
    #[inline(always)]
    fn take(self, best: &mut (f32, Node)) {
        if let Some(node) = self.node {
            *best = (self.score, node);
        }
    }
}

#[cfg(test)]
mod tests {
    use pgn_structures::Rng;

    use super::*;
    use crate::{SimdLevel, simd::with_simd};

    /// The best key by looking at all of them, one after the other.
    fn by_hand(w: usize, q: &[f32], keys: &[f32], before: Node) -> Node {
        with_simd!(SimdLevel::best(), simd => {
            let mut best = (f32::NEG_INFINITY, before);
            for (node, key) in keys.chunks_exact(w).enumerate() {
                let score = dots(simd, q, key).to_array()[0];
                if score > best.0 {
                    best = (score, node as Node);
                }
            }
            best.1
        })
    }

    fn found(search: Search, w: usize, q: &[f32], keys: &[f32], before: &[Node]) -> Vec<Node> {
        let mut best: Vec<(f32, Node)> =
            before.iter().map(|&node| (f32::NEG_INFINITY, node)).collect();
        let mut finder = Finder::new(search);
        let is_found =
            with_simd!(SimdLevel::best(), simd => finder.find(simd, w, q, keys, &mut best));
        assert!(is_found, "{search} is worth it");
        best.iter().map(|&(_, node)| node).collect()
    }

    /// Keys of several shapes: scattered, along a line, few different ones, and with values that
    /// compare with nothing.
    fn shapes(w: usize, n: usize) -> Vec<Vec<f32>> {
        let mut rng = Rng::new([9, 9, w as u64, n as u64]);
        let mut unit = || 2.0 * rng.unit_f32() - 1.0;
        let scattered: Vec<f32> = (0..n * w).map(|_| unit()).collect();
        let (base, direction): (Vec<f32>, Vec<f32>) = (0..w).map(|_| (unit(), unit())).unzip();
        let line = (0..n).flat_map(|i| {
            let t = (i * 7919 % n) as f32 / n as f32;
            base.iter().zip(&direction).map(move |(b, d)| b + t * d).collect::<Vec<_>>()
        });
        let line: Vec<f32> = line.collect();
        let few: Vec<f32> = scattered.iter().map(|value| value.round()).collect();
        let mut odd = scattered.clone();
        odd[5 * w] = f32::NAN;
        odd[700 * w + 3] = f32::INFINITY;
        odd[900 * w + 1] = f32::NEG_INFINITY;
        vec![scattered, line, few, vec![0.0; n * w], vec![f32::NAN; n * w], odd]
    }

    #[test]
    fn the_tree_finds_what_the_full_search_finds() {
        for (w, n) in [(8, 2048), (8, 2500), (32, 2049), (64, 2100)] {
            let mut rng = Rng::new([1, 2, w as u64, n as u64]);
            for (shape, keys) in shapes(w, n).into_iter().enumerate() {
                let mut q: Vec<f32> = (0..200 * w).map(|_| 2.0 * rng.unit_f32() - 1.0).collect();
                q[..w].fill(0.0);
                q[w] = f32::NAN;
                q[2 * w] = f32::INFINITY;
                let before: Vec<Node> = (0..200).map(|_| rng.below(n as u32)).collect();
                let ours = found(Search::Exact, w, &q, &keys, &before);
                for ((q, &before), ours) in q.chunks_exact(w).zip(&before).zip(ours) {
                    let theirs = by_hand(w, q, &keys, before);
                    assert_eq!(ours, theirs, "w = {w}, n = {n}, shape {shape}");
                }
            }
        }
    }
}
