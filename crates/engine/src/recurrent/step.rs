//! One operation: encoder, messages, update, masks and readout (equations 1, 2, 8, 3 and 4).
//!
//! Two phases, each of which treats a block of rows without looking at other blocks: first every
//! node's z and what it would send, then every node's messages and h. Small structures, and
//! training, have one block; rollouts of large ones are spread over threads. Either way each row is
//! computed by the same instructions, so the bits are the same. Training keeps m and the sources of
//! its maxima ([`Kept`]); rollouts keep nothing (`()`).

use fearless_simd::prelude::*;
use pgn_structures::{Node, Operation};

use super::weights::Weights;
use crate::{
    Config, Graph,
    aggregation::Senders,
    features::for_each_flag,
    kernels::{
        matmul::{Start, Then, mat, mat_mut, matmul},
        rows::{add, dot},
        sources::Sources,
    },
    readout::mask_forward,
    rows::{Rows, RowsMut},
};

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

/// What a step leaves behind for its backward pass.
pub trait Record {
    /// Where maxima came from.
    type Sources<'a>: Sources
    where
        Self: 'a;

    /// Where m \[count, k\] of the nodes from `first` on goes, and where it came from. `scratch`
    /// is large enough for m.
    fn messages<'a>(
        &'a mut self,
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

/// What a tape keeps of a step.
pub struct Kept<'t> {
    pub m: &'t mut [f32],           // [n, k]
    pub sources: &'t mut [u32],     // [n, k]; not written in the complete graph
    pub top_sources: &'t mut [u32], // [2k]
}

impl Record for Kept<'_> {
    type Sources<'a>
        = &'a mut [u32]
    where
        Self: 'a;

    #[inline(always)]
    fn messages<'a>(
        &'a mut self,
        first: usize,
        count: usize,
        k: usize,
        _: &'a mut [f32],
    ) -> (&'a mut [f32], &'a mut [u32]) {
        let rows = first * k..(first + count) * k;
        // The complete graph's sources are not by row.
        let sources = self.sources.get_mut(rows.clone()).unwrap_or_default();
        (&mut self.m[rows], sources)
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
    pub sent: &'a mut [f32], // [rows, k]: bⱼ; empty where nobody sends
}

/// First phase (equation 1): z, and b, each node's half of the messages it sends.
#[inline(always)]
pub fn encode<S: Simd>(simd: S, context: &StepContext, rows: Encoding) {
    let StepContext { config, weights, .. } = *context;
    let Encoding { first, fixed, h, z, sent } = rows;
    let k = config.k;
    let count = z.len() / k;
    // (1) z = encoder[e ‖ h⁻]
    if context.fresh || config.carried() == 0 {
        z.copy_from_slice(fixed);
    } else {
        let (b, start) = (mat(&weights.encoder_h, k), Start::Mat(mat(fixed, k)));
        matmul(simd, (count, k, k), mat(h, k), b, start, Then::Store, mat_mut(z, k));
    }
    let (columns, mut rows) = (Rows::new(&weights.encoder_e, k), RowsMut::new(z, k));
    for_each_flag(
        &config.features,
        context.operation,
        context.pointers,
        first..first + count,
        #[inline(always)]
        |input, node| add(simd, columns.row(input), rows.row(node - first)),
    );
    if config.graph != Graph::SelfOnly {
        let b = mat(&weights.mix[2 * k..], weights.mix_width);
        matmul(simd, (count, k, k), mat(z, k), b, Start::Zero, Then::Store, mat_mut(sent, k));
    }
}

/// Rows of one block, as the second phase sees them.
pub struct Processing<'a> {
    pub first: usize,
    pub z: &'a [f32],               // [rows, k]
    pub h: &'a mut [f32],           // [rows, k]
    pub mask_logits: &'a mut [f32], // [rows]
    pub top: &'a mut [f32],         // [2k]: max z | max h, gone on with
}

/// Second phase (equations 8, 3 and 4): messages, h, mask logits and the readout.
#[inline(always)]
pub fn process<S: Simd, R: Record>(
    simd: S,
    context: &StepContext,
    senders: Senders,
    block: Processing,
    record: &mut R,
    scratch: &mut Scratch,
) {
    let StepContext { config, weights, .. } = *context;
    let (k, width) = (config.k, weights.mix_width);
    let (messages, readout) = (config.message_aggregation(), config.readout_aggregation());
    let (top_z, top_h) = block.top.split_at_mut(k);
    let rows = block.z.chunks(ROWS * k).zip(block.h.chunks_mut(ROWS * k));
    for (part, ((z, h), mask_logits)) in rows.zip(block.mask_logits.chunks_mut(ROWS)).enumerate() {
        let (offset, count) = (part * ROWS, z.len() / k);
        let first = block.first + offset;
        let mixed = &mut scratch.mixed[..count * 2 * k];
        let (start, b) = (Start::Row(&weights.mix_bias), mat(&weights.mix, width));
        matmul(simd, (count, k, 2 * k), mat(z, k), b, start, Then::Store, mat_mut(mixed, 2 * k));
        // (8) m aggregates ReLU(a + b) over the graph; h = ReLU(update[z ‖ m]).
        let (m, sources) = record.messages(offset, count, k, &mut scratch.m);
        messages.hear(simd, senders, first, Rows::new(mixed, 2 * k), m, sources);
        let (start, b) = (Start::Mat(mat(&mixed[k..], 2 * k)), mat(&weights.update_m, k));
        matmul(simd, (count, k, k), mat(m, k), b, start, Then::Relu, mat_mut(h, k));
        // (4)
        if config.has_masks() {
            mask_forward(simd, k, z, h, &weights.mask, weights.mask_bias, mask_logits);
        }
        // (3)
        let [source_z, source_h] = record.readout();
        readout.see(simd, z, first as u32, top_z, source_z);
        readout.see(simd, h, first as u32, top_h, source_h);
    }
}

/// Equation 3: the answer's logit.
#[inline(always)]
pub fn answer<S: Simd>(simd: S, weights: &Weights, top: &[f32]) -> f32 {
    dot(simd, top, &weights.decoder) + weights.decoder_bias
}

/// Buffers that live for one block.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    mixed: Vec<f32>, // [ROWS, 2k]: a | c
    m: Vec<f32>,     // [ROWS, k]
}

impl Scratch {
    pub fn new(k: usize) -> Scratch {
        let mut scratch = Scratch::default();
        scratch.fit(k);
        scratch
    }

    /// Makes room for k latents.
    pub fn fit(&mut self, k: usize) {
        self.mixed.resize(ROWS * 2 * k, 0.0);
        self.m.resize(ROWS * k, 0.0);
    }
}
