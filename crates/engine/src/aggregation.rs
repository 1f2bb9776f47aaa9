//! How many become one: the messages that a node hears (equation 8), and the nodes that the
//! decoder reads (equation 3).
//!
//! A message is ReLU(aᵢ + bⱼ), aᵢ being the receiver's half and bⱼ the sender's. Forward functions
//! are generic over [`Sources`]: whether it is recorded where the elements of a maximum came from.
//! Training records it, rollouts do not, and run the same code.

use fearless_simd::{f32x8, prelude::*, u32x8};
use pgn_structures::Node;

use crate::{
    Graph,
    graph::Neighbours,
    kernels::{
        LANES,
        rows::{add_rows, axpy, chunks, gate, load, max_over_rows, store},
        sources::Sources,
    },
    recurrent::Weights,
    rows::Rows,
};

/// How many values become one, element by element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregation {
    /// The largest; of equals the one with the lowest index, forward and backward.
    Max,
}

/// Everything a node may hear.
#[derive(Clone, Copy)]
pub struct Senders<'a> {
    pub graph: Graph,
    /// Who hears whom, for graphs that read pointers.
    pub neighbours: &'a Neighbours,
    /// bⱼ \[n, k\]; empty where nobody sends.
    pub sent: &'a [f32],
    /// What everybody hears in the complete graph, \[k\]: the aggregate of all bⱼ.
    pub by_all: &'a [f32],
}

/// A step of messages that is gone back through.
pub struct Heard<'a> {
    pub graph: Graph,
    pub neighbours: &'a Neighbours,
    pub z: &'a [f32],         // [n, k]
    pub m: &'a [f32],         // [n, k]
    pub sources: &'a [u32],   // as the forward pass left them
    pub weights: &'a Weights, //
}

/// Where the gradients of a step of messages go.
pub struct HeardGradients<'a> {
    pub mixed: &'a mut [f32], // [n, mix_width]: ∂a and ∂b are written, ∂c is left alone
    pub z: &'a mut [f32],     // [n, k]: added to where ∂b is sparse
    pub sender: &'a mut [f32], // [k, k], as [out, in]: likewise
    pub by_all: &'a mut [f32], // [k], scratch
}

/// Messages.
impl Aggregation {
    /// Whether ∂b has so few elements that it goes its own way, past the products that all other
    /// gradients share.
    pub(crate) fn has_sparse_senders(self, graph: Graph) -> bool {
        match self {
            Aggregation::Max => graph == Graph::Complete,
        }
    }

    /// How many sources a step over n nodes and k latents has.
    pub(crate) fn source_count(self, graph: Graph, n: usize, k: usize) -> usize {
        match self {
            Aggregation::Max => {
                if graph == Graph::Complete {
                    k
                } else {
                    n * k
                }
            }
        }
    }

    /// The aggregate of all bⱼ, for the complete graph.
    #[inline(always)]
    pub(crate) fn send_to_all<S: Simd>(
        self,
        simd: S,
        sent: &[f32],
        by_all: &mut [f32],
        mut sources: impl Sources,
    ) {
        match self {
            Aggregation::Max => {
                by_all.fill(f32::NEG_INFINITY);
                sources.fill(0);
                max_over_rows(simd, sent, (by_all.len(), 0), 0, by_all, sources);
            }
        }
    }

    /// m of the nodes from `first` on; `mixed` has aᵢ at the beginning of rows of `width`.
    ///
    /// Sources are left alone where a node hears only one, or the same as everybody.
    #[inline(always)]
    pub(crate) fn hear<S: Simd>(
        self,
        simd: S,
        senders: Senders,
        first: usize,
        mixed: Rows,
        m: &mut [f32],
        sources: impl Sources,
    ) {
        match self {
            Aggregation::Max => hear_max(simd, senders, first, mixed, m, sources),
        }
    }

    /// The mirror of [`Aggregation::hear`]: from ∂m to ∂a and ∂b.
    #[inline(always)]
    pub(crate) fn hear_backward<S: Simd>(
        self,
        simd: S,
        heard: Heard,
        d_m: &[f32],
        into: HeardGradients,
    ) {
        match self {
            Aggregation::Max => hear_max_backward(simd, heard, d_m, into),
        }
    }
}

/// The readout.
impl Aggregation {
    /// The aggregate of nothing.
    pub(crate) fn nothing(self) -> f32 {
        match self {
            Aggregation::Max => f32::NEG_INFINITY,
        }
    }

    /// Takes in some more rows, of which the first has the number `first`.
    #[inline(always)]
    pub(crate) fn see<S: Simd>(
        self,
        simd: S,
        rows: &[f32],
        first: u32,
        into: &mut [f32],
        sources: impl Sources,
    ) {
        match self {
            Aggregation::Max => max_over_rows(simd, rows, (into.len(), 0), first, into, sources),
        }
    }

    /// Takes in the aggregate of rows that come later.
    pub(crate) fn join(self, into: &mut [f32], later: &[f32]) {
        match self {
            Aggregation::Max => {
                for (value, &later) in into.iter_mut().zip(later) {
                    if later > *value {
                        *value = later;
                    }
                }
            }
        }
    }

