//! Where pointers go (equations 5 to 7).

use fearless_simd::prelude::*;
use pgn_structures::Node;
use rayon::prelude::*;

use super::run::{ALONE, block};
use crate::{
    AttentionInput, Candidates, Config,
    attention::{Highest, QueryKey, gather},
    kernels::rows::{DOTS, dots},
    masks::left_alone,
};

/// Nodes that ask where to point, and what they ask with.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    pub rows: &'a [Node],
    pub gathered: &'a [f32], // [rows, w]: what query reads of them
    pub q: &'a [f32],        // [rows, w]
    pub keys: &'a [f32],     // [n, w]
}

/// The nodes that are re-aimed: those that are not left alone (equation 5), or all where a model has
/// no masks or does not heed them.
pub fn list_asking(
    config: &Config,
    nodes: usize,
    is_left_alone: impl Fn(usize) -> bool,
    rows: &mut Vec<Node>,
) {
    if config.heeds_masks() {
        rows.extend((0..nodes as Node).filter(|&i| !is_left_alone(i as usize)));
    } else {
        rows.extend(0..nodes as Node);
    }
}

/// What query and key read: h, or \[z ‖ h\], for which there is room in `zh`.
#[inline(always)]
pub fn attention_input<'a>(
    config: &Config,
    z: &[f32],
    h: &'a [f32],
    zh: &'a mut [f32],
) -> &'a [f32] {
    match config.attention_input {
        AttentionInput::H => h,
        AttentionInput::Zh => {
            let k = config.k;
            let rows = z.chunks_exact(k).zip(h.chunks_exact(k));
            for ((z, h), into) in rows.zip(zh.chunks_exact_mut(2 * k)) {
                into[..k].copy_from_slice(z);
                into[k..].copy_from_slice(h);
            }
            zh
        }
    }
}

/// Buffers of nodes that the model's own masks re-aim, used again for every operation.
#[derive(Clone, Debug, Default)]
pub struct Aiming {
    pub rows: Vec<Node>,        // [R]
    gathered: Vec<f32>,         // [R, w]
    q: Vec<f32>,                // [R, w]
    pub best: Vec<(f32, Node)>, // [R]
}

impl Aiming {
    /// Equation 5: gathers what query reads of the nodes that are not left alone.
    #[inline(always)]
    pub fn ask(&mut self, config: &Config, mask_logits: &[f32], keys: &[f32]) {
        let w = config.attention_width();
        self.rows.clear();
        list_asking(config, mask_logits.len(), |i| left_alone(mask_logits[i]), &mut self.rows);
        self.gathered.resize(self.rows.len() * w, 0.0);
        gather(w, keys, &self.rows, &mut self.gathered);
    }

    /// Equations 6 and 7 for the nodes that asked, by one pointer type: see [`aim`].
    #[inline(always)]
    pub fn aim<S: Simd>(
        &mut self,
        simd: S,
        config: &Config,
        query_key: &QueryKey,
        keys: &[f32],
        pointers: &mut [Node],
        moved: impl FnMut(Node, Node),
    ) {
        let Aiming { rows, gathered, q, best } = self;
        q.resize(gathered.len(), 0.0);
        query_key.forward(simd, gathered, q);
        let asking = Asking { rows, gathered, q, keys };
        aim(simd, config, asking, pointers, best, moved);
    }
}

/// Re-aims the nodes that ask at the node with the highest score, and calls `moved` with every node
/// whose pointer moved and where it pointed before. α's softmax does not change which that is.
#[inline(always)]
pub fn aim<S: Simd>(
    simd: S,
    config: &Config,
    asking: Asking,
    pointers: &mut [Node],
    best: &mut Vec<(f32, Node)>,
    mut moved: impl FnMut(Node, Node),
) {
    let (w, Asking { rows, gathered, q, keys }) = (config.attention_width(), asking);
    // A row whose scores compare with nothing (NaN) keeps its pointer.
    best.clear();
    best.extend(rows.iter().map(|&i| (f32::NEG_INFINITY, pointers[i as usize])));
    match config.candidates {
        // Candidates are the rows themselves: each is visited, or itself.
        Candidates::Visited => best_keys(simd, w, q, gathered, |j| rows[j], best),
        Candidates::All => best_of_all(simd, w, q, keys, best),
    }
    for (&node, &(_, target)) in rows.iter().zip(&*best) {
        let from = std::mem::replace(&mut pointers[node as usize], target);
        if from != target {
            moved(node, from);
        }
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
        let mut highest = Highest::above(simd, best.0);
        for (four, keys) in keys.chunks(DOTS * w).enumerate() {
            highest.offer(four, dots(simd, q, keys));
        }
        // Where the last key stands in for missing ones it wins nothing: its own lane has it too,
        // or something better, under a lower number.
        if let Some((score, key)) = highest.end() {
            *best = (score, number(key));
        }
    }
}
