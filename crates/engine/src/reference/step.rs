//! One operation, equation by equation: every message between every pair of neighbours, and the
//! score of every node for every node.

use pgn_structures::{Node, Operation, Sequence};

use super::{
    Margin, Rows, best, concat,
    net::{Linear, Net},
};
use crate::{Aggregation, AttentionInput, Candidates, Config, Graph, InputGraph};

/// The layers of a net.
#[derive(Clone, Debug)]
pub struct Layers {
    encoder: Linear,
    /// Messages of every channel, and the update; of the second processor too, if there is one.
    processors: Vec<(Vec<Linear>, Linear)>,
    decoder: Linear,
    mask: Option<Linear>,
    /// Of each pointer type; empty without attention.
    query_key: Vec<(Linear, Linear)>,
}

impl Layers {
    /// Those of a model with this config.
    pub fn new(config: &Config, net: &Net) -> Layers {
        let processor = |(messages, update): (Vec<&str>, &str)| {
            (messages.iter().map(|name| net.linear(name)).collect(), net.linear(update))
        };
        let query_key = |(query, key): (&str, &str)| (net.linear(query), net.linear(key));
        Layers {
            encoder: net.linear("encoder"),
            processors: processors(config).into_iter().map(processor).collect(),
            decoder: net.linear("decoder"),
            mask: config.has_masks().then(|| net.linear("mask")),
            query_key: attention(config).into_iter().map(query_key).collect(),
        }
    }
}

/// The names of each processor's layers: messages of every channel, and update.
pub(super) fn processors(config: &Config) -> Vec<(Vec<&'static str>, &'static str)> {
    let own = ["message", "message.2", "message.3", "message.4"];
    let second = ["pointer.message", "pointer.message.2", "pointer.message.3", "pointer.message.4"];
    let channels =
        1 + config.pointer_types.len() + usize::from(config.input_graph == InputGraph::Channel);
    let mut processors = vec![(own[..channels].to_vec(), "update")];
    if config.pointer_processor {
        processors.push((second[..channels].to_vec(), "pointer.update"));
    }
    processors
}

/// The names of query and key of each pointer type.
pub(super) fn attention(config: &Config) -> Vec<(&'static str, &'static str)> {
    let all = [("query", "key"), ("query.2", "key.2"), ("query.3", "key.3"), ("query.4", "key.4")];
    match config.has_attention() {
        true => all[..1 + config.pointer_types.len()].to_vec(),
        false => Vec::new(),
    }
}

fn relu(x: f64) -> f64 {
    if x > 0.0 { x } else { 0.0 }
}

/// Equation 1: zᵢ = encoder\[eᵢ ‖ hᵢ\], with e \[n, m\] and h \[n, k\]; h is \[n, 0\] where nothing is
/// carried.
pub fn encode(encoder: &Linear, e: &Rows, h: &Rows) -> Rows {
    e.iter().zip(h).map(|(e, h)| encoder.apply(&concat(e, h))).collect()
}

/// Equation 7: whether node i reads node j.
pub fn is_neighbour(graph: Graph, pointers: &[usize], i: usize, j: usize) -> bool {
    match graph {
        Graph::Complete => true,
        Graph::SelfOnly => i == j,
        Graph::Symmetric => pointers[i] == j || pointers[j] == i,
        Graph::Directed => pointers[i] == j,
    }
}

/// What a node aggregated: each sender, and by how much its message before the ReLU moves m, \[k\].
pub type Aggregated = Vec<(usize, Vec<f64>)>;

/// One application of a processor.
#[derive(Clone, Debug)]
pub struct Pass {
    /// What it read, \[n, k\]: z, or h of the application before.
    pub x: Rows,
    /// By channel, of every node.
    pub aggregated: Vec<Vec<Aggregated>>,
    /// By channel, \[n, k\].
    pub m: Vec<Rows>,
    /// \[n, k\]
    pub h: Rows,
}

/// Equations 2 and 8: mᵢ = maxⱼ ReLU(message\[xᵢ ‖ xⱼ\]) over the neighbours j of i, in each channel;
/// hᵢ = ReLU(update\[xᵢ ‖ mᵢ\]). `reads(channel, i, j)` says who is whose neighbour.
pub fn process(
    how: Aggregation,
    (messages, update): &(Vec<Linear>, Linear),
    x: Rows,
    reads: impl Fn(usize, usize, usize) -> bool,
    margin: &mut Margin,
) -> Pass {
    let n = x.len();
    let (mut aggregated, mut all_m) = (Vec::new(), Vec::new());
    for (channel, message) in messages.iter().enumerate() {
        let (mut of_nodes, mut m) = (Vec::new(), Vec::new());
        for i in 0..n {
            let neighbours: Vec<usize> = (0..n).filter(|&j| reads(channel, i, j)).collect();
            let sent: Rows =
                neighbours.iter().map(|&j| message.apply(&concat(&x[i], &x[j]))).collect();
            let (value, shares) = aggregate(how, &sent, x[i].len(), margin);
            m.push(value);
            of_nodes.push(neighbours.into_iter().zip(shares).collect());
        }
        aggregated.push(of_nodes);
        all_m.push(m);
    }
    let inputs =
        |i: usize| all_m.iter().fold(x[i].clone(), |parts, m: &Rows| concat(&parts, &m[i]));
    let mut h: Rows = (0..n).map(|i| update.apply(&inputs(i))).collect();
    for value in h.iter_mut().flatten() {
        margin.decide(value.abs());
        *value = relu(*value);
    }
    Pass { x, aggregated, m: all_m, h }
}

