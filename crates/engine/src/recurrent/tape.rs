//! Everything one unrolled sequence leaves behind for its backward pass.
//!
//! Shapes: T operations, n nodes, k latents, w the width of what attention reads, p = n rounded up
//! to whole vectors, R the rows that asked for a pointer, over all operations.

use pgn_structures::Node;

use super::{pointers::Aiming, step::Scratch};
use crate::{AttentionInput, Config, graph::Neighbours, kernels::LANES};

/// Buffers of one thread, reused from sequence to sequence.
#[derive(Debug, Default)]
pub struct Tape {
    pub n: usize,
    pub ops: usize,
    pub padded: usize,
    pub z: Vec<f32>,                 // [T, n, k]
    pub passes: Vec<Pass>,           // [processors · layers]
    pub pointers: Vec<PointerTape>,  // one of each pointer type, the learned one first
    pub neighbours: Vec<Neighbours>, // [T, channels]
    pub top: Vec<f32>,               // [T, 2k]: max z | max h
    pub top_sources: Vec<u32>,       // [T, 2k]
    pub query_logits: Vec<f32>,      // [T]
    pub d_query: Vec<f32>,           // [T]
    pub mask_logits: Vec<f32>,       // [T, p]
    pub d_mask: Vec<f32>,            // [T, p]
    // Attention.
    pub zh: Vec<f32>,              // [T, n, 2k], if that is what it reads
    pub rows: Vec<Node>,           // [R]
    pub row_starts: Vec<usize>,    // [T + 1]
    pub gathered: Vec<f32>,        // [R, w]
    pub alpha_scale: Vec<f32>,     // [T]: ∂scores = scale · (α − target)
    pub log_probability: Vec<f32>, // [T]: of sampled pointers
    pub input: Neighbours,         // the input graph's, if there is one
    // Scratch of one operation.
    pub fixed: Vec<f32>,      // [n, k]
    pub sent: Vec<f32>,       // [n, channels · k]
    pub by_all: Vec<f32>,     // [k]
    pub halves: Vec<f32>,     // [2, n, k], where messages are added up
    pub scratch: Scratch,     //
    pub aiming: Aiming,       //
    pub d_h: Vec<Vec<f32>>,   // [processors][n, k]
    pub d_between: Vec<f32>,  // [n, k]: from one layer to the one before
    pub d_x: Vec<f32>,        // [n, w]
    pub d_gathered: Vec<f32>, // [n, w]
    pub d_fixed: Vec<f32>,    // [n, k]: Σ over operations of ∂z
    // Scratch of a block of operations, `block` of them.
    pub block: usize,
    pub d_z: Vec<f32>, // [block · n, k]
}

/// What a pointer type leaves behind. The same nodes ask for all types.
#[derive(Debug, Default)]
pub struct PointerTape {
    pub read: Vec<Node>, // [T + 1, n]: the pointers that operation t finds
    pub q: Vec<f32>,     // [R, w]
    pub alpha: Vec<f32>, // [R, p]; α, then α − target
    pub d_q: Vec<f32>,   // [R, w]
}

/// One application of a processor to every operation.
#[derive(Debug, Default)]
pub struct Pass {
    pub m: Vec<f32>,       // [channels, T, n, k]
    pub sources: Vec<u32>, // [channels, T, n, k]; [channels, T, k] for the complete graph
    pub h: Vec<f32>,       // [T + 1, n, k]: what it gave; the first is h⁰ = 0
    pub d_mixed: Vec<f32>, // [block · n, width]
}

/// Rows whose weight gradients are computed in one product: enough to amortise the product's
/// start, few enough to stay in the first-level cache.
const BLOCK_ROWS: usize = 128;

impl Tape {
    /// Makes room for a sequence.
    pub fn fit(&mut self, config: &Config, mix_width: usize, n: usize, ops: usize) {
        let (k, w, channels) = (config.k, config.attention_width(), config.channels());
        let padded = n.next_multiple_of(LANES);
        (self.n, self.ops, self.padded) = (n, ops, padded);
        self.block = (BLOCK_ROWS / n).clamp(1, ops.max(1));
        let (all, rows) = (ops * n * k, self.block * n);
        self.z.resize(all, 0.0);
        let sources = ops * self.sources_each(config);
        self.passes.resize_with(config.processors() * config.layers, Pass::default);
        for pass in &mut self.passes {
            pass.m.resize(channels * all, 0.0);
            pass.h.resize(all + n * k, 0.0);
            pass.h[..n * k].fill(0.0);
            pass.sources.resize(channels * sources, 0);
            pass.d_mixed.resize(rows * mix_width, 0.0);
        }
        self.pointers.resize_with(config.types(), PointerTape::default);
        for PointerTape { read, q, alpha, .. } in &mut self.pointers {
            read.resize((ops + 1) * n, 0);
            (0..n).for_each(|i| read[i] = i as Node);
            q.clear();
            alpha.clear();
        }
        self.neighbours.resize_with(ops * channels, Neighbours::default);
        self.top.clear();
        self.top.resize(ops * 2 * k, config.readout_aggregation.nothing());
        self.top_sources.clear();
        self.top_sources.resize(ops * 2 * k, 0);
        self.query_logits.resize(ops, 0.0);
        self.d_query.resize(ops, 0.0);
        self.mask_logits.clear();
        self.mask_logits.resize(ops * padded, 0.0);
        self.d_mask.resize(ops * padded, 0.0);
        if config.has_attention() && config.attention_input == AttentionInput::Zh {
            self.zh.resize(ops * n * 2 * k, 0.0);
        }
        self.rows.clear();
        self.row_starts.clear();
        self.row_starts.push(0);
        self.gathered.clear();
        self.alpha_scale.clear();
        self.alpha_scale.resize(ops, 0.0);
        self.log_probability.clear();
        self.log_probability.resize(ops, 0.0);
        self.fixed.resize(n * k, 0.0);
        self.sent.resize(n * channels * k, 0.0);
        self.by_all.resize(k, 0.0);
        self.scratch.fit(config);
        self.d_h.resize_with(config.processors(), Vec::new);
        self.d_h.iter_mut().for_each(|d_h| d_h.resize(n * k, 0.0));
        self.d_between.resize(n * k, 0.0);
        self.d_x.resize(n * w, 0.0);
        self.d_gathered.resize(n * w, 0.0);
        self.d_fixed.resize(n * k, 0.0);
        self.d_z.resize(rows * k, 0.0);
    }

    /// How many sources of messages an operation has.
    pub fn sources_each(&self, config: &Config) -> usize {
        config.message_aggregation.source_count(config.graph, self.n, config.k)
    }
}
