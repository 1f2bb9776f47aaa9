//! One transition with its ground truth: losses and gradients.
//!
//! Rows of the participants of step 1, step 2, … follow each other in flat arrays, so that every
//! weight gradient is one tall product at the end.

use fearless_simd::prelude::*;
use pgn_structures::Transition;
use rayon::prelude::*;

use super::{
    blocks::{Blocks, Weights},
    heads::{HeadGradients, Heads, candidates},
    reach::Reach,
    step::{StepBackward, StepForward, Steps, step_backward, step_forward, weights_backward},
};
use crate::{
    Config, Losses, Parameters,
    kernels::{
        LANES,
        math::{binary_cross_entropies, binary_cross_entropy, sigmoid, softmax},
        rows::add,
    },
    simd::{SimdLevel, with_simd},
};

/// Transitions whose gradients are summed by one thread: a number of its own, so that sums do not
/// depend on how many threads there are.
const GROUP: usize = 8;

/// Everything one transition leaves behind for its backward pass; buffers of one thread. Rows are
/// those of all steps, a that of the last.
#[derive(Debug, Default)]
struct Tape {
    /// How many steps this transition takes.
    steps: usize,
    reach: Reach,
    heads: Heads,
    /// Where the rows of step 1, 2, … begin; behind the last step those of the last x.
    starts: Vec<usize>,
    x: Vec<f32>,          // [rows + a, k]: before each step; the last x at the end
    messages: Vec<f32>,   // [rows, 3k]; step s uses as many as it has senders
    aggregated: Vec<f32>, // [rows, 2k]
    globals: Vec<f32>,    // [steps, k]
    d_masks: Vec<f32>,    // [a], padded
    alpha: Vec<f32>,      // [candidates], padded
    visited: Vec<u32>,
    candidates: Vec<u32>,
    targets: Vec<u8>,
    d_heads: HeadGradients,
    d_pre: Vec<f32>,        // [rows, k]
    d_pre_sums: Vec<f32>,   // [steps, k]
    d_messages: Vec<f32>,   // [rows, 3k]
    d_x: [Vec<f32>; 2],     // [a, k]: after and before a step
    d_aggregated: Vec<f32>, // [a, 2k]
    d_global: Vec<f32>,     // [k]
    d_fixed: Vec<f32>,      // [a, k]
}

