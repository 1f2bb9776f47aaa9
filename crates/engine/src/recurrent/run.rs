//! A structure in use: the buffers of a rollout, one set for all operations.

use std::sync::Arc;

use fearless_simd::prelude::*;
use pgn_structures::{Node, Operation};
use rayon::prelude::*;

use super::{
    Network,
    cost::rollout_flop,
    pointers::{aim, ask, attention_input, list_asking},
    step::{Encoding, Processing, Scratch, StepContext, answer, encode, process},
};
use crate::{
    AttentionInput, Candidates, Config, Graph,
    aggregation::Senders,
    attention::{keep_visited, queries, scores},
    awake::awake,
    features::fixed_part,
    graph::Neighbours,
    kernels::{LANES, math::softmax},
    readout::left_alone,
    simd::with_simd,
    state::Board,
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
pub struct Run {
    network: Arc<Network>,
    fixed: Vec<f32>,  // [n, k]: the encoder's bias and priorities
    h: Vec<f32>,      // [n, k]
    z: Vec<f32>,      // [n, k]
    sent: Vec<f32>,   // [n, k]: bⱼ
    by_all: Vec<f32>, // [k]: what all hear in the complete graph
    top: Vec<f32>,    // [2k]: max z | max h
    zh: Vec<f32>,     // [n, 2k], if attention reads it
    neighbours: Neighbours,
    /// Whether no operation has been applied: h is 0.
    fresh: bool,
    scratch: Scratch,
    // Nodes that ask where to point.
    rows: Vec<Node>,        // [R]
    gathered: Vec<f32>,     // [R, w]
    q: Vec<f32>,            // [R, w]
    best: Vec<(f32, Node)>, // [R]
}

impl Run {
    /// A fresh structure, one node per priority.
    pub fn new(network: Arc<Network>, priorities: &[f32]) -> Run {
        let (config, weights) = (&network.config, &network.weights);
        let (n, k) = (priorities.len(), config.k);
        let zeros = |wanted: bool, size: usize| vec![0.0; if wanted { size } else { 0 }];
        let mut fixed = vec![0.0; n * k];
        with_simd!(network.level, simd => fixed_part(
            simd, &config.features, &weights.encoder_e, &weights.encoder_bias, priorities, &mut fixed,
        ));
        let reads_zh = config.has_attention() && config.attention_input == AttentionInput::Zh;
        Run {
            fixed,
            h: zeros(true, n * k),
            z: zeros(true, n * k),
            sent: zeros(config.graph != Graph::SelfOnly, n * k),
            by_all: zeros(true, k),
            top: zeros(true, 2 * k),
            zh: zeros(reads_zh, 2 * n * k),
            neighbours: Neighbours::default(),
            fresh: true,
            scratch: Scratch::new(k),
            rows: Vec::new(),
            gathered: Vec::new(),
            q: Vec::new(),
            best: Vec::new(),
            network,
        }
    }

    /// Applies one operation: the answer's logit; masks and pointers are on the board.
    pub fn apply(&mut self, operation: Operation, board: &mut Board) -> f32 {
        let n = board.pointers.len();
        if n <= ALONE {
            self.compute(operation, board)
        } else {
            awake(n.div_ceil(ALONE), || self.compute(operation, board))
        }
    }

    fn compute(&mut self, operation: Operation, board: &mut Board) -> f32 {
        let network = Arc::clone(&self.network);
        let logit = with_simd!(network.level, simd => {
            self.compute_latents(simd, operation, board);
            answer(simd, &network.weights, &self.top)
        });
        if network.config.owns_pointers() {
            with_simd!(network.level, simd => self.aim(simd, board));
        }
        logit
    }

    /// Equations 1, 2, 8, 3 and 4.
    #[inline(always)]
    fn compute_latents<S: Simd>(&mut self, simd: S, operation: Operation, board: &mut Board) {
        let network = &*self.network;
        let (config, weights, fresh) = (&network.config, &network.weights, self.fresh);
        let context = StepContext { config, weights, operation, pointers: &board.pointers, fresh };
        self.fresh = false;
        encode_all(
            simd,
            &context,
            Encoding {
                first: 0,
                fixed: &self.fixed,
                h: &self.h,
                z: &mut self.z,
                sent: &mut self.sent,
            },
        );
        if config.graph == Graph::Complete {
            let messages = config.message_aggregation();
            messages.send_to_all(simd, &self.sent, &mut self.by_all, ());
        }
        if std::mem::take(&mut board.moved) {
            self.neighbours.rebuild(config.graph, context.pointers);
        }
        let senders = Senders {
            graph: config.graph,
            neighbours: &self.neighbours,
            sent: &self.sent,
            by_all: &self.by_all,
        };
        self.top.fill(config.readout_aggregation().nothing());
        let all = Processing {
            first: 0,
            z: &self.z,
            h: &mut self.h,
            mask_logits: &mut board.mask_logits,
            top: &mut self.top,
        };
        process_all(simd, &context, senders, all, &mut self.scratch);
    }

    /// Equations 5 to 7, by the model's own masks.
    #[inline(always)]
    fn aim<S: Simd>(&mut self, simd: S, board: &mut Board) {
        let (config, weights) = (&self.network.config, &self.network.weights);
        let masks = &board.mask_logits;
        self.rows.clear();
        list_asking(config, masks.len(), |i| left_alone(masks[i]), &mut self.rows);
        let size = self.rows.len() * weights.attention_width;
        self.gathered.resize(size, 0.0);
        self.q.resize(size, 0.0);
        let keys = attention_input(config, &self.z, &self.h, &mut self.zh);
        let asking = ask(simd, weights, &self.rows, keys, &mut self.gathered, &mut self.q);
        let mut pointers = std::mem::take(&mut board.pointers);
        let moved = |node, from| board.note(node, from);
        aim(simd, config, asking, &mut pointers, &mut self.best, moved);
        board.pointers = pointers;
    }

    pub fn config(&self) -> &Config {
        &self.network.config
    }

    /// Floating-point operations that the last operation needed.
    pub fn flop(&self, board: &Board) -> u64 {
        rollout_flop(&self.network.config, board.pointers.len(), 1, self.rows.len())
    }

    /// h after the last operation, \[n, k\].
    pub fn latents(&self) -> &[f32] {
        &self.h
    }

    /// z of the last operation, \[n, k\].
    pub fn encoded(&self) -> &[f32] {
        &self.z
    }

    /// The node each dimension of the readout came from: for max z, then for max h.
    pub fn readout_sources(&self) -> (Vec<Node>, Vec<Node>) {
        let (k, readout) = (self.network.config.k, self.network.config.readout_aggregation());
        let sources = |rows: &[f32]| {
            let (mut top, mut sources) = (vec![readout.nothing(); k], vec![0; k]);
            with_simd!(self.network.level, simd => {
                readout.see(simd, rows, 0, &mut top, &mut sources[..])
            });
            sources
        };
        (sources(&self.z), sources(&self.h))
    }

    /// α of one node after the last operation (equation 6).
    pub fn attention(&self, node: Node, board: &Board) -> Vec<f32> {
        let (config, weights) = (&self.network.config, &self.network.weights);
        let (n, w) = (board.pointers.len(), weights.attention_width);
        let mut zh = vec![0.0; self.zh.len()];
        let keys = attention_input(config, &self.z, &self.h, &mut zh);
        let mut alpha = vec![0.0; n.next_multiple_of(LANES)];
        with_simd!(self.network.level, simd => {
            let mut q = vec![0.0; w];
            queries(simd, w, &weights.fold, &keys[node as usize * w..][..w], &mut q);
            scores(simd, &q, keys, &mut alpha);
            if config.candidates == Candidates::Visited {
                let visited = |j: usize| !left_alone(board.mask_logits[j]);
                keep_visited(&mut alpha[..n], node, visited);
            }
            softmax(simd, &mut alpha);
        });
        alpha.truncate(n);
        alpha
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
    // Deep Sets send nothing; give their blocks empty slices.
    let sent: Vec<&mut [f32]> = match all.sent.is_empty() {
        true => (0..n.div_ceil(nodes)).map(|_| [].as_mut_slice()).collect(),
        false => all.sent.chunks_mut(size).collect(),
    };
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

/// The second phase over all nodes, likewise.
#[inline(always)]
fn process_all<S: Simd>(
    simd: S,
    context: &StepContext,
    senders: Senders,
    all: Processing,
    scratch: &mut Scratch,
) {
    let (k, readout) = (context.config.k, context.config.readout_aggregation());
    let n = all.z.len() / k;
    if n <= ALONE {
        return process(simd, context, senders, all, &mut (), scratch);
    }
    let nodes = block(n);
    let blocks = all.z.par_chunks(nodes * k).zip(all.h.par_chunks_mut(nodes * k));
    let tops: Vec<Vec<f32>> = blocks
        .zip(all.mask_logits.par_chunks_mut(nodes))
        .with_max_len(1)
        .enumerate()
        .map(|(i, ((z, h), mask_logits))| {
            let (mut top, mut scratch) = (vec![readout.nothing(); 2 * k], Scratch::new(k));
            let block = Processing { first: i * nodes, z, h, mask_logits, top: &mut top };
            simd.vectorize(
                #[inline(always)]
                || process(simd, context, senders, block, &mut (), &mut scratch),
            );
            top
        })
        .collect();
    tops.iter().for_each(|top| readout.join(all.top, top));
}
