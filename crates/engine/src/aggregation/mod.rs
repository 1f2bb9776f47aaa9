//! Reductions: of the messages that a node receives (equation 8), and of the nodes that the decoder
//! reads (equation 3).
//!
//! A message is ReLU(aᵢ + bⱼ), aᵢ being the receiver's half and bⱼ the sender's. Forward functions
//! are generic over [`Sources`]: whether it is recorded where the elements of a maximum came from.
//! Training records it, rollouts do not, and run the same code.

mod max;
mod sum;

use fearless_simd::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    Graph,
    graph::Neighbours,
    kernels::{
        rows::{add_rows, axpy, max_over_rows},
        sources::Sources,
    },
    rows::Rows,
};

/// The reduction of many values to one, element by element.
///
/// Over the complete graph, sums and means of messages cost O(n²·k): the algebra that makes a
/// maximum O(n·k) does not hold for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Aggregation {
    /// The largest; of equals the one with the lowest index, forward and backward.
    #[default]
    Max,
    /// All of them added up, in the order of their nodes.
    Sum,
    /// Their sum divided by how many there are.
    Mean,
}

impl Aggregation {
    /// What a sum of `count` values is multiplied by.
    fn share(self, count: usize) -> f32 {
        match self {
            Aggregation::Max | Aggregation::Sum => 1.0,
            Aggregation::Mean => 1.0 / count as f32,
        }
    }
}

/// Everything a node may receive on one channel.
#[derive(Clone, Copy)]
pub struct Senders<'a> {
    pub graph: Graph,
    /// Which nodes send to which, for graphs that read pointers.
    pub neighbours: &'a Neighbours,
    /// bⱼ of all channels \[n, channels · k\]; empty where nobody sends.
    pub sent: &'a [f32],
    pub channel: usize,
    pub channels: usize,
    /// What every node receives in the complete graph, \[k\]: the aggregate of all bⱼ.
    pub by_all: &'a [f32],
}

impl Senders<'_> {
    /// bⱼ of this channel.
    #[inline(always)]
    fn of(&self, j: usize) -> &[f32] {
        let k = self.by_all.len();
        &self.sent[(j * self.channels + self.channel) * k..][..k]
    }
}

/// One channel's messages of a step that is gone back through.
pub struct Aggregated<'a> {
    pub graph: Graph,
    pub neighbours: &'a Neighbours,
    pub x: &'a [f32],       // [n, k]: what the layer read
    pub m: &'a [f32],       // [n, k]
    pub sources: &'a [u32], // as the forward pass left them
    pub message: Message<'a>,
}

/// A message function, as columns of a matrix \[k, width\]: the receiver's half a and the sender's
/// half b begin at these.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    pub mix: &'a [f32],
    pub bias: &'a [f32],  // [width]
    pub mix_t: &'a [f32], // [width, k]
    pub width: usize,
    pub receiver: usize,
    pub sender: usize,
}

/// Where the gradients of a step of messages go.
pub struct AggregateGradients<'a> {
    pub mixed: &'a mut [f32], // [n, width]: this channel's ∂a and ∂b are written, the rest is left alone
    pub x: &'a mut [f32],     // [n, k]: added to where ∂b is sparse
    pub sender: &'a mut [f32], // [k, k], as [out, in]: likewise
    pub by_all: &'a mut [f32], // [k], scratch
    pub halves: &'a mut Vec<f32>, // a | b of every node, scratch
}

/// Messages.
impl Aggregation {
    /// Whether ∂b has so few elements that it goes its own way, past the products that all other
    /// gradients share.
    pub(crate) fn has_sparse_senders(self, graph: Graph) -> bool {
        self == Aggregation::Max && graph == Graph::Complete
    }

    /// How many sources a step over n nodes and k latents has.
    pub(crate) fn source_count(self, graph: Graph, n: usize, k: usize) -> usize {
        match (self, graph) {
            (Aggregation::Max, Graph::Complete) => k,
            (Aggregation::Max, _) => n * k,
            (Aggregation::Sum | Aggregation::Mean, _) => 0,
        }
    }

