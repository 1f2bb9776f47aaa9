//! One transition with its ground truth: losses and gradients.
//!
//! Rows of the participants of step 1, step 2, … follow each other in flat arrays, so that every
//! weight gradient is one tall product at the end.

use fearless_simd::prelude::*;
use pgn_structures::Transition;

use super::{
    forward::{Forward, Memory, StepContext},
    outputs::OutputGradients,
    reach::Reach,
    step::{StepBackward, StepForward, Steps, step_backward, weights_backward},
    weights::Weights,
};
use crate::{
    Config, Losses,
    kernels::{
        math::{binary_cross_entropy, sigmoid, softmax},
        rows::add,
    },
    masks::mask_loss,
};

/// Everything one transition leaves behind for its backward pass; buffers of one thread. Rows are
/// those of all steps, a that of the last.
#[derive(Debug, Default)]
pub struct Tape {
    forward: Forward,
    history: History,
    d_logit: f32,
    d_masks: Vec<f32>, // [a], padded
    targets: Vec<u8>,
    d_outputs: OutputGradients,
    d_pre: Vec<f32>,        // [rows, k]
    d_pre_sums: Vec<f32>,   // [steps, k]
    d_messages: Vec<f32>,   // [rows, 3k]
    d_x: [Vec<f32>; 2],     // [a, k]: after and before a step
    d_aggregated: Vec<f32>, // [a, 2k]
    d_global: Vec<f32>,     // [k]
    d_fixed: Vec<f32>,      // [a, k]
}

/// The rows of every step, those of step 1 first.
#[derive(Debug, Default)]
struct History {
    /// Where the rows of step 1, 2, … begin; behind the last step those of the last x.
    starts: Vec<usize>,
    x: Vec<f32>,          // [rows + a, k]: before each step; the last x at the end
    messages: Vec<f32>,   // [rows, 3k]; step s uses as many as it has senders
    aggregated: Vec<f32>, // [rows, 2k]
    globals: Vec<f32>,    // [steps, k]
    /// Where the last x begins in `x`.
    last: usize,
}

impl Memory for History {
    fn begin(&mut self, k: usize, reach: &Reach, limit: usize) {
        self.starts.clear();
        let mut rows = 0;
        for step in 1..=limit {
            self.starts.push(rows);
            rows += reach.count(step);
        }
        self.starts.push(rows);
        self.last = rows * k;
        self.x.resize((rows + reach.nodes.len()) * k, 0.0);
        self.messages.resize(rows * 3 * k, 0.0);
        self.aggregated.resize(rows * 2 * k, 0.0);
        self.globals.resize(limit * k, 0.0);
        self.x[..reach.count(1) * k].fill(0.0);
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
        let (first, next) = (self.starts[step - 1], self.starts[step]);
        let (x, after) = self.x.split_at_mut(next * k);
        let (written, fresh) = after.split_at_mut(count * k);
        if step + 1 < self.starts.len() {
            fresh[..(reach.count(step + 1) - count) * k].fill(0.0);
        }
        StepForward {
            parents: &reach.parents[..count],
            fixed: &fixed[..count * k],
            x: &x[first * k..],
            messages: &mut self.messages[first * 3 * k..][..senders.min(count) * 3 * k],
            aggregated: &mut self.aggregated[first * 2 * k..next * 2 * k],
            global: &mut self.globals[(step - 1) * k..][..k],
            next: written,
        }
    }

    /// Training takes all steps, so that what is done has to stay done.
    #[inline(always)]
    fn ends(&mut self, _: &Reach, _: usize) -> bool {
        false
    }

    fn last(&self) -> &[f32] {
        &self.x[self.last..]
    }
}

/// One transition of a batch.
pub struct Unroll<'a> {
    pub config: &'a Config,
    pub weights: &'a Weights,
    pub transition: Transition<'a>,
    /// Its share of the batch's loss.
    pub share: f32,
    /// How many steps it takes.
    pub steps: usize,
}

