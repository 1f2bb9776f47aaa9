//! A structure in use: the buffers of a rollout, one set for all operations.

use std::sync::Arc;

use fearless_simd::prelude::*;
use pgn_structures::{Edge, Node, Operation};
use rayon::prelude::*;

use super::{
    Network,
    cost::rollout_flop,
    layer::Layer,
    pointers::{Aiming, attention_input},
    step::{AllSenders, Encoding, Processing, Scratch, StepContext, connect, encode, process},
};
use crate::{
    Aggregation, AttentionInput, Candidates, Config, Graph,
    attention::{keep_visited, scores},
    config::is_default,
    graph::Neighbours,
    kernels::{LANES, math::softmax},
    masks::left_alone,
    processor::ProcessorState,
    simd::with_simd,
    spin_pool::keep_awake,
    state::VisibleState,
};

/// Structures of up to this many nodes run on one thread.
pub const ALONE: usize = 384;

/// Nodes a thread takes at a time in a larger structure of `n`: few enough that the threads finish
/// together, many enough that a block is worth handing out. Results do not depend on it.
pub fn block(n: usize) -> usize {
    n.div_ceil(4 * rayon::current_num_threads()).clamp(96, 512)
}

/// Everything that a structure carries from one operation to the next beside pointers, and what is
/// used again.
#[derive(Clone, Debug)]
pub(super) struct RecurrentState {
    network: Arc<Network>,
    fixed: Vec<f32>,             // [n, k]: the encoder's bias and priorities
    h: Vec<Vec<f32>>,            // [processors][n, k]: the first one's is carried
    between: Vec<f32>,           // [n, k]: from one layer to the next, if there are several
    z: Vec<f32>,                 // [n, k]
    sent: Vec<f32>,              // [n, channels · k]: bⱼ
    by_all: Vec<f32>,            // [k]: what all nodes receive in the complete graph
    top: Vec<f32>,               // [2k]: max z | max h
    zh: Vec<f32>,                // [n, 2k], if attention reads it
    neighbours: Vec<Neighbours>, // one of each channel
    /// The input graph's lists, if it is read.
    input: Neighbours,
    /// Pointers of extra types, and whether they have moved since lists were made of them.
    extra: Vec<Vec<Node>>, // [types − 1][n]
    extra_moved: bool,
    /// How often the processor was applied to the last operation.
    layers: usize,
    /// Whether no operation has been applied: h is 0.
    fresh: bool,
    scratch: Scratch,
    aiming: Aiming,
}

impl RecurrentState {
    /// A fresh structure, one node per priority.
    pub fn new(network: Arc<Network>, priorities: &[f32]) -> RecurrentState {
        let (config, weights) = (&network.config, &network.weights);
        let (n, k) = (priorities.len(), config.k);
        let zeros = |wanted: bool, size: usize| vec![0.0; if wanted { size } else { 0 }];
        let mut fixed = vec![0.0; n * k];
        with_simd!(network.level, simd => {
            weights.encoder.fixed(simd, &config.features, priorities, &mut fixed)
        });
        let reads_zh = config.has_attention() && config.attention_input == AttentionInput::Zh;
        RecurrentState {
            fixed,
            h: (0..config.processors()).map(|_| zeros(true, n * k)).collect(),
            between: zeros(config.layers > 1 || !is_default(&config.test_layers), n * k),
            z: zeros(true, n * k),
            sent: zeros(config.graph != Graph::SelfOnly, n * config.channels() * k),
            by_all: zeros(true, k),
            top: zeros(true, 2 * k),
            zh: zeros(reads_zh, 2 * n * k),
            neighbours: vec![Neighbours::default(); config.channels()],
            input: Neighbours::of_edges(if is_default(&config.input_graph) { 0 } else { n }, &[]),
            extra: vec![(0..n as Node).collect(); config.pointer_types.len()],
            extra_moved: false,
            layers: config.layers,
            fresh: true,
            scratch: Scratch::new(config),
            aiming: Aiming::default(),
            network,
        }
    }

    fn compute(&mut self, operation: Operation, visible: &mut VisibleState) -> f32 {
        let network = Arc::clone(&self.network);
        let logit = with_simd!(network.level, simd => {
            self.compute_latents(simd, operation, visible);
            network.weights.decoder.forward(simd, &self.top)
        });
        if network.config.owns_pointers() {
            with_simd!(network.level, simd => self.aim(simd, visible));
        }
        logit
    }

