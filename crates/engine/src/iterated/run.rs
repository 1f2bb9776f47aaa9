//! A structure in use: one operation at a time, in time and memory that its paths decide, not n.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use fearless_simd::prelude::*;
use pgn_structures::{Node, Operation};

use super::{
    Network,
    forward::{Forward, Memory, StepContext},
    reach::{NOWHERE, Reach},
    step::StepForward,
};
use crate::{
    Config,
    attention::argmax,
    kernels::{LANES, math::softmax},
    masks::left_alone,
    processor::ProcessorState,
    simd::with_simd,
    state::VisibleState,
};

/// The mask logit of a node that takes no part: certainly left alone.
pub const LEFT_ALONE: f32 = 1e3;

/// x and z are spread out over all nodes, for whoever looks at them, in structures of up to this
/// many.
const SPREAD: usize = 4096;

/// The working memory of a structure: O(n) for priorities, and for pointers and masks, which are
/// visible; the rest is per participant, until somebody looks at x or z of all nodes.
#[derive(Clone, Debug)]
pub(super) struct IteratedState {
    network: Arc<Network>,
    priorities: Vec<f32>, // [n]
    forward: Forward,
    turns: Turns,
    x: OnceLock<Vec<f32>>, // [n, k], spread out when first asked for; or empty
    z: OnceLock<Vec<f32>>, // [n, k], likewise
}

/// Two sets of buffers, used in turn.
#[derive(Clone, Debug, Default)]
struct Turns {
    x: [Vec<f32>; 2],     // [a, k]: before and after a step
    messages: Vec<f32>,   // [a, 3k]
    aggregated: Vec<f32>, // [a, 2k]
    global: Vec<f32>,     // [k]
    /// Steps taken.
    steps: usize,
    /// Set by somebody else to end the operation before it is done.
    stop: Option<Arc<AtomicBool>>,
}

impl Memory for Turns {
    fn begin(&mut self, k: usize, reach: &Reach, _: usize) {
        let a = reach.nodes.len();
        for x in &mut self.x {
            x.clear();
            x.resize(a * k, 0.0);
        }
        self.messages.resize(a * 3 * k, 0.0);
        self.aggregated.resize(a * 2 * k, 0.0);
        self.global.resize(k, 0.0);
    }

    #[inline(always)]
    fn step<'a>(
        &'a mut self,
        k: usize,
        reach: &'a Reach,
        fixed: &'a [f32],
        step: usize,
    ) -> StepForward<'a> {
        let (count, senders) = (reach.count(step), reach.count(step - 1));
        let [x, next] = &mut self.x;
        StepForward {
            parents: &reach.parents[..count],
            fixed: &fixed[..count * k],
            x: &x[..count * k],
            messages: &mut self.messages[..senders * 3 * k],
            aggregated: &mut self.aggregated[..count * 2 * k],
            global: &mut self.global,
            next: &mut next[..count * k],
        }
    }

    /// Ends when nothing changes any more.
    #[inline(always)]
    fn ends(&mut self, reach: &Reach, step: usize) -> bool {
        self.x.swap(0, 1);
        self.steps = step;
        reach.count(step - 1) == reach.nodes.len() && self.x[0] == self.x[1]
            || self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    fn last(&self) -> &[f32] {
        &self.x[0]
    }
}

impl IteratedState {
    /// A fresh structure, one node per priority.
    pub fn new(network: Arc<Network>, priorities: &[f32]) -> IteratedState {
        IteratedState {
            network,
            priorities: priorities.to_vec(),
            forward: Forward::default(),
            turns: Turns::default(),
            x: OnceLock::new(),
            z: OnceLock::new(),
        }
    }