/// m of some messages before their ReLU, \[k\] each, and by how much each of them moves it.
pub fn aggregate(
    how: Aggregation,
    messages: &Rows,
    k: usize,
    margin: &mut Margin,
) -> (Vec<f64>, Rows) {
    let mut m = vec![0.0; k];
    let mut shares = vec![vec![0.0; k]; messages.len()];
    for d in 0..k {
        let column: Vec<f64> = messages.iter().map(|message| message[d]).collect();
        if how == Aggregation::Max {
            let rectified: Vec<f64> = column.iter().map(|&value| relu(value)).collect();
            let (winner, lead) = best(&rectified);
            m[d] = rectified[winner];
            // Either the ReLU is open for the winner, by so much, and it leads by so much; or it is
            // shut for all, and nothing flows back.
            let top = column.iter().fold(f64::NEG_INFINITY, |top, x| top.max(*x));
            margin.decide(top.abs());
            if top > 0.0 {
                margin.decide(lead);
                shares[winner][d] = 1.0;
            }
            continue;
        }
        let each = if how == Aggregation::Mean { 1.0 / column.len() as f64 } else { 1.0 };
        for (shares, &value) in shares.iter_mut().zip(&column) {
            margin.decide(value.abs());
            m[d] += each * relu(value);
            shares[d] = if value > 0.0 { each } else { 0.0 };
        }
    }
    (m, shares)
}

/// Equation 3, before the decoder: maxᵢ xᵢ of x \[n, k\], and by how much each element of x moves it.
/// `rectified` says that x comes out of a ReLU.
pub fn read_out(
    how: Aggregation,
    x: &Rows,
    rectified: bool,
    margin: &mut Margin,
) -> (Vec<f64>, Rows) {
    let (n, k) = (x.len(), x[0].len());
    let (mut top, mut shares) = (Vec::new(), vec![vec![0.0; k]; n]);
    for d in 0..k {
        let column: Vec<f64> = x.iter().map(|row| row[d]).collect();
        if how == Aggregation::Max {
            let (winner, lead) = best(&column);
            top.push(column[winner]);
            shares[winner][d] = 1.0;
            // Where a ReLU is shut in all nodes the tie is exact, and nothing flows back.
            if !(rectified && column[winner] == 0.0) {
                margin.decide(lead);
            }
            continue;
        }
        let each = if how == Aggregation::Mean { 1.0 / n as f64 } else { 1.0 };
        top.push(each * column.iter().sum::<f64>());
        shares.iter_mut().for_each(|row| row[d] = each);
    }
    (top, shares)
}

/// Equation 4: mask\[zᵢ ‖ hᵢ\], \[n\]. By equation 5, μᵢ = 1 where it is above 0.
pub fn mask_logits(mask: &Linear, z: &Rows, h: &Rows) -> Vec<f64> {
    z.iter().zip(h).map(|(z, h)| mask.apply(&concat(z, h))[0]).collect()
}

/// Queries and keys, \[n, k\] each, and ⟨qᵢ, kⱼ⟩, \[n, n\].
#[derive(Clone, Debug)]
pub struct Attention {
    /// query xᵢ
    pub q: Rows,
    /// key xⱼ
    pub key: Rows,
    /// Before the softmax, and before candidates are chosen.
    pub scores: Rows,
}

/// Equation 6, before its softmax: ⟨query xᵢ, key xⱼ⟩ of all pairs, x being h or \[z ‖ h\].
pub fn attend((query, key): &(Linear, Linear), x: &Rows) -> Attention {
    let q: Rows = x.iter().map(|x| query.apply(x)).collect();
    let key: Rows = x.iter().map(|x| key.apply(x)).collect();
    let product = |q: &[f64], k: &[f64]| q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>();
    let scores = q.iter().map(|q| key.iter().map(|key| product(q, key)).collect()).collect();
    Attention { q, key, scores }
}

/// Everything one operation computes.
#[derive(Clone, Debug)]
pub struct Step {
    /// Features, \[n, m\].
    pub e: Rows,
    /// h before the operation, \[n, k\].
    pub h_before: Rows,
    /// \[n, k\]
    pub z: Rows,
    /// Layers of the processor, and of the one that only pointers read, if there is one.
    pub passes: Vec<Vec<Pass>>,
    /// What the first of them gave in the end, \[n, k\] …
    pub h: Rows,
    /// … and the last, which masks and pointers read.
    pub pointer_h: Rows,
    /// By how much each element of z, then of h, moves the readout.
    pub top_shares: [Rows; 2],
    /// The readout, \[2k\].
    pub top: Vec<f64>,
    /// The answer's.
    pub logit: f64,
    /// \[n\]; empty in models without masks.
    pub mask_logits: Vec<f64>,
    /// What query and key read.
    pub x: Rows,
    /// By pointer type; empty in models without attention.
    pub attention: Vec<Attention>,
    /// The closest of all comparisons that gradients depend on.
    pub margin: Margin,
}