    /// Equations 1, 2, 8, 3 and 4.
    #[inline(always)]
    fn compute_latents<S: Simd>(
        &mut self,
        simd: S,
        operation: Operation,
        visible: &mut VisibleState,
    ) {
        let network = &*self.network;
        let (config, weights, fresh) = (&network.config, &network.weights, self.fresh);
        let context =
            StepContext { config, weights, operation, pointers: &visible.pointers, fresh };
        self.fresh = false;
        encode_all(
            simd,
            &context,
            Encoding {
                first: 0,
                fixed: &self.fixed,
                h: &self.h[0],
                z: &mut self.z,
                sent: &mut self.sent,
            },
        );
        if std::mem::take(&mut visible.moved) | std::mem::take(&mut self.extra_moved) {
            let extra = self.extra.iter().map(Vec::as_slice);
            let all = std::iter::once(context.pointers).chain(extra);
            connect(config, all, &self.input, &mut self.neighbours);
        }
        self.top.fill(config.readout_aggregation.nothing());
        let n = visible.pointers.len();
        self.layers = config.layers_in_rollouts(n, || depth(&visible.pointers, operation));
        for (processor, h) in self.h.iter_mut().enumerate() {
            let layer = &weights.layers[processor];
            for number in 0..self.layers {
                // What a layer gives goes back and forth between two buffers, and ends in h.
                let is_last = number + 1 == self.layers;
                let (from, to) = match (self.layers - number) % 2 {
                    1 => (&self.between, &mut *h),
                    _ => (&*h, &mut self.between),
                };
                let x = if number == 0 { &self.z } else { from };
                if processor + number > 0 {
                    send_all(simd, config, layer, x, &mut self.sent);
                }
                if config.graph == Graph::Complete {
                    let messages = config.message_aggregation;
                    messages.send_to_all(simd, &self.sent, &mut self.by_all, ());
                }
                let senders = AllSenders {
                    neighbours: &self.neighbours,
                    sent: &self.sent,
                    by_all: &self.by_all,
                };
                let reads_answer = is_last && processor == 0;
                let reads_masks = is_last && processor + 1 == config.processors();
                let all = Processing {
                    first: 0,
                    x,
                    h: to,
                    z: &self.z,
                    mask_logits: if reads_masks { &mut visible.mask_logits } else { &mut [] },
                    top: if reads_answer { &mut self.top } else { &mut [] },
                };
                process_all(simd, &context, layer, senders, all, &mut self.scratch);
            }
        }
        config.readout_aggregation.finish(n, &mut self.top);
    }

    /// Equations 5 to 7, by the model's own masks.
    #[inline(always)]
    fn aim<S: Simd>(&mut self, simd: S, visible: &mut VisibleState) {
        let (config, weights) = (&self.network.config, &self.network.weights);
        let h = &self.h[self.h.len() - 1];
        let keys = attention_input(config, &self.z, h, &mut self.zh);
        self.aiming.ask(config, &visible.mask_logits, keys);
        let mut pointers = std::mem::take(&mut visible.pointers);
        let moved = |node, from| visible.note(node, from);
        self.aiming.aim(simd, config, &weights.query_keys[0], keys, &mut pointers, moved);
        visible.pointers = pointers;
        for (extra, query_key) in self.extra.iter_mut().zip(&weights.query_keys[1..]) {
            let moved = |_, _| self.extra_moved = true;
            self.aiming.aim(simd, config, query_key, keys, extra, moved);
        }
    }
}

impl ProcessorState for RecurrentState {
    fn copy(&self) -> Box<dyn ProcessorState> {
        Box::new(self.clone())
    }

    fn apply(&mut self, operation: Operation, visible: &mut VisibleState) -> f32 {
        let n = visible.pointers.len();
        if n <= ALONE {
            self.compute(operation, visible)
        } else {
            keep_awake(n.div_ceil(ALONE), || self.compute(operation, visible))
        }
    }

    fn config(&self) -> &Config {
        &self.network.config
    }

    fn set_input_graph(&mut self, nodes: usize, edges: &[Edge]) {
        self.input = Neighbours::of_edges(nodes, edges);
        self.extra_moved = true;
    }

    fn set_extra_pointers(&mut self, number: usize, pointers: &[Node]) {
        if let Some(extra) = self.extra.get_mut(number) {
            extra.copy_from_slice(pointers);
            self.extra_moved = true;
        }
    }

    fn extra_pointers(&self, number: usize) -> Option<&[Node]> {
        self.extra.get(number).map(Vec::as_slice)
    }

    fn latents(&self) -> &[f32] {
        &self.h[0]
    }

    fn encoded(&self) -> &[f32] {
        &self.z
    }

    /// Of a sum, the node with the largest share.
    fn readout_sources(&self) -> (Vec<Node>, Vec<Node>) {
        let (k, readout) = (self.network.config.k, Aggregation::Max);
        let sources = |rows: &[f32]| {
            let (mut top, mut sources) = (vec![readout.nothing(); k], vec![0; k]);
            with_simd!(self.network.level, simd => {
                readout.accumulate(simd, rows, 0, &mut top, &mut sources[..])
            });
            sources
        };
        (sources(&self.z), sources(&self.h[0]))
    }

