//! One sequence unrolled with its ground truth at hand: the forward half of training.
//!
//! Operations are computed by the same functions as in a rollout (`step.rs`, `pointers.rs`), into
//! the buffers of a tape; here are the losses, and which pointers the next operation finds.

use fearless_simd::prelude::*;
use pgn_structures::{Node, Rng, Sequence};

use super::{
    Weights,
    pointers::{Asking, aim, attention_input, list_asking},
    step::{AllSenders, Encoding, Kept, Processing, StepContext, connect, encode, process},
    tape::{PointerTape, Tape},
};
use crate::{
    AttentionInput, Candidates, Config, Example, Forcing, Graph, Losses,
    attention::{gather, keep_visited, scores},
    config::is_default,
    graph::Neighbours,
    kernels::math::{binary_cross_entropy, sigmoid, softmax},
    masks::mask_loss,
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
        weights.encoder.fixed(simd, &config.features, sequence.priorities, &mut tape.fixed);
        if !is_default(&config.input_graph) {
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
                for (kind, pointers) in tape.pointers.iter_mut().enumerate() {
                    let given = if kind == 0 { example.given_after(t) } else { None };
                    let taught = given.unwrap_or_else(|| self.truth(kind, t));
                    pointers.read[(t + 1) * n..][..n].copy_from_slice(taught);
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
            pointers: &tape.pointers[0].read[t * n..][..n],
            fresh: t == 0,
        };
        let z = &mut tape.z[here.clone()];
        let carried = &tape.passes[config.layers - 1].h[here];
        let sent = &mut tape.sent;
        encode(simd, &context, Encoding { first: 0, fixed: &tape.fixed, h: carried, z, sent });
        let channels = config.channels();
        let neighbours = &mut tape.neighbours[t * channels..][..channels];
        let read = tape.pointers.iter().map(|pointers| &pointers.read[t * n..][..n]);
        connect(config, read, &tape.input, neighbours);
        let after = (t + 1) * n * k..(t + 2) * n * k;
        for index in 0..tape.passes.len() {
            let (processor, number) = (index / config.layers, index % config.layers);
            let layer = &weights.layers[processor];
            let (before, from) = tape.passes.split_at_mut(index);
            let pass = &mut from[0];
            let x = if number == 0 { &*z } else { &before[index - 1].h[after.clone()] };
            if index > 0 {
                layer.send(simd, config, x, &mut tape.sent);
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
        let logit = self.weights.decoder.forward(simd, &tape.top[t * 2 * k..][..2 * k]);
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
        let z = &tape.z[t * n * k..][..n * k];
        let last = tape.passes.len() - 1;
        let h = &tape.passes[last].h[(t + 1) * n * k..][..n * k];
        let zh = if tape.zh.is_empty() { &mut [] } else { &mut tape.zh[t * n * w..][..n * w] };
        let keys = attention_input(config, z, h, zh);
        let nodes = &tape.rows[rows.clone()];
        tape.gathered.resize(rows.end * w, 0.0);
        gather(w, keys, nodes, &mut tape.gathered[rows.start * w..]);

        let each = self.scale / (tape.ops * n) as f32;
        tape.alpha_scale[t] = config.losses.pointers * each;
        // The learned type comes last: sums of losses run in this order.
        for kind in (1..config.types()).chain([0]) {
            let PointerTape { read, q, alpha, .. } = &mut tape.pointers[kind];
            q.resize(rows.end * w, 0.0);
            alpha.resize(rows.end * p, 0.0);
            let q = &mut q[rows.start * w..];
            weights.query_keys[kind].forward(simd, &tape.gathered[rows.start * w..], q);
            if config.losses.pointers == 0.0 && (kind > 0 || config.aims_in_training()) {
                continue;
            }
            if config.forcing == Forcing::Sampled {
                read.copy_within(t * n..(t + 1) * n, (t + 1) * n);
            }
            let (next, truth) = (&mut read[(t + 1) * n..][..n], self.truth(kind, t));
            let alphas = alpha[rows.start * p..].chunks_exact_mut(p);
            for ((&node, q), alpha) in nodes.iter().zip(q.chunks_exact(w)).zip(alphas) {
                scores(simd, q, keys, alpha);
                if config.candidates == Candidates::Visited {
                    keep_visited(&mut alpha[..n], node, |j| mask[j] == 0);
                }
                let target = if config.forcing == Forcing::Sampled {
                    softmax(simd, alpha);
                    let target = sample(&alpha[..n], noise);
                    next[node as usize] = target;
                    tape.log_probability[t] += each * libm::logf(alpha[target as usize]);
                    target
                } else {
                    let target = truth[node as usize];
                    let score = alpha[target as usize];
                    losses.pointers += f64::from(each) * f64::from(softmax(simd, alpha) - score);
                    target
                };
                alpha[target as usize] -= 1.0;
            }
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
        let keys = match config.attention_input {
            AttentionInput::H => {
                let last = tape.passes.len() - 1;
                &tape.passes[last].h[(t + 1) * n * k..][..n * k]
            }
            AttentionInput::Zh => &tape.zh[t * n * w..][..n * w],
        };
        let is_by_own_masks = config.forcing == Forcing::Free && config.heeds_masks();
        if is_by_own_masks {
            tape.aiming.ask(config, &tape.mask_logits[t * tape.padded..][..n], keys);
        }
        // Otherwise, the nodes that the pointer loss asks.
        let asked = tape.row_starts[t]..tape.row_starts[t + 1];
        let (rows, gathered) = (&tape.rows[asked.clone()], asked.start * w..asked.end * w);
        for (kind, PointerTape { read, q, .. }) in tape.pointers.iter_mut().enumerate() {
            read.copy_within(t * n..(t + 1) * n, (t + 1) * n);
            let next = &mut read[(t + 1) * n..][..n];
            if is_by_own_masks {
                let query_key = &weights.query_keys[kind];
                tape.aiming.aim(simd, config, query_key, keys, next, |_, _| {});
            } else {
                let (gathered, q) = (&tape.gathered[gathered.clone()], &q[gathered.clone()]);
                let asking = Asking { rows, gathered, q, keys };
                aim(simd, config, asking, next, &mut tape.aiming.best, |_, _| {});
            }
        }
    }

    /// Where a pointer type points after operation t.
    fn truth(&self, kind: usize, t: usize) -> &[Node] {
        let (sequence, n) = (&self.example.sequence, self.example.sequence.nodes());
        if kind == 0 {
            return sequence.pointers_after(t);
        }
        // `Example::check` has found all of them.
        let field = sequence.fields.pointer(&self.config.pointer_types[kind - 1]);
        field.map_or(&[], |field| &field[t * n..][..n])
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
