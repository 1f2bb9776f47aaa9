//! The scores of one choice between keep, nil and the nodes of a view.

use fearless_simd::prelude::*;

use super::{
    layout::{Layout, padded},
    rounds::Tape,
    weights::Weights,
};
use crate::kernels::rows::{axpy, dot};

/// Where keep, nil and the first node are among the scores.
pub const KEEP: usize = 0;
pub const NIL: usize = 1;
pub const FIRST: usize = 2;

/// One pointer that is chosen: a field of a node or a register of a controller.
#[derive(Clone, Copy)]
pub struct Choice<'a> {
    /// Number of the view.
    pub view: usize,
    /// \[query ‖ keep ‖ nil ‖ biases\]
    pub outputs: &'a [f32],
    /// Per node of the view, which biases count: a set of bits.
    pub related: &'a [u64],
}

/// The outputs of a batch, seen as scores.
#[derive(Clone, Copy)]
pub struct Scores<'a> {
    pub layout: &'a Layout,
    pub weights: &'a Weights,
    pub tape: &'a Tape,
}

impl<'a> Scores<'a> {
    /// The outputs of a node, counted over all views.
    pub fn node(&self, node: usize) -> &'a [f32] {
        &self.tape.node[node * self.weights.node.width..][..self.weights.node.outputs]
    }

    /// The outputs of the controller of a view.
    pub fn controller(&self, view: usize) -> &'a [f32] {
        let layer = &self.weights.controller;
        &self.tape.controller[view * layer.width..][..layer.outputs]
    }

    /// The nodes of a view, counted over all views.
    pub fn nodes(&self, view: usize) -> std::ops::Range<usize> {
        self.tape.graph.starts[view]..self.tape.graph.starts[view + 1]
    }

    /// By which biases node `i` (counted in its view) sees each node: relations, then registers.
    pub fn related(&self, view: usize, i: usize, into: &mut Vec<u64>) {
        let held = self.tape.graph.held[self.nodes(view)].iter();
        let related = self.tape.graph.related(view, i).iter();
        into.clear();
        into.extend(
            related.zip(held).map(|(related, held)| related | held << self.layout.between_nodes()),
        );
    }

    /// Scores of keep, nil and each node; the rest of `into` is −∞, up to a whole vector.
    #[inline(always)]
    pub fn of<S: Simd>(&self, simd: S, choice: Choice<'_>, into: &mut Vec<f32>) {
        let k = self.layout.k;
        let (query, rest) = choice.outputs.split_at(k);
        let biases = &rest[FIRST..];
        into.clear();
        into.extend_from_slice(&rest[..FIRST]);
        let scale = 1.0 / (k as f32).sqrt();
        for (node, &related) in self.nodes(choice.view).zip(choice.related) {
            let key = &self.node(node)[self.layout.key_output()..][..k];
            let mut score = dot(simd, query, key) * scale;
            each_bit(related, |bias| score += biases[bias]);
            into.push(score);
        }
        into.resize(padded(into.len()), f32::NEG_INFINITY);
    }

    /// Adds to the gradients of the outputs, given those of the scores. `d_outputs` is of the one
    /// who chooses, `d_keys` of all nodes: \[nodes, width\].
    #[inline(always)]
    pub fn backward<S: Simd>(
        &self,
        simd: S,
        choice: Choice<'_>,
        d_scores: &[f32],
        d_outputs: &mut [f32],
        d_keys: &mut [f32],
    ) {
        let k = self.layout.k;
        let query = &choice.outputs[..k];
        let (d_query, d_rest) = d_outputs.split_at_mut(k);
        d_rest[KEEP] += d_scores[KEEP];
        d_rest[NIL] += d_scores[NIL];
        let d_biases = &mut d_rest[FIRST..];
        let scale = 1.0 / (k as f32).sqrt();
        let nodes = self.nodes(choice.view).zip(choice.related);
        for ((node, &related), &d) in nodes.zip(&d_scores[FIRST..]) {
            let key = self.layout.key_output();
            axpy(simd, scale * d, &self.node(node)[key..][..k], d_query);
            let place = node * self.weights.node.width + key;
            axpy(simd, scale * d, query, &mut d_keys[place..][..k]);
            each_bit(related, |bias| d_biases[bias] += d);
        }
    }
}

/// The bits that are set, from the lowest.
#[inline(always)]
fn each_bit(mut bits: u64, mut act: impl FnMut(usize)) {
    while bits != 0 {
        act(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}