    /// The maximum of all bⱼ, for the complete graph; sums have no use for it.
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
            Aggregation::Sum | Aggregation::Mean => {}
        }
    }

    /// m of the nodes from `first` on; `mixed` has aᵢ at the beginning of rows of `width`.
    ///
    /// Sources are left alone where a node receives from only one, or the same as all others.
    #[inline(always)]
    pub(crate) fn aggregate<S: Simd>(
        self,
        simd: S,
        senders: Senders,
        first: usize,
        mixed: Rows,
        m: &mut [f32],
        sources: impl Sources,
    ) {
        match self {
            Aggregation::Max => max::aggregate(simd, senders, first, mixed, m, sources),
            Aggregation::Sum | Aggregation::Mean => {
                sum::aggregate(self, simd, senders, first, mixed, m)
            }
        }
    }

    /// The mirror of [`Aggregation::aggregate`]: from ∂m to ∂a and ∂b.
    #[inline(always)]
    pub(crate) fn aggregate_backward<S: Simd>(
        self,
        simd: S,
        aggregated: Aggregated,
        d_m: &[f32],
        into: AggregateGradients,
    ) {
        match self {
            Aggregation::Max => max::aggregate_backward(simd, aggregated, d_m, into),
            Aggregation::Sum | Aggregation::Mean => {
                sum::aggregate_backward(self, simd, aggregated, d_m, into);
            }
        }
    }
}

/// The readout.
impl Aggregation {
    /// The aggregate of nothing.
    pub(crate) fn nothing(self) -> f32 {
        match self {
            Aggregation::Max => f32::NEG_INFINITY,
            Aggregation::Sum | Aggregation::Mean => 0.0,
        }
    }

    /// Takes in some more rows, of which the first has the number `first`.
    #[inline(always)]
    pub(crate) fn accumulate<S: Simd>(
        self,
        simd: S,
        rows: &[f32],
        first: u32,
        into: &mut [f32],
        sources: impl Sources,
    ) {
        match self {
            Aggregation::Max => max_over_rows(simd, rows, (into.len(), 0), first, into, sources),
            Aggregation::Sum | Aggregation::Mean => add_rows(simd, rows, into.len(), into),
        }
    }

    /// The readout of all rows, from the readouts of consecutive blocks of them.
    ///
    /// How many blocks there are depends on the threads. A maximum does not; a sum in floating
    /// point does, so it is taken over all rows again, one after the other.
    #[inline(always)]
    pub(crate) fn join<S: Simd>(
        self,
        simd: S,
        blocks: &[Vec<f32>],
        [z, h]: [&[f32]; 2],
        into: &mut [f32],
    ) {
        match self {
            Aggregation::Max => {
                for block in blocks {
                    for (value, &later) in into.iter_mut().zip(block) {
                        if later > *value {
                            *value = later;
                        }
                    }
                }
            }
            Aggregation::Sum | Aggregation::Mean => {
                let (into_z, into_h) = into.split_at_mut(into.len() / 2);
                self.accumulate(simd, z, 0, into_z, ());
                self.accumulate(simd, h, 0, into_h, ());
            }
        }
    }

    /// What is left to do once all `nodes` rows were seen.
    #[inline(always)]
    pub(crate) fn finish(self, nodes: usize, into: &mut [f32]) {
        if self == Aggregation::Mean {
            let share = self.share(nodes);
            into.iter_mut().for_each(|value| *value *= share);
        }
    }

