//! One sequence unrolled with its ground truth at hand: the forward half of training.
//!
//! Operations are computed by the same functions as in a rollout (`step.rs`, `pointers.rs`), into
//! the buffers of a tape; here are the losses, and which pointers the next operation finds.

use fearless_simd::prelude::*;
use pgn_structures::{Node, Rng, Sequence};

use super::{
    Weights,
    pointers::{Asking, aim, ask, attention_input, list_asking},
    step::{AllSenders, Encoding, Kept, Processing, StepContext, answer, encode, process, send},
    tape::Tape,
};
use crate::{
    AttentionInput, Candidates, Config, Example, Forcing, Graph, InputGraph, Losses,
    attention::{keep_visited, queries, scores},
    features::fixed_part,
    graph::Neighbours,
    kernels::math::{binary_cross_entropy, sigmoid, softmax},
    readout::mask_loss,
};

/// Random numbers of one sequence in one step of Adam.
pub struct Draws {
    /// Where sampled pointers come from.
    pub noise: Rng,
    /// Where it comes from which operations are teacher-forced …
    pub forcing: Rng,
    /// … and how likely it is.
    pub teacher_probability: f32,
}

impl Draws {
    /// Whether the next operation finds the teacher's pointers, whatever the model would aim at.
    fn teaches(&mut self, config: &Config) -> bool {
        match config.forcing {
            Forcing::Teacher => true,
            Forcing::Sampled => false,
            Forcing::Own | Forcing::Free => {
                self.teacher_probability > 0.0 && self.forcing.unit_f32() < self.teacher_probability
            }
        }
    }
}

/// One sequence of a batch.
pub struct Unroll<'a> {
    pub config: &'a Config,
    pub weights: &'a Weights,
    pub example: Example<'a>,
    /// 1 / the number of sequences in the batch.
    pub scale: f32,
    /// Running accuracy of the answers, the baseline of the DGM reward.
    pub running_accuracy: f32,
}

