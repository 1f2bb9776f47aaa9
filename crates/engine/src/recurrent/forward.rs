//! One sequence unrolled with its ground truth at hand: the forward half of training.
//!
//! Operations are computed by the same functions as in a rollout (`step.rs`, `pointers.rs`), into
//! the buffers of a tape; here are the losses, and which pointers the next operation finds.

use fearless_simd::prelude::*;
use pgn_structures::{Rng, Sequence};

use super::{
    Weights,
    pointers::{Asking, aim, ask, attention_input, list_asking},
    step::{Encoding, Kept, Processing, StepContext, answer, encode, process},
    tape::Tape,
};
use crate::{
    Candidates, Config, Example, Forcing, Graph, Losses,
    aggregation::Senders,
    attention::{keep_visited, scores},
    features::fixed_part,
    kernels::math::{binary_cross_entropies, binary_cross_entropy, sigmoid, softmax},
};

/// One sequence of a batch.
pub struct Lesson<'a> {
    pub config: &'a Config,
    pub weights: &'a Weights,
    pub example: Example<'a>,
    /// 1 / the number of sequences in the batch.
    pub scale: f32,
    /// Running accuracy of the answers, the baseline of the DGM reward.
    pub running_accuracy: f32,
}

impl Lesson<'_> {
    /// Unrolls the sequence; its losses are returned, and their gradients with respect to all
    /// logits are left on the tape. `noise` is where sampled pointers come from.
    #[inline(always)]
    pub fn forward<S: Simd>(&self, simd: S, noise: &mut Rng, tape: &mut Tape) -> Losses {
        let Lesson { config, weights, example, .. } = *self;
        let sequence = example.sequence;
        let (n, ops) = (sequence.nodes(), sequence.ops());
        tape.fit(config, weights.mix_width, n, ops);
        let (columns, bias) = (&weights.encoder_e, &weights.encoder_bias);
        fixed_part(simd, &config.features, columns, bias, sequence.priorities, &mut tape.fixed);
        let mut losses = Losses::default();
        for t in 0..ops {
            self.latents(simd, t, tape);
            self.answer_loss(simd, t, tape, &mut losses);
            if config.has_masks() {
                self.mask_loss(simd, t, tape, &mut losses);
            }
            if config.has_attention() {
                self.pointers(simd, t, noise, tape, &mut losses);
            }
            if config.forcing == Forcing::Teacher {
                tape.read[(t + 1) * n..][..n].copy_from_slice(example.taught_after(t));
            }
        }
        losses
    }

    fn sequence(&self) -> Sequence<'_> {
        self.example.sequence
    }

    /// Equations 1, 2, 8, 3 and 4.
    #[inline(always)]
    fn latents<S: Simd>(&self, simd: S, t: usize, tape: &mut Tape) {
        let Lesson { config, weights, .. } = *self;
        let (k, n) = (config.k, tape.n);
        let here = t * n * k..(t + 1) * n * k;
        let (h_before, h_after) = tape.h.split_at_mut(here.end);
        let context = StepContext {
            config,
            weights,
            operation: self.sequence().operations[t],
            pointers: &tape.read[t * n..][..n],
            fresh: t == 0,
        };
        let z = &mut tape.z[here.clone()];
        encode(
            simd,
            &context,
            Encoding {
                first: 0,
                fixed: &tape.fixed,
                h: &h_before[here.start..],
                z,
                sent: &mut tape.sent,
            },
        );
        let each = config.message_aggregation().source_count(config.graph, n, k);
        let sources = &mut tape.sources[t * each..][..each];
        if config.graph == Graph::Complete {
            let messages = config.message_aggregation();
            messages.send_to_all(simd, &tape.sent, &mut tape.by_all, &mut *sources);
        }
        let neighbours = &mut tape.neighbours[t];
        neighbours.rebuild(config.graph, context.pointers);
        let senders =
            Senders { graph: config.graph, neighbours, sent: &tape.sent, by_all: &tape.by_all };
        let block = Processing {
            first: 0,
            z,
            h: &mut h_after[..n * k],
            mask_logits: &mut tape.mask_logits[t * tape.padded..][..n],
            top: &mut tape.top[t * 2 * k..][..2 * k],
        };
        let mut kept = Kept {
            m: &mut tape.m[here],
            sources,
            top_sources: &mut tape.top_sources[t * 2 * k..][..2 * k],
        };
        process(simd, &context, senders, block, &mut kept, &mut tape.scratch);
    }

    /// Equation 3 and the query loss.
    #[inline(always)]
    fn answer_loss<S: Simd>(&self, simd: S, t: usize, tape: &mut Tape, losses: &mut Losses) {
        let k = self.config.k;
        let logit = answer(simd, self.weights, &tape.top[t * 2 * k..][..2 * k]);
        let truth = self.sequence().answers[t] == 1;
        let share = self.scale / tape.ops as f32;
        losses.query += f64::from(share) * binary_cross_entropy(logit, truth);
        losses.right += u64::from((logit > 0.0) == truth);
        tape.query_logits[t] = logit;
        let target = if truth { 1.0 } else { 0.0 };
        tape.d_query[t] = self.config.losses.query * share * (sigmoid(logit) - target);
    }

    /// The mask loss.
    #[inline(always)]
    fn mask_loss<S: Simd>(&self, simd: S, t: usize, tape: &mut Tape, losses: &mut Losses) {
        let (n, p) = (tape.n, tape.padded);
        let logits = &tape.mask_logits[t * p..][..p];
        let share = self.scale / (tape.ops * n) as f32;
        let gradient = &mut tape.d_mask[t * p..][..p];
        let weight = self.config.losses.masks * share;
        let loss = binary_cross_entropies(simd, logits, self.sequence().mask(t), weight, gradient);
        losses.masks += f64::from(share) * loss;
    }

    /// Equation 6, the pointer and DGM losses, and the pointers of models that aim their own while
    /// training.
    #[inline(always)]
    fn pointers<S: Simd>(
        &self,
        simd: S,
        t: usize,
        noise: &mut Rng,
        tape: &mut Tape,
        losses: &mut Losses,
    ) {
        let Lesson { config, weights, .. } = *self;
        let (k, w, n, p) = (config.k, config.attention_width(), tape.n, tape.padded);
        // Only nodes that the operation visited are re-aimed, by the truth's masks.
        let mask = self.sequence().mask(t);
        let first = tape.rows.len();
        list_asking(config, n, |i| mask[i] == 1, &mut tape.rows);
        let rows = first..tape.rows.len();
        tape.row_starts.push(rows.end);
        if config.forcing != Forcing::Teacher {
            let (before, after) = tape.read.split_at_mut((t + 1) * n);
            after[..n].copy_from_slice(&before[t * n..]);
        }
        tape.gathered.resize(rows.end * w, 0.0);
        tape.q.resize(rows.end * w, 0.0);
        let (z, h) = (&tape.z[t * n * k..][..n * k], &tape.h[(t + 1) * n * k..][..n * k]);
        let zh = if tape.zh.is_empty() { &mut [] } else { &mut tape.zh[t * n * w..][..n * w] };
        let keys = attention_input(config, z, h, zh);
        let (gathered, q) = (&mut tape.gathered[rows.start * w..], &mut tape.q[rows.start * w..]);
        let asking = ask(simd, weights, &tape.rows[rows.clone()], keys, gathered, q);

        let next = &mut tape.read[(t + 1) * n..][..n];
        if config.forcing == Forcing::Own {
            aim(simd, config, asking, next, &mut tape.best, |_, _| {});
        }
        let each = self.scale / (tape.ops * n) as f32;
        tape.alpha_scale[t] = config.losses.pointers * each;
        tape.alpha.resize(rows.end * p, 0.0);
        if config.forcing == Forcing::Own && config.losses.pointers == 0.0 {
            return;
        }
        let truth = self.sequence().pointers_after(t);
        let Asking { rows: nodes, q, .. } = asking;
        let alphas = tape.alpha[rows.start * p..].chunks_exact_mut(p);
        for ((&node, q), alpha) in nodes.iter().zip(q.chunks_exact(w)).zip(alphas) {
            scores(simd, q, keys, alpha);
            if config.candidates == Candidates::Visited {
                keep_visited(&mut alpha[..n], node, |j| mask[j] == 0);
            }
            let target = if config.forcing == Forcing::Sampled {
                softmax(simd, alpha);
                let target = sample(&alpha[..n], noise);
                next[node as usize] = target;
                tape.log_probability[t] += each * alpha[target as usize].ln();
                target
            } else {
                let target = truth[node as usize];
                let score = alpha[target as usize];
                losses.pointers += f64::from(each) * f64::from(softmax(simd, alpha) - score);
                target
            };
            alpha[target as usize] -= 1.0;
        }
        if config.forcing == Forcing::Sampled && t > 0 {
            // The pointers sampled after operation t − 1 were read in operation t: whether its
            // answer was right is their reward. The loss is (running accuracy − right) · log α, and
            // log α has gradient target − α, hence the sign.
            let right = (tape.query_logits[t] > 0.0) == (self.sequence().answers[t] == 1);
            let reward = self.running_accuracy - if right { 1.0 } else { 0.0 };
            tape.alpha_scale[t - 1] = -config.losses.dgm * reward * each;
            losses.dgm += f64::from(reward * tape.log_probability[t - 1]);
        }
    }
}

/// Draws from α with one uniform number: the same distribution as Gumbel noise and an argmax.
fn sample(alpha: &[f32], noise: &mut Rng) -> u32 {
    let mut rest = noise.unit_f32();
    for (j, &probability) in alpha.iter().enumerate() {
        rest -= probability;
        if rest < 0.0 {
            return j as u32;
        }
    }
    // Rounding may leave a little over: the last node that could have been drawn.
    alpha.iter().rposition(|&probability| probability > 0.0).unwrap_or(0) as u32
}