    /// Sends d · weights, the gradient of a readout, back to the rows it came from.
    #[inline(always)]
    pub(crate) fn readout_backward(
        self,
        d: f32,
        weights: &[f32],
        sources: &[u32],
        d_rows: &mut [f32],
    ) {
        match self {
            Aggregation::Max => {
                let k = weights.len();
                for (dimension, (&weight, &from)) in weights.iter().zip(sources).enumerate() {
                    d_rows[from as usize * k + dimension] += d * weight;
                }
            }
        }
    }
}

/// mᵢ = maxⱼ ReLU(aᵢ + bⱼ) = ReLU(aᵢ + maxⱼ bⱼ): exact, as rounding is monotone, and so is ReLU.
#[inline(always)]
fn hear_max<S: Simd, F: Sources>(
    simd: S,
    senders: Senders,
    first: usize,
    mixed: Rows,
    m: &mut [f32],
    mut sources: F,
) {
    let k = senders.by_all.len();
    let zero = f32x8::splat(simd, 0.0);
    let rows = m.chunks_exact_mut(k).zip(mixed.iter());
    match senders.graph {
        // A node that hears only itself: its sender's half is part of a.
        Graph::SelfOnly => {
            for (m, mixed) in rows {
                for at in chunks(k) {
                    store(load(simd, mixed, at).max(zero), m, at);
                }
            }
        }
        Graph::Complete => {
            for (m, mixed) in rows {
                for at in chunks(k) {
                    let sum = load(simd, mixed, at) + load(simd, senders.by_all, at);
                    store(sum.max(zero), m, at);
                }
            }
        }
        Graph::Symmetric | Graph::Directed => {
            let sent = |j: Node| senders.sent[j as usize * k..][..k].as_chunks::<LANES>().0;
            for (i, (m, mixed)) in rows.enumerate() {
                let a = mixed[..k].as_chunks::<LANES>().0;
                let m = m.as_chunks_mut::<LANES>().0;
                let list = senders.neighbours.of(first + i);
                let nearest = sent(list[0]);
                if let [_] = list {
                    for (m, (a, b)) in m.iter_mut().zip(a.iter().zip(nearest)) {
                        let sum = f32x8::load_array_ref(simd, a) + f32x8::load_array_ref(simd, b);
                        sum.max(zero).store_array(m);
                    }
                    continue;
                }
                for (at, (m, a)) in m.iter_mut().zip(a).enumerate() {
                    let mut top = f32x8::load_array_ref(simd, &nearest[at]);
                    let mut from = F::all(simd, list[0]);
                    for &j in &list[1..] {
                        let new = f32x8::load_array_ref(simd, &sent(j)[at]);
                        let higher = new.simd_gt(top);
                        top = higher.select(new, top);
                        from = F::replace(simd, higher, j, from);
                    }
                    sources.set(i * k + at * LANES, from);
                    (f32x8::load_array_ref(simd, a) + top).max(zero).store_array(m);
                }
            }
        }
    }
}

#[inline(always)]
fn hear_max_backward<S: Simd>(simd: S, heard: Heard, d_m: &[f32], into: HeardGradients) {
    let (k, width) = (into.by_all.len(), heard.weights.mix_width);
    // m = ReLU(a + max b): ∂a …
    let rows = heard.m.chunks_exact(k).zip(d_m.chunks_exact(k));
    for ((m, d_m), d_mixed) in rows.zip(into.mixed.chunks_exact_mut(width)) {
        gate(simd, m, d_m, &mut d_mixed[..k]);
    }
    // … and from it ∂b.
    match heard.graph {
        Graph::Symmetric | Graph::Directed => {
            listed_backward(simd, k, heard.neighbours, heard.sources, into.mixed);
        }
        Graph::Complete => complete_backward(simd, k, heard, into),
        Graph::SelfOnly => {}
    }
}

/// Each element of ∂a goes back to the neighbour it came from.
#[inline(always)]
fn listed_backward<S: Simd>(
    simd: S,
    k: usize,
    neighbours: &Neighbours,
    sources: &[u32],
    d_mixed: &mut [f32],
) {
    let zero = f32x8::splat(simd, 0.0);
    for row in d_mixed.chunks_exact_mut(3 * k) {
        for part in row[2 * k..].as_chunks_mut::<LANES>().0 {
            zero.store_array(part);
        }
    }
    // Rows are read and written in one matrix, in vectors: row i begins at vector i · width.
    let (d_mixed, width) = (d_mixed.as_chunks_mut::<LANES>().0, 3 * k / LANES);
    let sender = 2 * k / LANES;
    for (i, sources) in sources.chunks_exact(k).enumerate() {
        let list = neighbours.of(i);
        for (at, source) in sources.as_chunks::<LANES>().0.iter().enumerate() {
            let d = f32x8::load_array_ref(simd, &d_mixed[i * width + at]);
            if let [only] = list {
                let target = &mut d_mixed[*only as usize * width + sender + at];
                (f32x8::load_array_ref(simd, target) + d).store_array(target);
                continue;
            }
            let from = u32x8::load_array_ref(simd, source);
            for &j in list {
                let mine = from.simd_eq(u32x8::splat(simd, j)).select(d, zero);
                let target = &mut d_mixed[j as usize * width + sender + at];
                (f32x8::load_array_ref(simd, target) + mine).store_array(target);
            }
        }
    }
}