    /// Sends d · weights, the gradient of a readout, back to the rows it came from.
    #[inline(always)]
    pub(crate) fn readout_backward<S: Simd>(
        self,
        simd: S,
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
            Aggregation::Sum | Aggregation::Mean => {
                let d = d * self.share(d_rows.len() / weights.len());
                d_rows.chunks_exact_mut(weights.len()).for_each(|row| axpy(simd, d, weights, row));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{SimdLevel, with_simd};
    use pgn_structures::{Node, Rng};

    fn rounded(count: usize, seed: u64) -> Vec<f32> {
        let mut rng = Rng::new([seed, count as u64, 1, 0]);
        (0..count).map(|_| 2.0 * rng.unit_f32() - 1.0).collect()
    }

    /// m of every graph over n nodes, with sources and without, beside that of all pairs of which
    /// the first receives from the second.
    fn check(graph: Graph, n: usize, k: usize) {
        let (mixed, sent) = (rounded(n * 2 * k, 6), rounded(n * k, 7));
        let pointers: Vec<Node> = (0..n).map(|i| (i * 7 % n / 2) as Node).collect();
        let mut neighbours = Neighbours::default();
        neighbours.rebuild(graph, &pointers);
        let receives = |i: usize, j: usize| match graph {
            Graph::Complete => true,
            _ => neighbours.of(i).contains(&(j as Node)),
        };
        let max = Aggregation::Max;
        for level in SimdLevel::all() {
            let (mut m, mut by_all) = (vec![0.0; n * k], vec![0.0; k]);
            let mut sources = vec![u32::MAX; max.source_count(graph, n, k)];
            let mut unrecorded = m.clone();
            with_simd!(level, simd => {
                max.send_to_all(simd, &sent, &mut by_all, &mut sources[..k]);
                let senders = Senders { graph, neighbours: &neighbours, sent: &sent, by_all: &by_all, channel: 0, channels: 1 };
                let mixed = Rows::new(&mixed, 2 * k);
                max.aggregate(simd, senders, 0, mixed, &mut m, &mut sources[..]);
                max.aggregate(simd, senders, 0, mixed, &mut unrecorded, ());
            });
            assert_eq!(m, unrecorded, "{graph:?}");
            for i in 0..n {
                for d in 0..k {
                    let aggregated: Vec<usize> = (0..n).filter(|&j| receives(i, j)).collect();
                    let message = |j: &usize| (mixed[i * 2 * k + d] + sent[j * k + d]).max(0.0);
                    let dense = aggregated.iter().map(message).fold(0.0, f32::max);
                    assert_eq!(m[i * k + d].to_bits(), dense.to_bits(), "{graph:?}, n = {n}");
                    if aggregated.len() > 1 {
                        let top = aggregated
                            .iter()
                            .fold(f32::NEG_INFINITY, |top, j| top.max(sent[j * k + d]));
                        let first = aggregated.iter().find(|&j| sent[j * k + d] == top);
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
        for level in SimdLevel::all() {
            let max = Aggregation::Max;
            let (mut whole, mut first, mut second) =
                (vec![max.nothing(); k], vec![max.nothing(); k], vec![max.nothing(); k]);
            with_simd!(level, simd => {
                max.accumulate(simd, &rows, 0, &mut whole, ());
                max.accumulate(simd, &rows[..4 * k], 0, &mut first, ());
                max.accumulate(simd, &rows[4 * k..], 4, &mut second, ());
            });
            let mut joined = [first, vec![max.nothing(); k]].concat();
            let later = [second, vec![max.nothing(); k]].concat();
            with_simd!(level, simd => max.join(simd, &[later], [&rows, &rows], &mut joined));
            assert_eq!(joined[..k], whole);
        }
    }

    /// Sums and means of messages are those of all pairs, added up one after the other.
    #[test]
    fn sums_go_over_every_edge() {
        for (n, k) in [(1, 8), (2, 8), (21, 32)] {
            let (mixed, sent) = (rounded(n * 2 * k, 6), rounded(n * k, 7));
            let pointers: Vec<Node> = (0..n).map(|i| (i * 7 % n / 2) as Node).collect();
            for graph in [Graph::Complete, Graph::Symmetric, Graph::Directed] {
                let mut neighbours = Neighbours::default();
                neighbours.rebuild(graph, &pointers);
                for level in SimdLevel::all() {
                    let (mut sums, mut means) = (vec![0.0; n * k], vec![0.0; n * k]);
                    let by_all = &vec![0.0; k];
                    with_simd!(level, simd => {
                        let senders =
                            Senders { graph, neighbours: &neighbours, sent: &sent, by_all, channel: 0, channels: 1 };
                        let mixed = Rows::new(&mixed, 2 * k);
                        Aggregation::Sum.aggregate(simd, senders, 0, mixed, &mut sums, ());
                        Aggregation::Mean.aggregate(simd, senders, 0, mixed, &mut means, ());
                    });
                    for at in 0..n * k {
                        let (i, d) = (at / k, at % k);
                        let aggregated: Vec<usize> = match graph {
                            Graph::Complete => (0..n).collect(),
                            _ => neighbours.of(i).iter().map(|&j| j as usize).collect(),
                        };
                        let message =
                            |&j: &usize| (mixed[i * 2 * k + d] + sent[j * k + d]).max(0.0);
                        let sum = aggregated.iter().map(message).fold(0.0, |sum, next| sum + next);
                        assert_eq!(sums[at], sum, "{graph:?}, n = {n}");
                        assert_eq!(means[at], sum * (1.0 / aggregated.len() as f32), "{graph:?}");
                    }
                }
            }
        }
    }
}
