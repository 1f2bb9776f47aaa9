//! A model at work: a data structure that answers one operation at a time.
//!
//! A step has two phases over the nodes, each of which treats a block of rows without looking at
//! other blocks: first every node's z and what it would send, then every node's messages and h. Small
//! structures are one block; large ones are spread over threads. Either way each row is computed by
//! the same instructions, so the bits are the same. Memory is O(n·k).

use fearless_simd::prelude::*;
use pgn_structures::{Node, Operation};
use rayon::prelude::*;

use crate::{
    AttentionInput, Candidates, Config, Error, Graph, Model, Pointers,
    attention::{gather, keep_visited, queries, scores},
    features::{fixed_part, for_each_flag},
    graph::Neighbours,
    iterated::{LEFT_ALONE, Runner},
    kernels::{
        LANES,
        math::{sigmoid, softmax},
        matmul::{Start, Then, mat, matmul},
        rows::{add, chunks, dot, load, max_over_rows, store},
    },
    readout::mask_forward,
    simd::on_path,
    weights::Weights,
};

/// Nodes one thread takes at a time; structures of up to this many nodes run on one thread.
const BLOCK: usize = 512;
/// Rows that pass through the processor together, so that what lies between z and h stays in
/// the first-level cache.
const ROWS: usize = 48;

/// What the model answers to one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer<'s> {
    /// The decoder's output; above 0 means yes (1).
    pub logit: f32,
    /// P(answer = 1).
    pub probability: f32,
    /// The nodes whose pointer moved, in ascending order.
    pub changed: &'s [Node],
    /// Where every node points now. Every node points to itself in models without pointers.
    pub pointers: &'s [Node],
}

impl Answer<'_> {
    /// The answer itself: whether it is more likely 1 than 0.
    pub fn value(&self) -> bool {
        self.logit > 0.0
    }
}

/// A learned data structure in use.
///
/// ```
/// use pgn_engine::{Config, Model};
/// use pgn_structures::Operation;
///
/// let model = Model::new(Config::preset("pgn")?, 1)?;
/// let mut state = model.start(8)?;
/// let before = state.clone(); // for undo
/// state.apply(Operation { u: 0, v: 5 })?;
/// let alpha = state.attention(0).unwrap();
/// assert!((alpha.iter().sum::<f32>() - 1.0).abs() < 1e-5);
/// state = before;
/// assert_eq!(state.pointers(), [0, 1, 2, 3, 4, 5, 6, 7]);
/// # Ok::<(), pgn_engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct State<'m> {
    model: &'m Model,
    n: usize,
    fixed: Vec<f32>,       // [n, k]: the encoder's bias and priorities
    h: Vec<f32>,           // [n, k]
    z: Vec<f32>,           // [n, k]
    sent: Vec<f32>,        // [n, k]: bⱼ
    sent_top: Vec<f32>,    // [k]: max bⱼ, for the complete graph
    mask_logits: Vec<f32>, // [n]
    pointers: Vec<Node>,   // [n]
    neighbours: Neighbours,
    top: Top,
    changed: Vec<Node>,
    scratch: Scratch,
    /// Takes the place of the above, pointers and mask logits excepted, in models with an iterated
    /// processor.
    runner: Option<Box<Runner>>,
}

/// An iterated processor's x and z are spread out over all nodes, for whoever looks at them, in
/// structures of up to this many.
const SPREAD: usize = 4096;

/// The readout: max z | max h, and where each element came from.
#[derive(Clone, Debug)]
struct Top {
    values: Vec<f32>,  // [2k]
    sources: Vec<u32>, // [2k]
}

impl Top {
    fn new(k: usize) -> Top {
        Top { values: vec![f32::NEG_INFINITY; 2 * k], sources: vec![0; 2 * k] }
    }

    fn clear(&mut self) {
        self.values.fill(f32::NEG_INFINITY);
        self.sources.fill(0);
    }

    /// Joins a later block's maximum; the earlier node wins a tie.
    fn join(&mut self, later: &Top) {
        let mine = self.values.iter_mut().zip(&mut self.sources);
        for ((value, source), (&other, &from)) in mine.zip(later.values.iter().zip(&later.sources))
        {
            if other > *value {
                (*value, *source) = (other, from);
            }
        }
    }
}

/// Buffers that live for one block.
#[derive(Clone, Debug)]
struct Scratch {
    mixed: Vec<f32>, // [ROWS, 2k]: a | c
    m: Vec<f32>,     // [ROWS, k]
}

