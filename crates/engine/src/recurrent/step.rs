//! One operation: encoder, messages, update, masks and readout (equations 1, 2, 8, 3 and 4).
//!
//! Two phases, each of which treats a block of rows without looking at other blocks: first every
//! node's z and what it would send, then every node's messages and h. Where the processor is applied
//! several times, both are repeated on what it gave. Small structures, and
//! training, have one block; rollouts of large ones are spread over threads. Either way each row is
//! computed by the same instructions, so the bits are the same. Training keeps m and the sources of
//! its maxima ([`Kept`]); rollouts keep nothing (`()`).

use fearless_simd::prelude::*;
use pgn_structures::{Node, Operation};

use super::{Weights, layer::Layer};
use crate::{Config, InputGraph, graph::Neighbours, kernels::sources::Sources};

/// Rows that pass through the second phase together, so that what lies between z and h stays in
/// the first-level cache.
pub const ROWS: usize = 48;

/// What all parts of a step read.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    pub config: &'a Config,
    pub weights: &'a Weights,
    pub operation: Operation,
    /// \[n\], before the operation.
    pub pointers: &'a [Node],
    /// Whether h is 0, as it is before the first operation: there is nothing of it to encode.
    pub fresh: bool,
}

/// Finds who sends to whom on each channel: along pointers, and along the input graph.
pub fn connect<'a>(
    config: &Config,
    pointers: impl Iterator<Item = &'a [Node]>,
    input: &Neighbours,
    neighbours: &mut [Neighbours],
) {
    for (pointers, neighbours) in pointers.zip(&mut *neighbours) {
        neighbours.rebuild(config.graph, pointers);
    }
    match (config.input_graph, neighbours) {
        (InputGraph::None, _) => {}
        (InputGraph::Edges, [first, ..]) => first.merge(input),
        (InputGraph::Channel, [.., last]) => last.copy(input),
        _ => {}
    }
}

/// What a step leaves behind for its backward pass.
pub trait Record {
    /// Where maxima came from.
    type Sources<'a>: Sources
    where
        Self: 'a;

    /// Where m \[count, k\] of a channel and the nodes from `first` on goes, and where it came from.
    /// `scratch` is large enough for m.
    fn messages<'a>(
        &'a mut self,
        channel: usize,
        first: usize,
        count: usize,
        k: usize,
        scratch: &'a mut [f32],
    ) -> (&'a mut [f32], Self::Sources<'a>);

    /// The sources of the readout: those of max z, then those of max h.
    fn readout(&mut self) -> [Self::Sources<'_>; 2];
}

/// Nothing is kept.
impl Record for () {
    type Sources<'a> = ();

    #[inline(always)]
    fn messages<'a>(
        &'a mut self,
        _: usize,
        _: usize,
        count: usize,
        k: usize,
        scratch: &'a mut [f32],
    ) -> (&'a mut [f32], ()) {
        (&mut scratch[..count * k], ())
    }

    #[inline(always)]
    fn readout(&mut self) -> [(); 2] {
        [(), ()]
    }
}

/// What a tape keeps of one layer of a step.
pub struct Kept<'t> {
    pub m: &'t mut [f32],           // [channels, T, n, k]
    pub sources: &'t mut [u32], // [channels, T, sources of a step]; not by row in the complete graph
    pub top_sources: &'t mut [u32], // [2k], if the answer is read
    pub t: usize,
    pub ops: usize,
    pub nodes: usize,
}

impl Record for Kept<'_> {
    type Sources<'a>
        = &'a mut [u32]
    where
        Self: 'a;

    #[inline(always)]
    fn messages<'a>(
        &'a mut self,
        channel: usize,
        first: usize,
        count: usize,
        k: usize,
        _: &'a mut [f32],
    ) -> (&'a mut [f32], &'a mut [u32]) {
        let step = channel * self.ops + self.t;
        let all = self.m.len() / (self.nodes * k);
        let each = self.sources.len() / all;
        let rows = first * k..(first + count) * k;
        let sources = &mut self.sources[step * each..][..each];
        // The complete graph's sources are not by row.
        let sources = sources.get_mut(rows.clone()).unwrap_or_default();
        (&mut self.m[step * self.nodes * k..][rows], sources)
    }

    #[inline(always)]
    fn readout(&mut self) -> [&mut [u32]; 2] {
        let (z, h) = self.top_sources.split_at_mut(self.top_sources.len() / 2);
        [z, h]
    }
}

