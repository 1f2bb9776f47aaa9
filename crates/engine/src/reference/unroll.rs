//! Training: a sequence unrolled beside its ground truth, and its losses.

use pgn_structures::{Rng, Sequence};

use super::{
    Margin, best,
    net::Net,
    step::{Layers, Step, binary_cross_entropy, softmax},
};
use crate::{Config, Forcing, Pointers, streams};

#[cfg(doc)]
use crate::TrainerOptions;

/// The losses, each unweighted, and their weighted sum.
#[derive(Clone, Copy, Debug, Default)]
pub struct Losses {
    /// Of the answers, mean over operations.
    pub query: f64,
    /// Of the pointers, divided by operations × nodes.
    pub pointers: f64,
    /// Of the masks, divided by operations × nodes.
    pub masks: f64,
    /// The DGM reward loss.
    pub dgm: f64,
    /// The weighted sum.
    pub total: f64,
    /// Right answers.
    pub right: u64,
}

/// A node that is asked where it points: α and the node whose log-probability enters a loss.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its pointer type.
    pub kind: usize,
    /// The node.
    pub node: usize,
    /// α, \[n\].
    pub alpha: Vec<f64>,
    /// The true pointer, or the sampled one.
    pub target: usize,
}

/// A step with its truth.
#[derive(Clone, Debug)]
pub struct Taught {
    /// What it computed.
    pub step: Step,
    /// The nodes whose pointers enter a loss.
    pub asked: Vec<Asked>,
    /// ∂total / ∂ log α(target), the same for all that were asked.
    pub weight: f64,
}

/// What no derivative sees: pointers the model chose, and which answers were right (the reward).
#[derive(Clone, Debug, PartialEq)]
pub struct Decisions {
    /// After every operation.
    pub pointers: Vec<Vec<usize>>,
    /// By operation.
    pub right: Vec<bool>,
}

/// An unrolled sequence.
#[derive(Clone, Debug)]
pub struct Unrolled {
    /// By operation.
    pub steps: Vec<Taught>,
    /// Of the sequence.
    pub losses: Losses,
    /// What was chosen on the way.
    pub decisions: Decisions,
    /// The closest of all comparisons.
    pub margin: Margin,
}

/// What a sequence's loss depends on beside the sequence.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Sequences in the batch.
    pub batch: usize,
    /// The number of this one.
    pub index: usize,
    /// The baseline of the DGM reward.
    pub running_accuracy: f64,
    /// As in [`TrainerOptions`].
    pub seed: u64,
    /// Steps of Adam so far.
    pub adam_steps: u64,
    /// How likely an operation is teacher-forced where forcing is own or free.
    pub teacher_probability: f32,
}