impl Scratch {
    fn new(k: usize) -> Scratch {
        Scratch { mixed: vec![0.0; ROWS * 2 * k], m: vec![0.0; ROWS * k] }
    }
}

impl<'m> State<'m> {
    pub(crate) fn new(model: &'m Model, priorities: &[f32]) -> Result<State<'m>, Error> {
        let (n, k) = (priorities.len(), model.config().k);
        if n == 0 || n > u32::MAX as usize {
            return Err(Error::Input(format!(
                "a structure of {n} nodes was asked for; expected 1 to 4294967295"
            )));
        }
        if let Some(priority) = priorities.iter().find(|priority| !priority.is_finite()) {
            return Err(Error::Input(format!(
                "a priority is {priority}; expected a finite number"
            )));
        }
        if model.iterated().is_some() {
            return Ok(State::iterated(model, priorities));
        }
        let mut fixed = vec![0.0; n * k];
        let (inputs, weights) = (&model.config().inputs, model.weights());
        let bias = &weights.encoder_bias;
        on_path!(model.path(), simd => {
            fixed_part(simd, inputs, &weights.encoder_e, bias, priorities, &mut fixed)
        });
        let sends = model.config().graph != Graph::SelfOnly;
        Ok(State {
            model,
            n,
            fixed,
            h: vec![0.0; n * k],
            z: vec![0.0; n * k],
            sent: vec![0.0; if sends { n * k } else { 0 }],
            sent_top: vec![f32::NEG_INFINITY; k],
            mask_logits: vec![0.0; n],
            pointers: (0..n as Node).collect(),
            neighbours: Neighbours::default(),
            top: Top::new(k),
            changed: Vec::new(),
            scratch: Scratch::new(k),
            runner: None,
        })
    }

    /// A fresh structure of a model with an iterated processor: O(n) memory for pointers and
    /// masks, nothing per node and latent.
    fn iterated(model: &'m Model, priorities: &[f32]) -> State<'m> {
        let (n, k) = (priorities.len(), model.config().k);
        let spread = vec![0.0; if n <= SPREAD { n * k } else { 0 }];
        State {
            model,
            n,
            fixed: Vec::new(),
            h: spread.clone(),
            z: spread,
            sent: Vec::new(),
            sent_top: Vec::new(),
            mask_logits: vec![LEFT_ALONE; n],
            pointers: (0..n as Node).collect(),
            neighbours: Neighbours::default(),
            top: Top::new(k),
            changed: Vec::new(),
            scratch: Scratch::new(0),
            runner: Some(Box::new(Runner::new(priorities))),
        }
    }

    /// One operation of a model with an iterated processor: the answer's logit.
    fn iterate(&mut self, operation: Operation) -> Option<f32> {
        let (model, k) = (self.model, self.model.config().k);
        let (runner, weights) = (self.runner.as_mut()?, model.iterated()?);
        let spread = self.n <= SPREAD;
        let place = |node: &Node| *node as usize * k..(*node as usize + 1) * k;
        if spread {
            for node in runner.participants() {
                self.z[place(node)].fill(0.0);
                self.h[place(node)].fill(0.0);
            }
        }
        let (pointers, masks) = (&mut self.pointers, &mut self.mask_logits);
        let logit = on_path!(model.path(), simd => {
            let changed = &mut self.changed;
            runner.apply(simd, model.config(), weights, operation, pointers, masks, changed)
        });
        if spread {
            let (z, x) = runner.latents();
            let rows = z.chunks_exact(k).zip(x.chunks_exact(k));
            for (node, (z, x)) in runner.participants().iter().zip(rows) {
                self.z[place(node)].copy_from_slice(z);
                self.h[place(node)].copy_from_slice(x);
            }
        }
        runner.readout_sources(&mut self.top.sources);
        Some(logit)
    }

    /// Processor steps the last operation took; 1 for the paper's processor.
    pub fn steps(&self) -> usize {
        self.runner.as_ref().map_or(1, |runner| runner.steps())
    }

    /// The nodes that took part in the last operation, in the order they were reached; `None`
    /// for the paper's processor, in which all do.
    pub fn participants(&self) -> Option<&[Node]> {
        self.runner.as_ref().map(|runner| runner.participants())
    }

    /// Applies one operation: the answer, and pointers re-aimed as the model sees fit.
    pub fn apply(&mut self, operation: Operation) -> Result<Answer<'_>, Error> {
        let Operation { u, v } = operation;
        if let Some(node) = [u, v].into_iter().find(|&node| node as usize >= self.n) {
            return Err(Error::Input(format!(
                "the operation ({u}, {v}) names node {node}; expected nodes below {}",
                self.n
            )));
        }
        if u == v && self.n > 1 {
            return Err(Error::Input(format!(
                "the operation ({u}, {v}) names one node twice; expected two different nodes"
            )));
        }
        let model = self.model;
        if let Some(logit) = self.iterate(operation) {
            let (changed, pointers) = (&self.changed, &self.pointers);
            return Ok(Answer { logit, probability: sigmoid(logit), changed, pointers });
        }
        on_path!(model.path(), simd => {
            self.encode(simd, operation);
            self.process(simd);
        });
        if model.config().owns_pointers() {
            on_path!(model.path(), simd => self.aim(simd));
        }
        let decoder = &model.weights().decoder;
        let logit = on_path!(model.path(), simd => dot(simd, &self.top.values, decoder))
            + model.weights().decoder_bias;
        Ok(Answer {
            logit,
            probability: sigmoid(logit),
            changed: &self.changed,
            pointers: &self.pointers,
        })
    }

    /// First phase (equation 1): z, and b, each node's half of the messages it sends.
    #[inline(always)]
    fn encode<S: Simd>(&mut self, simd: S, operation: Operation) {
        let (config, weights) = (self.model.config(), self.model.weights());
        let k = config.k;
        let pointers = &self.pointers;
        let rows = |first: usize, h: &[f32], fixed: &[f32], z: &mut [f32], sent: &mut [f32]| {
            let count = z.len() / k;
            let start = Start::Mat(mat(fixed, k));
            let b = mat(&weights.encoder_h, k);
            matmul(simd, (count, k, k), mat(h, k), b, start, Then::Store, z, k);
            for_each_flag(&config.inputs, operation, pointers, first, count, |input, node| {
                let row = &mut z[(node - first) * k..][..k];
                add(simd, &weights.encoder_e[input * k..][..k], row);
            });
            if config.graph != Graph::SelfOnly {
                let width = weights.mix_width;
                let b = mat(&weights.mix[2 * k..], width);
                matmul(simd, (count, k, k), mat(z, k), b, Start::Zero, Then::Store, sent, k);
            }
        };
        if self.n <= BLOCK {
            rows(0, &self.h, &self.fixed, &mut self.z, &mut self.sent);
        } else {
            // Deep Sets send nothing; give their blocks empty slices.
            let block = BLOCK * k;
            let sent: Vec<&mut [f32]> = match self.sent.is_empty() {
                true => (0..self.n.div_ceil(BLOCK)).map(|_| [].as_mut_slice()).collect(),
                false => self.sent.chunks_mut(block).collect(),
            };
            let read = self.h.par_chunks(block).zip(self.fixed.par_chunks(block));
            let write = self.z.par_chunks_mut(block).zip(sent);
            read.zip(write).enumerate().for_each(|(i, ((h, fixed), (z, sent)))| {
                simd.vectorize(
                    #[inline(always)]
                    || rows(i * BLOCK, h, fixed, z, sent),
                );
            });
        }
        match config.graph {
            Graph::Complete => {
                self.sent_top.fill(f32::NEG_INFINITY);
                for row in self.sent.chunks_exact(k) {
                    for at in chunks(k) {
                        let top = load(simd, &self.sent_top, at).max(load(simd, row, at));
                        store(top, &mut self.sent_top, at);
                    }
                }
            }
            graph => self.neighbours.rebuild(graph, &self.pointers),
        }
    }

    /// Second phase (equations 8, 3 and 4): messages, h, mask logits and the readout.
    #[inline(always)]
    fn process<S: Simd>(&mut self, simd: S) {
        let (config, weights) = (self.model.config(), self.model.weights());
        let k = config.k;
        let senders =
            Senders { neighbours: &self.neighbours, sent: &self.sent, top: &self.sent_top };
        if self.n <= BLOCK {
            self.top.clear();
            let block =
                Block { first: 0, z: &self.z, h: &mut self.h, masks: &mut self.mask_logits };
            process_block(simd, config, weights, senders, block, &mut self.top, &mut self.scratch);
            return;
        }
        let size = BLOCK * k;
        let blocks = self.z.par_chunks(size).zip(self.h.par_chunks_mut(size));
        let tops: Vec<Top> = blocks
            .zip(self.mask_logits.par_chunks_mut(BLOCK))
            .enumerate()
            .map_init(
                || Scratch::new(k),
                |scratch, (i, ((z, h), masks))| {
                    let block = Block { first: i * BLOCK, z, h, masks };
                    let mut top = Top::new(k);
                    simd.vectorize(
                        #[inline(always)]
                        || {
                            process_block(simd, config, weights, senders, block, &mut top, scratch);
                        },
                    );
                    top
                },
            )
            .collect();
        self.top.clear();
        tops.iter().for_each(|top| self.top.join(top));
    }

    /// Equations 5 to 7: nodes with mask 0 (or all) are re-aimed at the node with the highest score.
    /// α's softmax does not change which that is.
    #[inline(always)]
    fn aim<S: Simd>(&mut self, simd: S) {
        let (config, weights) = (self.model.config(), self.model.weights());
        let w = config.attention_width();
        let rows: Vec<Node> = match config.pointers {
            Pointers::Every => (0..self.n as Node).collect(),
            _ => (0..self.n as Node).filter(|&i| !self.is_masked(i)).collect(),
        };
        let concatenated = self.concatenated();
        let keys = concatenated.as_deref().unwrap_or(&self.h);
        let mut gathered = vec![0.0; rows.len() * w];
        gather(w, keys, &rows, &mut gathered);
        let mut q = vec![0.0; rows.len() * w];
        queries(simd, w, &weights.fold, &gathered, &mut q);

        // A row whose scores compare with nothing (NaN) keeps its pointer.
        let best: Vec<(f32, Node)> =
            rows.iter().map(|&i| (f32::NEG_INFINITY, self.pointers[i as usize])).collect();
        let best = match config.candidates {
            // Candidates are the rows themselves: each is visited, or itself.
            Candidates::Visited => best_keys(simd, w, &q, &gathered, |j| rows[j], best),
            Candidates::All if self.n <= BLOCK => best_keys(simd, w, &q, keys, |j| j as Node, best),
            Candidates::All => {
                let blocks: Vec<Vec<(f32, Node)>> = keys
                    .par_chunks(BLOCK * w)
                    .enumerate()
                    .map(|(i, keys)| {
                        let number = |j: usize| (i * BLOCK + j) as Node;
                        simd.vectorize(
                            #[inline(always)]
                            || best_keys(simd, w, &q, keys, number, best.clone()),
                        )
                    })
                    .collect();
                blocks.iter().fold(best, |mut best, block| {
                    for (best, &new) in best.iter_mut().zip(block) {
                        if new.0 > best.0 {
                            *best = new;
                        }
                    }
                    best
                })
            }
        };
        self.changed.clear();
        for (&node, (_, target)) in rows.iter().zip(best) {
            let pointer = &mut self.pointers[node as usize];
            if *pointer != target {
                *pointer = target;
                self.changed.push(node);
            }
        }
    }

    /// Whether μᵢ = 1: the last operation left the node alone (equation 5).
    fn is_masked(&self, node: Node) -> bool {
        self.mask_logits[node as usize] > 0.0
    }

    /// \[z ‖ h\], for models whose attention reads it.
    fn concatenated(&self) -> Option<Vec<f32>> {
        let k = self.model.config().k;
        (self.model.config().attention_input == AttentionInput::Zh).then(|| {
            let rows = self.z.chunks_exact(k).zip(self.h.chunks_exact(k));
            rows.flat_map(|(z, h)| z.iter().chain(h)).copied().collect()
        })
    }

    /// Replaces the pointers, for models to which they are given.
    pub fn set_pointers(&mut self, pointers: &[Node]) -> Result<(), Error> {
        if pointers.len() != self.n || pointers.iter().any(|&node| node as usize >= self.n) {
            return Err(Error::Input(format!(
                "the given pointers do not fit; expected {} nodes, each below {}",
                self.n, self.n
            )));
        }
        self.pointers.copy_from_slice(pointers);
        Ok(())
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.n
    }

    /// Where every node points.
    pub fn pointers(&self) -> &[Node] {
        &self.pointers
    }

    /// h after the last operation, \[n, k\]; the last x of an iterated processor, empty beyond 4096
    /// nodes.
    pub fn latents(&self) -> &[f32] {
        &self.h
    }

    /// z of the last operation, \[n, k\]; empty for an iterated processor beyond 4096 nodes.
    pub fn encoded(&self) -> &[f32] {
        &self.z
    }

    /// ψ's logits for the last operation, \[n\]; above 0 means left alone. Zeros in models without
    /// masks.
    pub fn mask_logits(&self) -> &[f32] {
        &self.mask_logits
    }

    /// The node each dimension of the readout came from: for max z, then for max h, k each.
    pub fn readout_sources(&self) -> (&[Node], &[Node]) {
        self.top.sources.split_at(self.model.config().k)
    }

    /// α of one node after the last operation (equation 6): how relevant every node is to it.
    /// `None` in models without attention, or if there is no such node.
    pub fn attention(&self, node: Node) -> Option<Vec<f32>> {
        let config = self.model.config();
        if !config.has_attention() || node as usize >= self.n {
            return None;
        }
        if let Some(runner) = &self.runner {
            let k = config.k;
            return Some(on_path!(self.model.path(), simd => runner.attention(simd, k, node)));
        }
        let w = config.attention_width();
        let concatenated = self.concatenated();
        let keys = concatenated.as_deref().unwrap_or(&self.h);
        let mut alpha = vec![0.0; self.n.next_multiple_of(LANES)];
        on_path!(self.model.path(), simd => {
            let mut q = vec![0.0; w];
            queries(simd, w, &self.model.weights().fold, &keys[node as usize * w..][..w], &mut q);
            scores(simd, &q, keys, &mut alpha);
            if config.candidates == Candidates::Visited {
                let visited = |j: usize| !self.is_masked(j as Node);
                keep_visited(&mut alpha[..self.n], node, visited);
            }
            softmax(simd, &mut alpha);
        });
        alpha.truncate(self.n);
        Some(alpha)
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
    let (top_z, top_h) = top.values.split_at_mut(k);
    let (source_z, source_h) = top.sources.split_at_mut(k);
    let rows = block.z.chunks(ROWS * k).zip(block.h.chunks_mut(ROWS * k));
    for (part, ((z, h), masks)) in rows.zip(block.masks.chunks_mut(ROWS)).enumerate() {
        let (first, count) = (block.first + part * ROWS, z.len() / k);
        let mixed = &mut scratch.mixed[..count * 2 * k];
        let m = &mut scratch.m[..count * k];
        let start = Start::Row(&weights.mix_bias);
        let b = mat(&weights.mix, width);
        matmul(simd, (count, k, 2 * k), mat(z, k), b, start, Then::Store, mixed, 2 * k);
        for (i, (m, mixed)) in m.chunks_exact_mut(k).zip(mixed.chunks_exact(2 * k)).enumerate() {
            hear(simd, config.graph, senders, first + i, &mixed[..k], m);
        }
        let start = Start::Mat(mat(&mixed[k..], 2 * k));
        let b = mat(&weights.update_m, k);
        matmul(simd, (count, k, k), mat(m, k), b, start, Then::Relu, h, k);
        if config.has_masks() {
            mask_forward(simd, k, z, h, &weights.mask, weights.mask_bias, masks);
        }
        max_over_rows(simd, z, (k, 0), first as u32, top_z, source_z);
        max_over_rows(simd, h, (k, 0), first as u32, top_h, source_h);
    }
}

/// m = ReLU(a + max b) of one node (equation 8).
#[inline(always)]
fn hear<S: Simd>(simd: S, graph: Graph, senders: Senders, node: usize, a: &[f32], m: &mut [f32]) {
    let k = m.len();
    let zero = fearless_simd::f32x8::splat(simd, 0.0);
    for at in chunks(k) {
        let mut value = load(simd, a, at);
        match graph {
            Graph::SelfOnly => {}
            Graph::Complete => value += load(simd, senders.top, at),
            Graph::Symmetric | Graph::Directed => {
                let list = senders.neighbours.of(node);
                let mut top = load(simd, senders.sent, list[0] as usize * k + at);
                for &j in &list[1..] {
                    top = top.max(load(simd, senders.sent, j as usize * k + at));
                }
                value += top;
            }
        }
        store(value.max(zero), m, at);
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
    mut best: Vec<(f32, Node)>,
) -> Vec<(f32, Node)> {
    for (q, best) in q.chunks_exact(w).zip(&mut best) {
        for (j, key) in keys.chunks_exact(w).enumerate() {
            let score = dot(simd, q, key);
            if score > best.0 {
                *best = (score, number(j));
            }
        }
    }
    best
}