/// Rows of one block, as the first phase sees them.
pub struct Encoding<'a> {
    pub first: usize,
    pub fixed: &'a [f32],    // [rows, k]: the encoder's bias and priorities
    pub h: &'a [f32],        // [rows, k], before the operation
    pub z: &'a mut [f32],    // [rows, k]
    pub sent: &'a mut [f32], // [rows, channels · k]: bⱼ; empty where nobody sends
}

/// First phase (equation 1): z, and b, each node's half of the messages it sends.
#[inline(always)]
pub fn encode<S: Simd>(simd: S, context: &StepContext, rows: Encoding) {
    let StepContext { config, weights, .. } = *context;
    let Encoding { first, fixed, h, z, sent } = rows;
    weights.encoder.forward(simd, context, first, [fixed, h], z);
    weights.layers[0].send(simd, config, z, sent);
}

/// What all nodes of a layer may receive.
#[derive(Clone, Copy)]
pub struct AllSenders<'a> {
    pub neighbours: &'a [Neighbours], // one of each channel
    pub sent: &'a [f32],              // [n, channels · k]
    pub by_all: &'a [f32],            // [k]
}

/// Rows of one block, as the second phase sees them.
pub struct Processing<'a> {
    pub first: usize,
    pub x: &'a [f32],     // [rows, k]: z, or what the processor gave before
    pub h: &'a mut [f32], // [rows, k]
    pub z: &'a [f32],     // [rows, k]: read along with h where something is read
    /// \[rows\], or empty if masks are not read from this h.
    pub mask_logits: &'a mut [f32],
    /// \[2k\]: max z | max h, over the rows so far; or empty if the answer is not read from this h.
    pub top: &'a mut [f32],
}

/// Second phase (equations 8, 3 and 4): messages, h, mask logits and the readout.
#[inline(always)]
pub fn process<S: Simd, R: Record>(
    simd: S,
    context: &StepContext,
    layer: &Layer,
    all: AllSenders,
    block: Processing,
    record: &mut R,
    scratch: &mut Scratch,
) {
    let StepContext { config, weights, .. } = *context;
    let (k, readout) = (config.k, config.readout_aggregation);
    let (top_z, top_h) = block.top.split_at_mut(block.top.len() / 2);
    let rows = block.x.chunks(ROWS * k).zip(block.h.chunks_mut(ROWS * k));
    for (part, (x, h)) in rows.enumerate() {
        let (offset, count) = (part * ROWS, x.len() / k);
        let first = block.first + offset;
        layer.forward(simd, config, all, (offset, first), (x, &mut *h), (record, scratch)); // (8)
        let z = &block.z[offset * k..][..count * k];
        if let Some(masks) = &weights.masks
            && !block.mask_logits.is_empty()
        {
            masks.forward(simd, [z, h], &mut block.mask_logits[offset..][..count]); // (4)
        }
        // (3)
        if !top_z.is_empty() {
            let [source_z, source_h] = record.readout();
            readout.accumulate(simd, z, first as u32, top_z, source_z);
            readout.accumulate(simd, h, first as u32, top_h, source_h);
        }
    }
}

/// Buffers that live for one block.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub mixed: Vec<f32>, // [ROWS, (channels + 1) k]: a of each channel | c
    pub m: Vec<f32>,     // [ROWS, k]
}

impl Scratch {
    pub fn new(config: &Config) -> Scratch {
        let mut scratch = Scratch::default();
        scratch.fit(config);
        scratch
    }

    /// Makes room for a model.
    pub fn fit(&mut self, config: &Config) {
        // A view of any channel's columns has as many whole rows.
        let channels = config.channels();
        self.mixed.resize((ROWS * (channels + 1) + channels) * config.k, 0.0);
        self.m.resize(ROWS * config.k, 0.0);
    }
}