impl Unroll<'_> {
    /// Unrolls the operation; ∂ of logits and scores are left on the tape.
    #[inline(always)]
    pub fn forward<S: Simd>(&self, simd: S, tape: &mut Tape) -> Losses {
        let Unroll { config, weights, transition, share, steps } = *self;
        let k = config.k;
        let context = StepContext {
            config,
            weights,
            operation: transition.operation,
            priorities: transition.priorities,
            pointers: transition.before,
        };
        tape.forward.compute(simd, &context, steps, |_| steps, &mut tape.history);
        let mut losses = Losses::default();

        // (3)
        let (truth, logit) = (transition.answer == 1, tape.forward.outputs.logit);
        losses.query = f64::from(share) * binary_cross_entropy(logit, truth);
        losses.right = u64::from((logit > 0.0) == truth);
        let target = if truth { 1.0 } else { 0.0 };
        tape.d_logit = config.losses.query * share * (sigmoid(logit) - target);

        // (4); who takes no part has mask 1 by definition.
        let share = share / transition.before.len() as f32;
        let nodes = &tape.forward.reach.nodes;
        tape.targets.clear();
        tape.targets.extend(nodes.iter().map(|&node| transition.mask[node as usize]));
        let logits = &tape.forward.outputs.mask_logits;
        tape.d_masks.resize(logits.len(), 0.0);
        let targets = &tape.targets;
        losses.masks =
            f64::from(share) * mask_loss(simd, config, share, logits, targets, &mut tape.d_masks);

        // (6)
        let forward = &mut tape.forward;
        forward.visit(config, |place| targets[place] == 0);
        tape.d_outputs.clear(k, forward.reach.nodes.len());
        for at in 0..forward.visited.len() {
            let i = forward.visited[at] as usize;
            let node = forward.reach.nodes[i];
            let target = forward.reach.place(transition.after[node as usize]);
            // With too few steps, the node to point to may not have been reached.
            let target = forward.candidates.iter().position(|&j| j == target);
            let Some(target) = target else { continue };
            forward.score(simd, k, i);
            let score = forward.scores[target];
            let log_sum = softmax(simd, &mut forward.scores);
            losses.pointers += f64::from(share) * f64::from(log_sum - score);
            forward.scores[target] -= 1.0;
            for (&alpha, &j) in forward.scores.iter().zip(&forward.candidates) {
                let d = config.losses.pointers * share * alpha;
                let from = (&forward.outputs, &forward.reach);
                tape.d_outputs.score(simd, k, from, (i, j as usize), d);
            }
        }
        losses
    }

    /// Adds the gradients of the losses on the tape to `gradients`.
    #[inline(always)]
    pub fn backward<S: Simd>(&self, simd: S, tape: &mut Tape, gradients: &mut [f32]) {
        let Unroll { config, weights, steps, .. } = *self;
        let k = config.k;
        let Forward { reach, outputs, .. } = &tape.forward;
        let history = &tape.history;
        let (a, rows) = (reach.nodes.len(), history.starts[steps]);
        let d_logits = (tape.d_logit, &tape.d_masks[..a]);
        tape.d_outputs.outputs(simd, k, weights, outputs, d_logits, gradients);

        let [mut d_next, mut d_x] = std::mem::take(&mut tape.d_x);
        d_next.resize(a * k, 0.0);
        d_x.resize(a * k, 0.0);
        tape.d_outputs.d_x(k, &mut d_next);
        tape.d_pre.resize(rows * k, 0.0);
        tape.d_pre_sums.resize(steps * k, 0.0);
        tape.d_messages.resize(rows * 3 * k, 0.0);
        tape.d_aggregated.resize(a * 2 * k, 0.0);
        tape.d_global.resize(k, 0.0);
        tape.d_fixed.clear();
        tape.d_fixed.resize(a * k, 0.0);
        for step in (1..=steps).rev() {
            let (count, senders) = (reach.count(step), reach.count(step - 1));
            let (first, next) = (history.starts[step - 1], history.starts[step]);
            let backward = StepBackward {
                parents: &reach.parents[..count],
                messages: &history.messages[first * 3 * k..][..senders.min(count) * 3 * k],
                aggregated: &history.aggregated[first * 2 * k..next * 2 * k],
                global: &history.globals[(step - 1) * k..][..k],
                next: &history.x[next * k..][..count * k],
                d_next: &d_next[..count * k],
                d_pre: &mut tape.d_pre[first * k..next * k],
                d_pre_sum: &mut tape.d_pre_sums[(step - 1) * k..][..k],
                d_messages: &mut tape.d_messages[first * 3 * k..next * 3 * k],
                d_aggregated: &mut tape.d_aggregated[..count * 2 * k],
                d_global: &mut tape.d_global,
                d_x: &mut d_x[..count * k],
            };
            step_backward(simd, k, weights, backward);
            add(simd, &tape.d_pre[first * k..next * k], &mut tape.d_fixed[..count * k]);
            std::mem::swap(&mut d_next, &mut d_x);
        }
        tape.d_x = [d_next, d_x];
        let all = Steps {
            x: &history.x[..rows * k],
            aggregated: &history.aggregated,
            d_pre: &tape.d_pre,
            d_messages: &tape.d_messages,
            globals: &history.globals,
            d_pre_sums: &tape.d_pre_sums,
        };
        weights_backward(simd, k, weights, all, gradients);
        let widths = (k, config.m());
        tape.d_outputs.encode(simd, widths, weights, outputs, &tape.d_fixed, gradients);
    }
}