    #[inline(always)]
    fn compute<S: Simd>(
        &mut self,
        simd: S,
        network: &Network,
        operation: Operation,
        visible: &mut VisibleState,
    ) {
        let (config, weights) = (&network.config, &network.weights);
        let settings = &weights.settings;
        let context = StepContext {
            config,
            weights,
            operation,
            priorities: &self.priorities,
            pointers: &visible.pointers,
        };
        // Messages need as many steps as paths are long; the bound grows with them.
        let limit = |reach: &Reach| settings.steps + settings.steps_per_depth * reach.depth();
        let forward = &mut self.forward;
        forward.compute(simd, &context, usize::MAX, limit, &mut self.turns);
        for (&node, &logit) in forward.reach.nodes.iter().zip(&forward.outputs.mask_logits) {
            visible.mask_logits[node as usize] = logit;
        }
        let (nodes, masks) = (&forward.reach.nodes, &visible.mask_logits);
        let masks: Vec<bool> = nodes.iter().map(|&node| left_alone(masks[node as usize])).collect();
        forward.visit(config, |place| !masks[place]);
        let mut moved = Vec::new();
        for at in 0..forward.visited.len() {
            let i = forward.visited[at] as usize;
            forward.score(simd, config.k, i);
            let node = forward.reach.nodes[i];
            let Some(best) = argmax(simd, &forward.scores) else { continue };
            let target = forward.reach.nodes[forward.candidates[best] as usize];
            let from = std::mem::replace(&mut visible.pointers[node as usize], target);
            if from != target {
                moved.push((node, from));
            }
        }
        moved.sort_unstable();
        moved.into_iter().for_each(|(node, from)| visible.note(node, from));
    }

    /// The rows of the participants \[a, k\] among those of all nodes, which are 0; empty in large
    /// structures.
    fn spread(&self, rows: &[f32]) -> Vec<f32> {
        let (n, k) = (self.priorities.len(), self.network.config.k);
        let mut all = vec![0.0; if n <= SPREAD { n * k } else { 0 }];
        if !all.is_empty() {
            for (&node, row) in self.forward.reach.nodes.iter().zip(rows.chunks_exact(k)) {
                all[node as usize * k..][..k].copy_from_slice(row);
            }
        }
        all
    }
}

impl ProcessorState for IteratedState {
    fn copy(&self) -> Box<dyn ProcessorState> {
        Box::new(self.clone())
    }

    fn fresh_mask_logit(&self) -> f32 {
        LEFT_ALONE
    }

    fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.turns.stop = Some(stop);
    }

    /// Mask logits of the participants are written, those of the last operation's reset.
    fn apply(&mut self, operation: Operation, visible: &mut VisibleState) -> f32 {
        for &node in &self.forward.reach.nodes {
            visible.mask_logits[node as usize] = LEFT_ALONE;
        }
        (self.x, self.z) = Default::default();
        let network = Arc::clone(&self.network);
        with_simd!(network.level, simd => self.compute(simd, &network, operation, visible));
        self.forward.outputs.logit
    }

    fn config(&self) -> &Config {
        &self.network.config
    }

    fn steps(&self) -> usize {
        self.turns.steps
    }

    /// In the order they were reached.
    fn participants(&self) -> Option<&[Node]> {
        Some(&self.forward.reach.nodes)
    }

    /// The last x, spread out over all nodes; or empty.
    fn latents(&self) -> &[f32] {
        self.x.get_or_init(|| self.spread(self.turns.last()))
    }

    /// Spread out likewise; or empty.
    fn encoded(&self) -> &[f32] {
        self.z.get_or_init(|| self.spread(&self.forward.outputs.z))
    }

    fn readout_sources(&self) -> (Vec<Node>, Vec<Node>) {
        let Forward { reach, outputs, .. } = &self.forward;
        let sources: Vec<Node> =
            outputs.top_sources.iter().map(|&place| reach.nodes[place as usize]).collect();
        let (z, x) = sources.split_at(sources.len() / 2);
        (z.to_vec(), x.to_vec())
    }

    /// A node that took no part points to itself with certainty.
    fn attention(&self, node: Node, _: &VisibleState) -> Vec<f32> {
        let Forward { reach, outputs, candidates, .. } = &self.forward;
        let mut alpha = vec![0.0; self.priorities.len()];
        let place = reach.place(node);
        if place == NOWHERE {
            alpha[node as usize] = 1.0;
            return alpha;
        }
        let mut candidates = candidates.clone();
        if !candidates.contains(&place) {
            candidates.push(place);
        }
        let mut scores = vec![f32::NEG_INFINITY; candidates.len().next_multiple_of(LANES)];
        let k = self.network.config.k;
        with_simd!(self.network.level, simd => {
            for (score, &j) in scores.iter_mut().zip(&candidates) {
                *score = outputs.score(simd, k, reach, place as usize, j as usize);
            }
            softmax(simd, &mut scores);
        });
        for (&score, &j) in scores.iter().zip(&candidates) {
            alpha[reach.nodes[j as usize] as usize] = score;
        }
        alpha
    }
}