    fn attention(&self, node: Node, visible: &VisibleState) -> Vec<f32> {
        let (config, weights) = (&self.network.config, &self.network.weights);
        let (n, w) = (visible.pointers.len(), config.attention_width());
        let mut zh = vec![0.0; self.zh.len()];
        let keys = attention_input(config, &self.z, &self.h[self.h.len() - 1], &mut zh);
        let mut alpha = vec![0.0; n.next_multiple_of(LANES)];
        with_simd!(self.network.level, simd => {
            let mut q = vec![0.0; w];
            weights.query_keys[0].forward(simd, &keys[node as usize * w..][..w], &mut q);
            scores(simd, &q, keys, &mut alpha);
            if config.candidates == Candidates::Visited {
                let visited = |j: usize| !left_alone(visible.mask_logits[j]);
                keep_visited(&mut alpha[..n], node, visited);
            }
            softmax(simd, &mut alpha);
        });
        alpha.truncate(n);
        alpha
    }

    fn steps(&self) -> usize {
        self.layers
    }

    fn flop(&self, visible: &VisibleState) -> u64 {
        let rows = self.aiming.rows.len();
        rollout_flop(&self.network.config, visible.pointers.len(), self.layers, rows)
    }
}

/// The first phase over all nodes, in blocks on several threads where there are many.
#[inline(always)]
fn encode_all<S: Simd>(simd: S, context: &StepContext, all: Encoding) {
    let k = context.config.k;
    let n = all.z.len() / k;
    if n <= ALONE {
        return encode(simd, context, all);
    }
    let nodes = block(n);
    let size = nodes * k;
    // Deep Sets send nothing; their blocks get empty slices.
    let sent = in_blocks(all.sent, size * context.config.channels(), n.div_ceil(nodes));
    let read = all.h.par_chunks(size).zip(all.fixed.par_chunks(size));
    let blocks = read.zip(all.z.par_chunks_mut(size).zip(sent)).with_max_len(1);
    blocks.enumerate().for_each(|(i, ((h, fixed), (z, sent)))| {
        let rows = Encoding { first: i * nodes, fixed, h, z, sent };
        simd.vectorize(
            #[inline(always)]
            || encode(simd, context, rows),
        );
    });
}

/// How many pointers u or v is away from a root, whichever is more; a cycle ends after all nodes.
fn depth(pointers: &[Node], Operation { u, v, .. }: Operation) -> usize {
    let above = |node: Node| {
        let next = |&node: &Node| {
            let above = pointers[node as usize];
            (above != node).then_some(above)
        };
        std::iter::successors(Some(node), next).take(pointers.len()).count() - 1
    };
    above(u).max(above(v))
}

/// What every node sends of x, in blocks likewise.
#[inline(always)]
fn send_all<S: Simd>(simd: S, config: &Config, layer: &Layer, x: &[f32], sent: &mut [f32]) {
    let n = x.len() / config.k;
    if n <= ALONE || sent.is_empty() {
        return layer.send(simd, config, x, sent);
    }
    let nodes = block(n);
    let blocks = x.par_chunks(nodes * config.k);
    let blocks =
        blocks.zip(sent.par_chunks_mut(nodes * config.channels() * config.k)).with_max_len(1);
    blocks.for_each(|(x, sent)| {
        simd.vectorize(
            #[inline(always)]
            || layer.send(simd, config, x, sent),
        );
    });
}

/// The second phase over all nodes, likewise.
#[inline(always)]
fn process_all<S: Simd>(
    simd: S,
    context: &StepContext,
    layer: &Layer,
    senders: AllSenders,
    all: Processing,
    scratch: &mut Scratch,
) {
    let (k, readout) = (context.config.k, context.config.readout_aggregation);
    let n = all.z.len() / k;
    if n <= ALONE {
        return process(simd, context, layer, senders, all, &mut (), scratch);
    }
    let nodes = block(n);
    let Processing { x, h, z, mask_logits, top, .. } = all;
    let count = n.div_ceil(nodes);
    let masks = in_blocks(mask_logits, nodes, count);
    let blocks = x.par_chunks(nodes * k).zip(h.par_chunks_mut(nodes * k));
    let tops: Vec<Vec<f32>> = blocks
        .zip(z.par_chunks(nodes * k).zip(masks))
        .with_max_len(1)
        .enumerate()
        .map(|(i, ((x, h), (z, mask_logits)))| {
            let mut own_top = vec![readout.nothing(); top.len()];
            let mut scratch = Scratch::new(context.config);
            let top = &mut own_top;
            let block = Processing { first: i * nodes, x, h, z, mask_logits, top };
            simd.vectorize(
                #[inline(always)]
                || process(simd, context, layer, senders, block, &mut (), &mut scratch),
            );
            own_top
        })
        .collect();
    if !top.is_empty() {
        readout.join(simd, &tops, [z, h], top);
    }
}

/// A slice in `count` blocks of up to `size`, all empty if it is.
fn in_blocks(slice: &mut [f32], size: usize, count: usize) -> Vec<&mut [f32]> {
    match slice.is_empty() {
        true => (0..count).map(|_| [].as_mut_slice()).collect(),
        false => slice.chunks_mut(size).collect(),
    }
}
