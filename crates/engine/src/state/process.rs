//! The paper's processor over all nodes: encoder, messages, update, masks and readout.
//!
//! Two phases, each of which treats a block of rows without looking at other blocks: first every
//! node's z and what it would send, then every node's messages and h. Small structures are one
//! block; large ones are spread over threads. Either way each row is computed by the same
//! instructions, so the bits are the same.

use fearless_simd::{f32x8, prelude::*};
use pgn_structures::{Node, Operation};
use rayon::prelude::*;

use super::{ALONE, State, Top, block};
use crate::{
    Config, Graph,
    features::for_each_flag,
    graph::Neighbours,
    kernels::{
        matmul::{Start, Then, mat, matmul},
        rows::{add, chunks, load, raise_by_rows, store},
    },
    message::alone_forward,
    readout::mask_forward,
    weights::Weights,
};

/// Rows that pass through the processor together, so that what lies between z and h stays in
/// the first-level cache.
const ROWS: usize = 48;

/// Buffers that live for one block.
#[derive(Clone, Debug)]
pub struct Scratch {
    mixed: Vec<f32>, // [ROWS, 2k]: a | c
    m: Vec<f32>,     // [ROWS, k]
}

impl Scratch {
    pub fn new(k: usize) -> Scratch {
        Scratch { mixed: vec![0.0; ROWS * 2 * k], m: vec![0.0; ROWS * k] }
    }
}

impl State {
    /// First phase (equation 1): z, and b, each node's half of the messages it sends.
    #[inline(always)]
    pub(super) fn encode<S: Simd>(&mut self, simd: S, operation: Operation) {
        let (config, weights) = (self.model.config(), self.model.weights());
        let k = config.k;
        let pointers = &self.pointers;
        if self.n <= ALONE {
            let rows = Encoded {
                first: 0,
                h: &self.h,
                fixed: &self.fixed,
                z: &mut self.z,
                sent: &mut self.sent,
            };
            encode_block(simd, config, weights, operation, pointers, rows);
        } else {
            // Deep Sets send nothing; give their blocks empty slices.
            let nodes = block(self.n);
            let size = nodes * k;
            let sent: Vec<&mut [f32]> = match self.sent.is_empty() {
                true => (0..self.n.div_ceil(nodes)).map(|_| [].as_mut_slice()).collect(),
                false => self.sent.chunks_mut(size).collect(),
            };
            let read = self.h.par_chunks(size).zip(self.fixed.par_chunks(size));
            let blocks = read.zip(self.z.par_chunks_mut(size).zip(sent)).with_max_len(1);
            blocks.enumerate().for_each(|(i, ((h, fixed), (z, sent)))| {
                let rows = Encoded { first: i * nodes, h, fixed, z, sent };
                simd.vectorize(
                    #[inline(always)]
                    || encode_block(simd, config, weights, operation, pointers, rows),
                );
            });
        }
        match config.graph {
            Graph::Complete => {
                self.sent_top.fill(f32::NEG_INFINITY);
                raise_by_rows(simd, &self.sent, &mut self.sent_top);
            }
            graph if self.moved => {
                self.neighbours.rebuild(graph, &self.pointers);
                self.moved = false;
            }
            _ => {}
        }
    }

    /// Second phase (equations 8, 3 and 4): messages, h, mask logits and the readout.
    #[inline(always)]
    pub(super) fn process<S: Simd>(&mut self, simd: S) {
        let (config, weights) = (self.model.config(), self.model.weights());
        let k = config.k;
        let senders =
            Senders { neighbours: &self.neighbours, sent: &self.sent, top: &self.sent_top };
        if self.n <= ALONE {
            self.top.clear();
            let block =
                Block { first: 0, z: &self.z, h: &mut self.h, masks: &mut self.mask_logits };
            process_block(simd, config, weights, senders, block, &mut self.top, &mut self.scratch);
            return;
        }
        let nodes = block(self.n);
        let blocks = self.z.par_chunks(nodes * k).zip(self.h.par_chunks_mut(nodes * k));
        let tops: Vec<Top> = blocks
            .zip(self.mask_logits.par_chunks_mut(nodes))
            .with_max_len(1)
            .enumerate()
            .map(|(i, ((z, h), masks))| {
                let block = Block { first: i * nodes, z, h, masks };
                let (mut top, mut scratch) = (Top::new(k), Scratch::new(k));
                simd.vectorize(
                    #[inline(always)]
                    || process_block(simd, config, weights, senders, block, &mut top, &mut scratch),
                );
                top
            })
            .collect();
        self.top.clear();
        tops.iter().for_each(|top| self.top.join(top));
    }
}