/// Unrolls a sequence that fits the config beside its truth: teacher forcing, or the model's own,
/// free or sampled pointers ([`Forcing`]). With `fixed` decisions, those are taken instead of the
/// model's own.
pub fn unroll(
    config: &Config,
    net: &Net,
    sequence: Sequence,
    share: Share,
    fixed: Option<&Decisions>,
) -> Unrolled {
    let layers = Layers::new(config, net);
    let (n, ops) = (sequence.nodes(), sequence.ops());
    let per_step = 1.0 / (share.batch * ops) as f64;
    let per_node = per_step / n as f64;
    let weights = config.losses;
    // The key documented at `TrainerOptions::seed`'s use: one stream a sequence and step of Adam.
    let key = [share.seed, streams::NOISE.number(), share.adam_steps, share.index as u64];
    let mut noise = Rng::new(key);
    let key = [share.seed, streams::FORCING.number(), share.adam_steps, share.index as u64];
    let mut forcing = Rng::new(key);
    let mut losses = Losses::default();
    let mut decisions = Decisions { pointers: Vec::new(), right: Vec::new() };
    let mut margin = Margin::default();
    let mut steps: Vec<Taught> = Vec::new();
    // The pointers of all types, one after the other.
    let kinds = 1 + config.pointer_types.len();
    let mut read: Vec<usize> = (0..kinds * n).map(|place| place % n).collect();
    let mut h = vec![vec![0.0; config.k]; n];
    for t in 0..ops {
        let operation = sequence.operations[t];
        let applied = config.layers;
        let step = Step::new(config, &layers, sequence, operation, &read, h, applied);
        margin.join(step.margin);
        h = step.h.clone();

        let answer = sequence.answers[t];
        losses.query += per_step * binary_cross_entropy(step.logit, answer);
        let right = fixed.map_or((step.logit > 0.0) == (answer == 1), |fixed| fixed.right[t]);
        if config.forcing == Forcing::Sampled {
            margin.decide(step.logit.abs());
        }
        losses.right += u64::from(right);
        decisions.right.push(right);

        let mask = sequence.mask(t);
        for (&logit, &target) in step.mask_logits.iter().zip(mask) {
            losses.masks +=
                per_node * mask_weight(config, target) * binary_cross_entropy(logit, target);
        }

        // Who is asked for a pointer: the visited nodes, or everyone where there are no masks.
        let visited: Vec<bool> = mask.iter().map(|&mask| mask == 0).collect();
        let everyone = config.pointers == Pointers::Every || !config.has_masks();
        let mut next = read.clone();
        let mut asked = Vec::new();
        let truths = true_pointers(config, sequence, t);
        for place in 0..kinds * n {
            let (kind, node) = (place / n, place % n);
            if !config.has_attention() || !everyone && !visited[node] {
                continue;
            }
            let scores = step.candidate_scores(config, kind, node, &visited);
            let alpha = softmax(&scores);
            let truth = truths[place];
            let target = if config.forcing == Forcing::Sampled {
                let (choice, lead) = draw(&alpha, noise.unit_f32().into());
                margin.decide(lead);
                next[node] = fixed.map_or(choice, |fixed| fixed.pointers[t][node]);
                next[node]
            } else {
                truth
            };
            asked.push(Asked { kind, node, alpha, target });
        }
        let log_alpha: f64 = asked.iter().map(|asked| asked.alpha[asked.target].ln()).sum();
        let mut weight = 0.0;
        if config.forcing != Forcing::Sampled && config.losses.pointers > 0.0 {
            losses.pointers -= per_node * log_alpha;
            weight = -f64::from(weights.pointers) * per_node;
        }
        steps.push(Taught { step, asked, weight });
        if config.forcing == Forcing::Sampled && t > 0 {
            // The pointers drawn after the step before were read in this one.
            let reward = share.running_accuracy - if right { 1.0 } else { 0.0 };
            let before = &mut steps[t - 1];
            let log_alpha: f64 =
                before.asked.iter().map(|asked| asked.alpha[asked.target].ln()).sum();
            losses.dgm += reward * per_node * log_alpha;
            before.weight = f64::from(weights.dgm) * reward * per_node;
        }

        // Whose pointers the next operation finds.
        let taught = match config.forcing {
            Forcing::Teacher => true,
            Forcing::Sampled => false,
            Forcing::Own | Forcing::Free => {
                share.teacher_probability > 0.0 && forcing.unit_f32() < share.teacher_probability
            }
        };
        if matches!(config.forcing, Forcing::Own | Forcing::Free) && !taught {
            let step = &steps[t].step;
            let mut moves = visited;
            if config.forcing == Forcing::Free && !everyone {
                step.mask_logits.iter().for_each(|logit| margin.decide(logit.abs()));
                moves = step.mask_logits.iter().map(|&logit| logit <= 0.0).collect();
            }
            for place in (0..kinds * n).filter(|place| everyone || moves[place % n]) {
                let scores = step.candidate_scores(config, place / n, place % n, &moves);
                let (choice, lead) = best(&scores);
                margin.decide(lead);
                next[place] = choice;
            }
        }
        read = match (taught, fixed) {
            (true, _) => truths,
            (_, Some(fixed)) => fixed.pointers[t].clone(),
            (_, None) => next,
        };
        decisions.pointers.push(read.clone());
    }
    losses.total = f64::from(weights.query) * losses.query
        + f64::from(weights.pointers) * losses.pointers
        + f64::from(weights.masks) * losses.masks
        + f64::from(weights.dgm) * losses.dgm;
    Unrolled { steps, losses, decisions, margin }
}

/// How many times a node with this mask counts in the mask loss.
pub(super) fn mask_weight(config: &Config, mask: u8) -> f64 {
    if mask == 0 { config.visited_weight.into() } else { 1.0 }
}

/// The true pointers after operation t, of all types, one after the other.
pub(super) fn true_pointers(config: &Config, sequence: Sequence, t: usize) -> Vec<usize> {
    let mut all = sequence.pointers_after(t).to_vec();
    for name in &config.pointer_types {
        all.extend_from_slice(sequence.fields_after(t).pointer(name).unwrap_or_default());
    }
    all.into_iter().map(|node| node as usize).collect()
}

/// The node at which the running sum of α passes `uniform`, and how far that is from any sum.
fn draw(alpha: &[f64], uniform: f64) -> (usize, f64) {
    let mut sum = 0.0;
    let mut lead = f64::INFINITY;
    let mut choice = None;
    for (j, probability) in alpha.iter().enumerate() {
        sum += probability;
        lead = lead.min((sum - uniform).abs());
        if choice.is_none() && sum > uniform {
            choice = Some(j);
        }
    }
    (choice.unwrap_or(alpha.len() - 1), lead)
}