impl Unroll<'_> {
    /// Unrolls the sequence; its losses are returned, and their gradients with respect to all
    /// logits are left on the tape.
    #[inline(always)]
    pub fn forward<S: Simd>(&self, simd: S, mut draws: Draws, tape: &mut Tape) -> Losses {
        let Unroll { config, weights, example, .. } = *self;
        let sequence = example.sequence;
        let (n, ops) = (sequence.nodes(), sequence.ops());
        tape.fit(config, weights.layers[0].width, n, ops);
        let (columns, bias) = (&weights.encoder_e, &weights.encoder_bias);
        fixed_part(simd, &config.features, columns, bias, sequence.priorities, &mut tape.fixed);
        if !config.input_graph.is_default() {
            tape.input = Neighbours::of_edges(n, sequence.edges);
        }
        let mut losses = Losses::default();
        for t in 0..ops {
            self.latents(simd, t, tape);
            self.answer_loss(simd, t, tape, &mut losses);
            if config.has_masks() {
                self.mask_loss(simd, t, tape, &mut losses);
            }
            let is_taught = draws.teaches(config);
            if config.has_attention() {
                let noise = &mut draws.noise;
                self.pointers(simd, t, noise, tape, &mut losses);
                if config.aims_in_training() && !is_taught {
                    self.aim(simd, t, tape);
                }
            }
            if is_taught {
                tape.read[(t + 1) * n..][..n].copy_from_slice(example.taught_after(t));
                for number in 0..tape.extra.len() {
                    let truth = self.extra_truth(number, t);
                    tape.extra[number].read[(t + 1) * n..][..n].copy_from_slice(truth);
                }
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
        let Unroll { config, weights, .. } = *self;
        let (k, n) = (config.k, tape.n);
        let here = t * n * k..(t + 1) * n * k;
        let context = StepContext {
            config,
            weights,
            operation: self.sequence().operations[t],
            pointers: &tape.read[t * n..][..n],
            fresh: t == 0,
        };
        let z = &mut tape.z[here.clone()];
        let carried = &tape.passes[config.layers - 1].h[here];
        let sent = &mut tape.sent;
        encode(simd, &context, Encoding { first: 0, fixed: &tape.fixed, h: carried, z, sent });
        let channels = config.channels();
        let neighbours = &mut tape.neighbours[t * channels..][..channels];
        neighbours[0].rebuild(config.graph, context.pointers);
        for (extra, neighbours) in tape.extra.iter().zip(&mut neighbours[1..]) {
            neighbours.rebuild(config.graph, &extra.read[t * n..][..n]);
        }
        match config.input_graph {
            InputGraph::None => {}
            InputGraph::Edges => neighbours[0].merge(&tape.input),
            InputGraph::Head => neighbours[channels - 1].copy(&tape.input),
        }
        let after = (t + 1) * n * k..(t + 2) * n * k;
        for index in 0..tape.passes.len() {
            let (processor, number) = (index / config.layers, index % config.layers);
            let layer = &weights.layers[processor];
            let (before, from) = tape.passes.split_at_mut(index);
            let pass = &mut from[0];
            let x = if number == 0 { &*z } else { &before[index - 1].h[after.clone()] };
            if index > 0 {
                send(simd, config, layer, x, &mut tape.sent);
            }
            if config.graph == Graph::Complete {
                let messages = config.message_aggregation;
                let each = messages.source_count(config.graph, n, k);
                let sources = &mut pass.sources[t * each..][..each];
                messages.send_to_all(simd, &tape.sent, &mut tape.by_all, sources);
            }
            let senders = AllSenders { neighbours, sent: &tape.sent, by_all: &tape.by_all };
            let is_last = number + 1 == config.layers;
            let reads_answer = is_last && processor == 0;
            let reads_masks = is_last && processor + 1 == config.processors();
            let masks = t * tape.padded..t * tape.padded + if reads_masks { n } else { 0 };
            let top = t * 2 * k..t * 2 * k + if reads_answer { 2 * k } else { 0 };
            let block = Processing {
                first: 0,
                x,
                h: &mut pass.h[after.clone()],
                z,
                mask_logits: &mut tape.mask_logits[masks],
                top: &mut tape.top[top.clone()],
            };
            let mut kept = Kept {
                m: &mut pass.m,
                sources: &mut pass.sources,
                top_sources: &mut tape.top_sources[top],
                t,
                ops: tape.ops,
                nodes: n,
            };
            process(simd, &context, layer, senders, block, &mut kept, &mut tape.scratch);
        }
        config.readout_aggregation.finish(n, &mut tape.top[t * 2 * k..][..2 * k]);
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
        let loss = mask_loss(simd, self.config, share, logits, self.sequence().mask(t), gradient);
        losses.masks += f64::from(share) * loss;
    }

    /// Equation 6, the pointer and DGM losses, and sampled pointers.
    #[inline(always)]
    fn pointers<S: Simd>(
        &self,
        simd: S,
        t: usize,
        noise: &mut Rng,
        tape: &mut Tape,
        losses: &mut Losses,
    ) {
        let Unroll { config, weights, .. } = *self;
        let (k, w, n, p) = (config.k, config.attention_width(), tape.n, tape.padded);
        // Only nodes that the operation visited are re-aimed, by the truth's masks.
        let mask = self.sequence().mask(t);
        let first = tape.rows.len();
        list_asking(config, n, |i| mask[i] == 1, &mut tape.rows);
        let rows = first..tape.rows.len();
        tape.row_starts.push(rows.end);
        if config.forcing == Forcing::Sampled {
            tape.read.copy_within(t * n..(t + 1) * n, (t + 1) * n);
        }
        tape.gathered.resize(rows.end * w, 0.0);
        tape.q.resize(rows.end * w, 0.0);
        let z = &tape.z[t * n * k..][..n * k];
        let last = tape.passes.len() - 1;
        let h = &tape.passes[last].h[(t + 1) * n * k..][..n * k];
        let zh = if tape.zh.is_empty() { &mut [] } else { &mut tape.zh[t * n * w..][..n * w] };
        let keys = attention_input(config, z, h, zh);
        let (gathered, q) = (&mut tape.gathered[rows.start * w..], &mut tape.q[rows.start * w..]);
        let asking = ask(simd, weights, &tape.rows[rows.clone()], keys, gathered, q);

        let each = self.scale / (tape.ops * n) as f32;
        tape.alpha_scale[t] = config.losses.pointers * each;
        tape.alpha.resize(rows.end * p, 0.0);
        for (number, extra) in tape.extra.iter_mut().enumerate() {
            extra.q.resize(rows.end * w, 0.0);
            extra.alpha.resize(rows.end * p, 0.0);
            let (fold, q) = (&weights.query_keys[number + 1], &mut extra.q[rows.start * w..]);
            queries(simd, w, &fold.forward, asking.gathered, q);
            if config.losses.pointers == 0.0 {
                continue;
            }
            let truth = self.extra_truth(number, t);
            let alphas = extra.alpha[rows.start * p..].chunks_exact_mut(p);
            for ((&node, q), alpha) in asking.rows.iter().zip(q.chunks_exact(w)).zip(alphas) {
                scores(simd, q, keys, alpha);
                if config.candidates == Candidates::Visited {
                    keep_visited(&mut alpha[..n], node, |j| mask[j] == 0);
                }
                let target = truth[node as usize] as usize;
                let score = alpha[target];
                losses.pointers += f64::from(each) * f64::from(softmax(simd, alpha) - score);
                alpha[target] -= 1.0;
            }
        }
        if config.aims_in_training() && config.losses.pointers == 0.0 {
            return;
        }
        let next = &mut tape.read[(t + 1) * n..][..n];
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

    /// The pointers of models that aim their own in training (equation 7).
    #[inline(always)]
    fn aim<S: Simd>(&self, simd: S, t: usize, tape: &mut Tape) {
        let Unroll { config, weights, .. } = *self;
        let (k, w, n) = (config.k, config.attention_width(), tape.n);
        tape.read.copy_within(t * n..(t + 1) * n, (t + 1) * n);
        let next = &mut tape.read[(t + 1) * n..][..n];
        let keys = match config.attention_input {
            AttentionInput::H => {
                let last = tape.passes.len() - 1;
                &tape.passes[last].h[(t + 1) * n * k..][..n * k]
            }
            AttentionInput::Zh => &tape.zh[t * n * w..][..n * w],
        };
        if config.forcing == Forcing::Free && config.heeds_masks() {
            let masks = &tape.mask_logits[t * tape.padded..][..n];
            tape.aiming.ask(simd, config, weights, masks, keys);
            tape.aiming.aim(simd, config, keys, next, |_, _| {});
            for (extra, fold) in tape.extra.iter_mut().zip(&weights.query_keys[1..]) {
                extra.read.copy_within(t * n..(t + 1) * n, (t + 1) * n);
                let next = &mut extra.read[(t + 1) * n..][..n];
                tape.aiming.aim_extra(simd, config, fold, keys, next, |_, _| {});
            }
        } else {
            // The nodes that the pointer loss asks.
            let rows = tape.row_starts[t]..tape.row_starts[t + 1];
            let asking = Asking {
                rows: &tape.rows[rows.clone()],
                gathered: &tape.gathered[rows.start * w..rows.end * w],
                q: &tape.q[rows.start * w..rows.end * w],
                keys,
            };
            aim(simd, config, asking, next, (&mut tape.aiming.best, None), |_, _| {});
            for extra in &mut tape.extra {
                extra.read.copy_within(t * n..(t + 1) * n, (t + 1) * n);
                let next = &mut extra.read[(t + 1) * n..][..n];
                let asking = Asking { q: &extra.q[rows.start * w..rows.end * w], ..asking };
                aim(simd, config, asking, next, (&mut tape.aiming.best, None), |_, _| {});
            }
        }
    }

    /// Where an extra pointer type points after operation t.
    fn extra_truth(&self, number: usize, t: usize) -> &[Node] {
        let (n, fields) = (self.sequence().nodes(), self.example.sequence.fields);
        let name = &self.config.pointer_types[number];
        // `Example::check` has found all of them.
        fields.pointer(name).map_or(&[], |field| &field[t * n..][..n])
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