/// Losses of a batch, each transition with its share, and the gradients of their weighted sum.
pub fn gradients(
    config: &Config,
    weights: &Weights,
    level: SimdLevel,
    batch: &[(Transition<'_>, f32)],
) -> (Losses, Parameters) {
    let settings = &weights.settings;
    let mut groups: Vec<(Losses, Blocks)> = batch
        .par_chunks(GROUP)
        .enumerate()
        .map_init(Tape::default, |tape, (number, group)| {
            let (mut losses, mut blocks) = (Losses::default(), Blocks::zeros(config));
            for (place, &(transition, share)) in group.iter().enumerate() {
                let index = number * GROUP + place;
                tape.steps = settings.steps + index % (settings.more_steps + 1);
                losses.add(&with_simd!(level, simd => {
                    let losses = forward(simd, config, weights, transition, share, tape);
                    backward(simd, config, weights, tape, &mut blocks);
                    losses
                }));
            }
            (losses, blocks)
        })
        .collect();
    let mut losses = Losses::default();
    let mut sum = Blocks::zeros(config);
    for (share, blocks) in &mut groups {
        losses.add(share);
        sum.add(blocks);
    }
    let mut gradients = Parameters::zeros(config);
    sum.unpack(config, &weights.settings, &mut gradients);
    (losses, gradients)
}

/// Unrolls one operation; ∂ of logits and scores are left on the tape.
#[inline(always)]
fn forward<S: Simd>(
    simd: S,
    config: &Config,
    weights: &Weights,
    transition: Transition,
    share: f32,
    tape: &mut Tape,
) -> Losses {
    let (k, steps) = (config.k, tape.steps);
    let Transition { before, operation, .. } = transition;
    tape.reach.find(weights.settings.participants, before, operation, steps);
    let of_node = |node: u32| (transition.priorities[node as usize], before[node as usize]);
    tape.heads.encode(simd, config, weights, &tape.reach, operation, of_node);
    process(simd, k, weights, steps, tape);
    let last = tape.starts[steps] * k;
    tape.heads.answer(simd, k, weights, &tape.x[last..]);
    let mut losses = Losses::default();

    // (3)
    let truth = transition.answer == 1;
    losses.query = f64::from(share) * binary_cross_entropy(tape.heads.logit, truth);
    losses.right = u64::from((tape.heads.logit > 0.0) == truth);
    let target = if truth { 1.0 } else { 0.0 };
    tape.heads.logit = config.losses.query * share * (sigmoid(tape.heads.logit) - target);

    // (4); who takes no part has mask 1 by definition.
    let share = share / before.len() as f32;
    tape.targets.clear();
    tape.targets.extend(tape.reach.nodes.iter().map(|&node| transition.mask[node as usize]));
    tape.d_masks.resize(tape.heads.mask_logits.len(), 0.0);
    losses.masks = f64::from(share)
        * binary_cross_entropies(
            simd,
            &tape.heads.mask_logits,
            &tape.targets,
            config.losses.masks * share,
            &mut tape.d_masks,
        );

    // (6)
    tape.heads.ask(simd, k, weights);
    let a = tape.reach.nodes.len();
    tape.visited.clear();
    tape.visited.extend((0..a as u32).filter(|&place| tape.targets[place as usize] == 0));
    candidates(config, &tape.visited, a, &mut tape.candidates);
    tape.d_heads.clear(k, a);
    for &i in &tape.visited {
        let node = tape.reach.nodes[i as usize];
        let target = tape.reach.place(transition.after[node as usize]);
        // With too few steps, the node to point to may not have been reached.
        let Some(target) = tape.candidates.iter().position(|&j| j == target) else { continue };
        let count = tape.candidates.len();
        tape.alpha.clear();
        tape.alpha.resize(count.next_multiple_of(LANES), f32::NEG_INFINITY);
        for (score, &j) in tape.alpha.iter_mut().zip(&tape.candidates) {
            *score = tape.heads.score(simd, k, &tape.reach, i as usize, j as usize);
        }
        let score = tape.alpha[target];
        let log_sum = softmax(simd, &mut tape.alpha);
        losses.pointers += f64::from(share) * f64::from(log_sum - score);
        tape.alpha[target] -= 1.0;
        for (&alpha, &j) in tape.alpha.iter().zip(&tape.candidates) {
            let d = config.losses.pointers * share * alpha;
            let context = (&tape.heads, &tape.reach);
            tape.d_heads.score(simd, k, context, (i as usize, j as usize), d);
        }
    }
    losses
}

/// All processor steps.
#[inline(always)]
fn process<S: Simd>(simd: S, k: usize, weights: &Weights, steps: usize, tape: &mut Tape) {
    let reach = &tape.reach;
    tape.starts.clear();
    let mut rows = 0;
    for step in 1..=steps {
        tape.starts.push(rows);
        rows += reach.count(step);
    }
    tape.starts.push(rows);
    let a = reach.nodes.len();
    tape.x.resize((rows + a) * k, 0.0);
    tape.messages.resize(rows * 3 * k, 0.0);
    tape.aggregated.resize(rows * 2 * k, 0.0);
    tape.globals.resize(steps * k, 0.0);
    tape.x[..reach.count(1) * k].fill(0.0);
    for step in 1..=steps {
        let (count, senders) = (reach.count(step), reach.count(step - 1));
        let (first, next) = (tape.starts[step - 1], tape.starts[step]);
        let (x, after) = tape.x.split_at_mut(next * k);
        let (written, fresh) = after.split_at_mut(count * k);
        if step < steps {
            fresh[..(reach.count(step + 1) - count) * k].fill(0.0);
        }
        let forward = StepForward {
            parents: &reach.parents[..count],
            fixed: &tape.heads.fixed[..count * k],
            x: &x[first * k..],
            messages: &mut tape.messages[first * 3 * k..][..senders.min(count) * 3 * k],
            aggregated: &mut tape.aggregated[first * 2 * k..next * 2 * k],
            global: &mut tape.globals[(step - 1) * k..][..k],
            next: written,
        };
        step_forward(simd, k, weights, forward);
    }
}

/// Adds the gradients of the losses on the tape to `gradients`.
#[inline(always)]
fn backward<S: Simd>(
    simd: S,
    config: &Config,
    weights: &Weights,
    tape: &mut Tape,
    gradients: &mut Blocks,
) {
    let (k, steps) = (config.k, tape.steps);
    let reach = &tape.reach;
    let (a, rows) = (reach.nodes.len(), tape.starts[steps]);
    let (d_logit, d_masks) = (tape.heads.logit, &tape.d_masks[..a]);
    tape.d_heads.heads(simd, k, weights, &tape.heads, d_logit, d_masks, gradients);

    let [mut d_next, mut d_x] = std::mem::take(&mut tape.d_x);
    d_next.resize(a * k, 0.0);
    d_x.resize(a * k, 0.0);
    tape.d_heads.d_x(k, &mut d_next);
    tape.d_pre.resize(rows * k, 0.0);
    tape.d_pre_sums.resize(steps * k, 0.0);
    tape.d_messages.resize(rows * 3 * k, 0.0);
    tape.d_aggregated.resize(a * 2 * k, 0.0);
    tape.d_global.resize(k, 0.0);
    tape.d_fixed.clear();
    tape.d_fixed.resize(a * k, 0.0);
    for step in (1..=steps).rev() {
        let (count, senders) = (reach.count(step), reach.count(step - 1));
        let (first, next) = (tape.starts[step - 1], tape.starts[step]);
        let backward = StepBackward {
            parents: &reach.parents[..count],
            messages: &tape.messages[first * 3 * k..][..senders.min(count) * 3 * k],
            aggregated: &tape.aggregated[first * 2 * k..next * 2 * k],
            global: &tape.globals[(step - 1) * k..][..k],
            next: &tape.x[next * k..][..count * k],
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
        x: &tape.x[..rows * k],
        aggregated: &tape.aggregated,
        d_pre: &tape.d_pre,
        d_messages: &tape.d_messages,
        globals: &tape.globals,
        d_pre_sums: &tape.d_pre_sums,
    };
    weights_backward(simd, k, all, gradients);
    let widths = (k, config.m());
    tape.d_heads.encode(simd, widths, weights, &tape.heads, &tape.d_fixed, gradients);
}