/// Rows of one block, as the first phase sees them.
struct Encoded<'a> {
    first: usize,
    h: &'a [f32],
    fixed: &'a [f32],
    z: &'a mut [f32],
    sent: &'a mut [f32],
}

#[inline(always)]
fn encode_block<S: Simd>(
    simd: S,
    config: &Config,
    weights: &Weights,
    operation: Operation,
    pointers: &[Node],
    Encoded { first, h, fixed, z, sent }: Encoded,
) {
    let k = config.k;
    let count = z.len() / k;
    if config.carried() == 0 {
        z.copy_from_slice(fixed);
    } else {
        let (b, start) = (mat(&weights.encoder_h, k), Start::Mat(mat(fixed, k)));
        matmul(simd, (count, k, k), mat(h, k), b, start, Then::Store, z, k);
    }
    for_each_flag(
        &config.inputs,
        operation,
        pointers,
        first,
        count,
        #[inline(always)]
        |input, node| {
            let row = &mut z[(node - first) * k..][..k];
            add(simd, &weights.encoder_e[input * k..][..k], row);
        },
    );
    if config.graph != Graph::SelfOnly {
        let b = mat(&weights.mix[2 * k..], weights.mix_width);
        matmul(simd, (count, k, k), mat(z, k), b, Start::Zero, Then::Store, sent, k);
    }
}

/// Rows of one block, as the second phase sees them.
struct Block<'a> {
    first: usize,
    z: &'a [f32],
    h: &'a mut [f32],
    masks: &'a mut [f32],
}

/// Everything a node may hear.
#[derive(Clone, Copy)]
struct Senders<'a> {
    neighbours: &'a Neighbours,
    sent: &'a [f32],
    top: &'a [f32],
}

#[inline(always)]
fn process_block<S: Simd>(
    simd: S,
    config: &Config,
    weights: &Weights,
    senders: Senders,
    block: Block,
    top: &mut Top,
    scratch: &mut Scratch,
) {
    let (k, width) = (config.k, weights.mix_width);
    let rows = block.z.chunks(ROWS * k).zip(block.h.chunks_mut(ROWS * k));
    for (part, ((z, h), masks)) in rows.zip(block.masks.chunks_mut(ROWS)).enumerate() {
        let (first, count) = (block.first + part * ROWS, z.len() / k);
        let mixed = &mut scratch.mixed[..count * 2 * k];
        let m = &mut scratch.m[..count * k];
        let start = Start::Row(&weights.mix_bias);
        let b = mat(&weights.mix, width);
        matmul(simd, (count, k, 2 * k), mat(z, k), b, start, Then::Store, mixed, 2 * k);
        hear(simd, config.graph, senders, first, mixed, m);
        let start = Start::Mat(mat(&mixed[k..], 2 * k));
        let b = mat(&weights.update_m, k);
        matmul(simd, (count, k, k), mat(m, k), b, start, Then::Relu, h, k);
        if config.has_masks() {
            mask_forward(simd, k, z, h, &weights.mask, weights.mask_bias, masks);
        }
        top.see(simd, z, h);
    }
}

/// m = ReLU(a + max b) of the nodes from `first` on (equation 8).
#[inline(always)]
fn hear<S: Simd>(
    simd: S,
    graph: Graph,
    senders: Senders,
    first: usize,
    mixed: &[f32],
    m: &mut [f32],
) {
    let k = senders.top.len();
    if graph == Graph::SelfOnly {
        return alone_forward(simd, k, mixed, m);
    }
    let zero = f32x8::splat(simd, 0.0);
    for (i, (m, mixed)) in m.chunks_exact_mut(k).zip(mixed.chunks_exact(2 * k)).enumerate() {
        // Everybody hears the same in the complete graph.
        let (nearest, others): (&[f32], &[Node]) = match graph {
            Graph::Complete => (senders.top, &[]),
            _ => {
                let list = senders.neighbours.of(first + i);
                let (nearest, others) = (list[0], &list[1..]);
                (&senders.sent[nearest as usize * k..][..k], others)
            }
        };
        for at in chunks(k) {
            let mut top = load(simd, nearest, at);
            for &j in others {
                top = top.max(load(simd, senders.sent, j as usize * k + at));
            }
            store((load(simd, mixed, at) + top).max(zero), m, at);
        }
    }
}
