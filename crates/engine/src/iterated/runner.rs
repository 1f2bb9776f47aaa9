//! Free rollouts: one operation at a time, in time and memory that its paths decide, not n.

use fearless_simd::prelude::*;
use pgn_structures::{Node, Operation};

use super::{
    blocks::Weights,
    heads::{Heads, candidates},
    reach::{NOWHERE, Reach},
    step::{StepForward, step_forward},
};
use crate::{
    Config,
    kernels::{LANES, math::softmax},
    readout::left_alone,
};

/// The mask logit of a node that takes no part: certainly left alone.
pub const LEFT_ALONE: f32 = 1e3;

/// The working memory of a structure in use.
#[derive(Clone, Debug, Default)]
pub struct Runner {
    priorities: Vec<f32>, // [n]
    reach: Reach,
    heads: Heads,
    x: [Vec<f32>; 2],     // [a, k]: before and after a step
    messages: Vec<f32>,   // [a, 3k]
    aggregated: Vec<f32>, // [a, 2k]
    global: Vec<f32>,     // [k]
    visited: Vec<u32>,
    candidates: Vec<u32>,
    steps: usize,
}

impl Runner {
    pub fn new(priorities: &[f32]) -> Runner {
        Runner { priorities: priorities.to_vec(), ..Runner::default() }
    }

    /// Applies one operation: re-aims pointers, notes in `changed` which, and returns the answer's
    /// logit. Mask logits of the participants are written, those of the last operation's reset.
    #[allow(clippy::too_many_arguments)] // the model, the operation, and three parts of the state
    #[inline(always)]
    pub fn apply<S: Simd>(
        &mut self,
        simd: S,
        config: &Config,
        weights: &Weights,
        operation: Operation,
        pointers: &mut [Node],
        mask_logits: &mut [f32],
        changed: &mut Vec<(Node, Node)>,
    ) -> f32 {
        let (k, settings) = (config.k, &weights.settings);
        for &node in &self.reach.nodes {
            mask_logits[node as usize] = LEFT_ALONE;
        }
        self.reach.find(settings.participants, pointers, operation, usize::MAX);
        let of_node = |node: Node| (self.priorities[node as usize], pointers[node as usize]);
        self.heads.encode(simd, config, weights, &self.reach, operation, of_node);
        self.process(simd, k, weights);
        self.heads.answer(simd, k, weights, &self.x[0]);
        self.heads.ask(simd, k, weights);

        let a = self.reach.nodes.len();
        self.visited.clear();
        for (place, &node) in self.reach.nodes.iter().enumerate() {
            let logit = self.heads.mask_logits[place];
            mask_logits[node as usize] = logit;
            if !left_alone(logit) {
                self.visited.push(place as u32);
            }
        }
        candidates(config, &self.visited, a, &mut self.candidates);
        changed.clear();
        for &i in &self.visited {
            let node = self.reach.nodes[i as usize];
            let mut best = (f32::NEG_INFINITY, pointers[node as usize]);
            for &j in &self.candidates {
                let score = self.heads.score(simd, k, &self.reach, i as usize, j as usize);
                if score > best.0 {
                    best = (score, self.reach.nodes[j as usize]);
                }
            }
            if pointers[node as usize] != best.1 {
                changed.push((node, pointers[node as usize]));
                pointers[node as usize] = best.1;
            }
        }
        changed.sort_unstable();
        self.heads.logit
    }

    /// Steps until nothing changes, or the bound that grows with depth; the last x is left in
    /// `self.x[0]`.
    #[inline(always)]
    fn process<S: Simd>(&mut self, simd: S, k: usize, weights: &Weights) {
        let (reach, settings) = (&self.reach, &weights.settings);
        let a = reach.nodes.len();
        let limit = settings.steps + settings.steps_per_depth * reach.depth();
        self.x[0].clear();
        self.x[0].resize(a * k, 0.0);
        self.x[1].clear();
        self.x[1].resize(a * k, 0.0);
        self.messages.resize(a * 3 * k, 0.0);
        self.aggregated.resize(a * 2 * k, 0.0);
        self.global.resize(k, 0.0);
        self.steps = limit;
        for step in 1..=limit {
            let (count, senders) = (reach.count(step), reach.count(step - 1));
            let [x, next] = &mut self.x;
            let forward = StepForward {
                parents: &reach.parents[..count],
                fixed: &self.heads.fixed[..count * k],
                x: &x[..count * k],
                messages: &mut self.messages[..senders * 3 * k],
                aggregated: &mut self.aggregated[..count * 2 * k],
                global: &mut self.global,
                next: &mut next[..count * k],
            };
            step_forward(simd, k, weights, forward);
            self.x.swap(0, 1);
            if senders == a && self.x[0] == self.x[1] {
                self.steps = step;
                break;
            }
        }
    }

    /// Processor steps the last operation took.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Nodes that took part in the last operation, in the order they were reached.
    pub fn participants(&self) -> &[Node] {
        &self.reach.nodes
    }

    /// z and x of the participants, \[a, k\] each, in their order.
    pub fn latents(&self) -> (&[f32], &[f32]) {
        (&self.heads.z, &self.x[0])
    }

    /// The nodes that the readout's dimensions came from: for max z, then for max x.
    pub fn readout_sources(&self) -> (Vec<Node>, Vec<Node>) {
        let node = |&place: &u32| self.reach.nodes[place as usize];
        let sources: Vec<Node> = self.heads.top_source.iter().map(node).collect();
        let (z, x) = sources.split_at(sources.len() / 2);
        (z.to_vec(), x.to_vec())
    }

    /// α of one node over all n; itself with certainty if it took no part.
    #[inline(always)]
    pub fn attention<S: Simd>(&self, simd: S, k: usize, node: Node) -> Vec<f32> {
        let mut alpha = vec![0.0; self.priorities.len()];
        let place = self.reach.place(node);
        if place == NOWHERE {
            alpha[node as usize] = 1.0;
            return alpha;
        }
        let mut candidates = self.candidates.clone();
        if !candidates.contains(&place) {
            candidates.push(place);
        }
        let mut scores = vec![f32::NEG_INFINITY; candidates.len().next_multiple_of(LANES)];
        for (score, &j) in scores.iter_mut().zip(&candidates) {
            *score = self.heads.score(simd, k, &self.reach, place as usize, j as usize);
        }
        softmax(simd, &mut scores);
        for (&score, &j) in scores.iter().zip(&candidates) {
            alpha[self.reach.nodes[j as usize] as usize] = score;
        }
        alpha
    }
}