/// The complete graph's ∂b has one non-zero element a dimension, Σᵢ ∂aᵢ at its source. Adds its
/// share to ∂z and to the gradient of the sender weights.
#[inline(always)]
fn complete_backward<S: Simd>(simd: S, k: usize, heard: Heard, into: HeardGradients) {
    let sender_t = Rows::new(&heard.weights.mix_t[2 * k * k..], k);
    let z = Rows::new(heard.z, k);
    into.by_all.fill(0.0);
    add_rows(simd, into.mixed, 3 * k, into.by_all);
    for (d, (&total, &from)) in into.by_all.iter().zip(heard.sources).enumerate() {
        let from = from as usize;
        axpy(simd, total, sender_t.row(d), &mut into.z[from * k..][..k]);
        axpy(simd, total, z.row(from), &mut into.sender[d * k..][..k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{SimdLevel, with_simd};
    use pgn_structures::Rng;

    const LEVELS: [fn() -> SimdLevel; 2] = [SimdLevel::best, SimdLevel::portable];

    fn rounded(count: usize, seed: u64) -> Vec<f32> {
        let mut rng = Rng::new([seed, count as u64, 1, 0]);
        (0..count).map(|_| 2.0 * rng.unit_f32() - 1.0).collect()
    }

    /// m of every graph over n nodes, with sources and without, beside that of all pairs of which
    /// the first hears the second.
    fn check(graph: Graph, n: usize, k: usize) {
        let (mixed, sent) = (rounded(n * 2 * k, 6), rounded(n * k, 7));
        let pointers: Vec<Node> = (0..n).map(|i| (i * 7 % n / 2) as Node).collect();
        let mut neighbours = Neighbours::default();
        neighbours.rebuild(graph, &pointers);
        let hears = |i: usize, j: usize| match graph {
            Graph::Complete => true,
            _ => neighbours.of(i).contains(&(j as Node)),
        };
        let max = Aggregation::Max;
        for level in LEVELS {
            let (mut m, mut by_all) = (vec![0.0; n * k], vec![0.0; k]);
            let mut sources = vec![u32::MAX; max.source_count(graph, n, k)];
            let mut unrecorded = m.clone();
            with_simd!(level(), simd => {
                max.send_to_all(simd, &sent, &mut by_all, &mut sources[..k]);
                let senders = Senders { graph, neighbours: &neighbours, sent: &sent, by_all: &by_all };
                let mixed = Rows::new(&mixed, 2 * k);
                max.hear(simd, senders, 0, mixed, &mut m, &mut sources[..]);
                max.hear(simd, senders, 0, mixed, &mut unrecorded, ());
            });
            assert_eq!(m, unrecorded, "{graph:?}");
            for i in 0..n {
                for d in 0..k {
                    let heard: Vec<usize> = (0..n).filter(|&j| hears(i, j)).collect();
                    let message = |j: &usize| (mixed[i * 2 * k + d] + sent[j * k + d]).max(0.0);
                    let dense = heard.iter().map(message).fold(0.0, f32::max);
                    assert_eq!(m[i * k + d].to_bits(), dense.to_bits(), "{graph:?}, n = {n}");
                    if heard.len() > 1 {
                        let top =
                            heard.iter().fold(f32::NEG_INFINITY, |top, j| top.max(sent[j * k + d]));
                        let first = heard.iter().find(|&j| sent[j * k + d] == top);
                        let from = sources[if graph == Graph::Complete { d } else { i * k + d }];
                        assert_eq!(Some(&(from as usize)), first, "{graph:?}, n = {n}");
                    }
                }
            }
        }
    }

    /// Messages are those of all pairs, to the bit.
    #[test]
    fn every_graph_equals_all_pairs() {
        for n in [1, 2, 3, 8, 21, 64] {
            for k in [8, 32] {
                for graph in [Graph::Complete, Graph::Symmetric, Graph::Directed] {
                    check(graph, n, k);
                }
            }
        }
    }

    #[test]
    fn a_readout_may_be_taken_in_parts() {
        let (n, k) = (9, 16);
        let rows = rounded(n * k, 1);
        for level in LEVELS {
            let max = Aggregation::Max;
            let (mut whole, mut first, mut second) =
                (vec![max.nothing(); k], vec![max.nothing(); k], vec![max.nothing(); k]);
            with_simd!(level(), simd => {
                max.see(simd, &rows, 0, &mut whole, ());
                max.see(simd, &rows[..4 * k], 0, &mut first, ());
                max.see(simd, &rows[4 * k..], 4, &mut second, ());
            });
            max.join(&mut first, &second);
            assert_eq!(first, whole);
        }
    }
}