impl Step {
    /// One operation of a sequence: `pointers` of all types, one after the other, and h are those
    /// before it; the processor is applied `applied` times.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        config: &Config,
        layers: &Layers,
        sequence: Sequence,
        operation: Operation,
        pointers: &[usize],
        h_before: Rows,
        applied: usize,
    ) -> Step {
        let priorities = sequence.priorities;
        let n = priorities.len();
        let mut margin = Margin::default();
        // (1); what is not carried has no columns in the encoder.
        let h_before = if config.carried() > 0 { h_before } else { vec![Vec::new(); n] };
        let features = |i: usize| {
            let (node, pointer) = (i as Node, pointers[i] as Node);
            let each = config.features.iter();
            each.map(|one| one.value(node, operation, priorities[i], pointer).into()).collect()
        };
        let e: Rows = (0..n).map(features).collect();
        let z = encode(&layers.encoder, &e, &h_before);
        // (2), (7) and (8)
        let is_edge = |i: usize, j: usize| {
            let ends = |u: Node, v: Node| u as usize == i && v as usize == j;
            i == j || sequence.edges.iter().any(|edge| ends(edge.u, edge.v) || ends(edge.v, edge.u))
        };
        // Channel by channel: the learned pointers, extra types of pointers, the input graph.
        let reads = |channel: usize, i: usize, j: usize| match pointers
            .get(channel * n..(channel + 1) * n)
        {
            Some(pointers) => {
                is_neighbour(config.graph, pointers, i, j)
                    || channel == 0 && config.input_graph == InputGraph::Edges && is_edge(i, j)
            }
            None => is_edge(i, j),
        };
        let mut passes: Vec<Vec<Pass>> = Vec::new();
        for processor in &layers.processors {
            let mut chain: Vec<Pass> = Vec::new();
            for _ in 0..applied {
                let x = chain.last().map_or(&z, |pass| &pass.h).clone();
                chain.push(process(config.message_aggregation, processor, x, reads, &mut margin));
            }
            passes.push(chain);
        }
        let given = |processor: &[Pass]| processor[applied - 1].h.clone();
        let (h, pointer_h) = (given(&passes[0]), given(&passes[passes.len() - 1]));
        // (3)
        let (top_z, shares_z) = read_out(config.readout_aggregation, &z, false, &mut margin);
        let (top_h, shares_h) = read_out(config.readout_aggregation, &h, true, &mut margin);
        let (top, top_shares) = (concat(&top_z, &top_h), [shares_z, shares_h]);
        let logit = layers.decoder.apply(&top)[0];
        // (4)
        let mask = layers.mask.as_ref();
        let mask_logits = mask.map_or(Vec::new(), |mask| mask_logits(mask, &z, &pointer_h));
        // (6)
        let x: Rows = match config.attention_input {
            AttentionInput::H => pointer_h.clone(),
            AttentionInput::Zh => z.iter().zip(&pointer_h).map(|(z, h)| concat(z, h)).collect(),
        };
        let attention = layers.query_key.iter().map(|query_key| attend(query_key, &x)).collect();
        Step {
            e,
            h_before,
            z,
            passes,
            h,
            pointer_h,
            top_shares,
            top,
            logit,
            mask_logits,
            x,
            attention,
            margin,
        }
    }

    /// Node i's scores by pointer type `kind`, \[n\]; −∞ where it may not point.
    pub fn candidate_scores(
        &self,
        config: &Config,
        kind: usize,
        i: usize,
        visited: &[bool],
    ) -> Vec<f64> {
        let allowed = |j: usize| match config.candidates {
            Candidates::All => true,
            Candidates::Visited => visited[j] || j == i,
        };
        let scores = self.attention[kind].scores[i].iter().enumerate();
        scores.map(|(j, &score)| if allowed(j) { score } else { f64::NEG_INFINITY }).collect()
    }
}

/// eˢ / Σ eˢ: α of a node's scores (equation 6).
pub fn softmax(scores: &[f64]) -> Vec<f64> {
    let top = scores.iter().fold(f64::NEG_INFINITY, |top, &score| top.max(score));
    let powers: Vec<f64> = scores.iter().map(|score| (score - top).exp()).collect();
    let total: f64 = powers.iter().sum();
    powers.iter().map(|power| power / total).collect()
}

/// −log P(target) of a logit.
pub fn binary_cross_entropy(logit: f64, target: u8) -> f64 {
    let towards = if target == 1 { logit } else { -logit };
    // log(1 + e⁻ˣ), without overflow.
    if towards > 0.0 { (-towards).exp().ln_1p() } else { towards.exp().ln_1p() - towards }
}

/// 1 / (1 + e⁻ˣ)
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
