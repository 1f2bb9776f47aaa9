//! One operation, as far as answer, masks and pointer scores: what training and rollouts share.

use fearless_simd::prelude::*;
use pgn_structures::{Node, Operation};

use super::{
    outputs::{Outputs, candidates},
    reach::Reach,
    step::{StepForward, step_forward},
    weights::Weights,
};
use crate::{Config, kernels::LANES};

/// What all parts of an operation read.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    pub config: &'a Config,
    pub weights: &'a Weights,
    pub operation: Operation,
    pub priorities: &'a [f32],
    /// Before the operation.
    pub pointers: &'a [Node],
}

/// Where processor steps read and write: a tape has rows for every step, a rollout uses two sets in
/// turn.
pub trait Memory {
    /// Makes room for an operation of at most `limit` steps, with x = 0.
    fn begin(&mut self, k: usize, reach: &Reach, limit: usize);

    /// What step number `step`, from 1, reads and writes. `fixed` is the share of z.
    fn step<'a>(
        &'a mut self,
        k: usize,
        reach: &'a Reach,
        fixed: &'a [f32],
        step: usize,
    ) -> StepForward<'a>;

    /// Told after every step; whether it was the last, whatever the limit.
    fn ends(&mut self, reach: &Reach, step: usize) -> bool;

    /// x after the last step, \[a, k\].
    fn last(&self) -> &[f32];
}

/// The forward pass of an operation; a is the number of participants.
#[derive(Clone, Debug, Default)]
pub struct Forward {
    pub reach: Reach,
    pub outputs: Outputs,
    /// Places with mask 0.
    pub visited: Vec<u32>,
    /// Places that a pointer may be aimed at.
    pub candidates: Vec<u32>,
    /// Scores of the last place that was asked for: one for each candidate, padded with −∞.
    pub scores: Vec<f32>,
}

impl Forward {
    /// Participants, latents, answer and mask logits, queries and keys. Participants are found
    /// `ahead` steps ahead; `limit` is the largest number of steps.
    #[inline(always)]
    pub fn compute<S: Simd>(
        &mut self,
        simd: S,
        context: &StepContext,
        ahead: usize,
        limit: impl Fn(&Reach) -> usize,
        memory: &mut impl Memory,
    ) {
        let (k, weights) = (context.config.k, context.weights);
        let participants = weights.settings.participants;
        self.reach.find(participants, context.pointers, context.operation, ahead);
        self.outputs.encode(simd, context, &self.reach);
        let limit = limit(&self.reach);
        memory.begin(k, &self.reach, limit);
        for step in 1..=limit {
            let rows = memory.step(k, &self.reach, &self.outputs.fixed, step);
            step_forward(simd, k, weights, rows);
            if memory.ends(&self.reach, step) {
                break;
            }
        }
        self.outputs.answer(simd, k, weights, memory.last());
        self.outputs.ask(simd, k, weights);
    }

    /// Notes which places have mask 0, and so which pointers may be aimed where.
    pub fn visit(&mut self, config: &Config, is_visited: impl Fn(usize) -> bool) {
        let places = self.reach.nodes.len();
        self.visited.clear();
        self.visited.extend((0..places as u32).filter(|&place| is_visited(place as usize)));
        candidates(config, &self.visited, places, &mut self.candidates);
    }

    /// Scores all candidates for the node in place i.
    #[inline(always)]
    pub fn score<S: Simd>(&mut self, simd: S, k: usize, i: usize) {
        self.scores.clear();
        self.scores.resize(self.candidates.len().next_multiple_of(LANES), f32::NEG_INFINITY);
        for (score, &j) in self.scores.iter_mut().zip(&self.candidates) {
            *score = self.outputs.score(simd, k, &self.reach, i, j as usize);
        }
    }
}
