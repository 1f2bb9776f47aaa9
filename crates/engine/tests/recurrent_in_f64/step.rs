//! One operation: the encoder, every message between every pair of neighbours, the update, the
//! answer, the masks, and the scores of every node for every node.

use pgn_engine::{
    Aggregation, AttentionInput, Candidates, Config, Graph, InputGraph, ProcessorKind,
};
use pgn_structures::{Node, Operation, Sequence};

use super::{
    Margin, Rows, best, concat,
    net::{Linear, Net},
};

/// The layers of a net.
pub struct Layers {
    encoder: Linear,
    /// Messages of every head, and the update; of the second processor too, if there is one.
    processors: Vec<(Vec<Linear>, Linear)>,
    decoder: Linear,
    mask: Option<Linear>,
    /// Of each pointer type; empty without attention.
    query_key: Vec<(Linear, Linear)>,
}

impl Layers {
    pub fn new(config: &Config, net: &Net) -> Layers {
        Layers {
            encoder: net.linear("encoder"),
            processors: processors(config)
                .into_iter()
                .map(|(messages, update)| {
                    (messages.iter().map(|name| net.linear(name)).collect(), net.linear(update))
                })
                .collect(),
            decoder: net.linear("decoder"),
            mask: config.has_masks().then(|| net.linear("mask")),
            query_key: attention(config)
                .into_iter()
                .map(|(query, key)| (net.linear(query), net.linear(key)))
                .collect(),
        }
    }
}

/// The names of each processor's layers: messages of every head, and update.
pub fn processors(config: &Config) -> Vec<(Vec<&'static str>, &'static str)> {
    let own = ["message", "message.2", "message.3", "message.4"];
    let second = ["pointer.message", "pointer.message.2", "pointer.message.3", "pointer.message.4"];
    let heads =
        1 + config.pointer_types.len() + usize::from(config.input_graph == InputGraph::Head);
    let mut processors = vec![(own[..heads].to_vec(), "update")];
    if config.pointer_processor {
        processors.push((second[..heads].to_vec(), "pointer.update"));
    }
    processors
}

/// The names of query and key of each pointer type.
pub fn attention(config: &Config) -> Vec<(&'static str, &'static str)> {
    let all = [("query", "key"), ("query.2", "key.2"), ("query.3", "key.3"), ("query.4", "key.4")];
    match config.has_attention() {
        true => all[..1 + config.pointer_types.len()].to_vec(),
        false => Vec::new(),
    }
}

/// Whom a node heard: the sender, and by how much its message before the ReLU moves m.
pub type Heard = Vec<(usize, Vec<f64>)>;

/// One application of a processor.
#[derive(Clone, Debug)]
pub struct Pass {
    pub x: Rows,
    /// By head, of every node.
    pub heard: Vec<Vec<Heard>>,
    /// By head.
    pub m: Vec<Rows>,
    pub h: Rows,
}

/// Everything one operation computes.
#[derive(Clone, Debug)]
pub struct Step {
    pub e: Rows,
    pub h_before: Rows,
    pub z: Rows,
    /// Layers of the processor, and of the one that only pointers read, if there is one.
    pub passes: Vec<Vec<Pass>>,
    /// What the first of them gave in the end …
    pub h: Rows,
    /// … and the last, which masks and pointers read.
    pub pointer_h: Rows,
    /// By how much each element of z, then of h, moves the readout.
    pub top_shares: [Rows; 2],
    pub top: Vec<f64>,
    pub logit: f64,
    /// Empty in models without masks.
    pub mask_logits: Vec<f64>,
    /// What query and key read.
    pub x: Rows,
    /// By pointer type; like the next two, empty in models without attention.
    pub q: Vec<Rows>,
    pub key: Vec<Rows>,
    /// ⟨qᵢ, kⱼ⟩, before candidates are chosen.
    pub scores: Vec<Rows>,
    /// The closest of all comparisons that gradients depend on.
    pub margin: Margin,
}

/// Whether node i hears node j (equations 7 and 8).
fn hears(graph: Graph, pointers: &[usize], i: usize, j: usize) -> bool {
    match graph {
        Graph::Complete => true,
        Graph::SelfOnly => i == j,
        Graph::Symmetric => pointers[i] == j || pointers[j] == i,
        Graph::Directed => pointers[i] == j,
    }
}

fn relu(x: f64) -> f64 {
    if x > 0.0 { x } else { 0.0 }
}

impl Pass {
    fn new(
        config: &Config,
        messages: &[Linear],
        update: &Linear,
        x: Rows,
        hears: impl Fn(usize, usize, usize) -> bool,
        margin: &mut Margin,
    ) -> Pass {
        let (n, k) = (x.len(), config.k);
        let mut heard = vec![vec![Vec::new(); n]; messages.len()];
        let mut m = vec![vec![vec![0.0; k]; n]; messages.len()];
        for (head, message) in messages.iter().enumerate() {
            for i in 0..n {
                let neighbours: Vec<usize> = (0..n).filter(|&j| hears(head, i, j)).collect();
                let given: Rows =
                    neighbours.iter().map(|&j| message.apply(&concat(&x[i], &x[j]))).collect();
                let shares = aggregate(config, &given, &mut m[head][i], margin);
                heard[head][i] = neighbours.into_iter().zip(shares).collect();
            }
        }
        let mut h: Rows = (0..n)
            .map(|i| {
                let parts = m.iter().fold(x[i].clone(), |parts, m| concat(&parts, &m[i]));
                update.apply(&parts)
            })
            .collect();
        for value in h.iter_mut().flatten() {
            margin.decide(value.abs());
            *value = relu(*value);
        }
        Pass { x, heard, m, h }
    }
}

/// m of some messages, and by how much each of them moves it.
fn aggregate(config: &Config, messages: &[Vec<f64>], m: &mut [f64], margin: &mut Margin) -> Rows {
    let mut shares = vec![vec![0.0; m.len()]; messages.len()];
    for d in 0..m.len() {
        let column: Vec<f64> = messages.iter().map(|message| message[d]).collect();
        let rectified: Vec<f64> = column.iter().map(|&value| relu(value)).collect();
        if config.message_aggregation == Aggregation::Max {
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
        let each = match config.message_aggregation {
            Aggregation::Mean => 1.0 / column.len() as f64,
            _ => 1.0,
        };
        for (shares, &value) in shares.iter_mut().zip(&column) {
            margin.decide(value.abs());
            m[d] += each * relu(value);
            shares[d] = if value > 0.0 { each } else { 0.0 };
        }
    }
    shares
}

impl Step {
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
        let (priorities, k) = (sequence.priorities, config.k);
        let n = priorities.len();
        // What is not carried has no columns in the encoder.
        let carries = config.processor == ProcessorKind::Recurrent;
        let h_before = if carries { h_before } else { vec![Vec::new(); n] };
        let mut margin = Margin::default();
        // (1)
        let e: Rows = (0..n)
            .map(|i| {
                let value = |feature: &pgn_structures::Feature| {
                    feature.value(i as Node, operation, priorities[i], pointers[i] as Node)
                };
                config.features.iter().map(|feature| f64::from(value(feature))).collect()
            })
            .collect();
        let z: Rows = (0..n).map(|i| layers.encoder.apply(&concat(&e[i], &h_before[i]))).collect();
        // (2) and (8)
        let is_edge = |i: usize, j: usize| {
            let ends = |u: Node, v: Node| u as usize == i && v as usize == j;
            sequence.edges.iter().any(|edge| ends(edge.u, edge.v) || ends(edge.v, edge.u))
        };
        // Head by head: the learned pointers, further types of pointers, the input graph.
        let hears = |head: usize, i: usize, j: usize| match pointers.get(head * n..(head + 1) * n) {
            Some(pointers) => {
                hears(config.graph, pointers, i, j)
                    || head == 0
                        && config.input_graph == InputGraph::Edges
                        && (i == j || is_edge(i, j))
            }
            None => i == j || is_edge(i, j),
        };
        let mut passes: Vec<Vec<Pass>> = Vec::new();
        for (messages, update) in &layers.processors {
            let mut chain: Vec<Pass> = Vec::new();
            for _ in 0..applied {
                let x = chain.last().map_or(&z, |pass| &pass.h).clone();
                chain.push(Pass::new(config, messages, update, x, hears, &mut margin));
            }
            passes.push(chain);
        }
        let given = |processor: &[Pass]| processor[applied - 1].h.clone();
        let (h, pointer_h) = (given(&passes[0]), given(&passes[passes.len() - 1]));
        // (3)
        let mut top = Vec::new();
        let mut top_shares = [vec![vec![0.0; k]; n], vec![vec![0.0; k]; n]];
        for (part, rows) in [&z, &h].into_iter().enumerate() {
            for d in 0..k {
                let column: Vec<f64> = rows.iter().map(|row| row[d]).collect();
                let shares = &mut top_shares[part];
                if config.readout_aggregation == Aggregation::Max {
                    let (winner, lead) = best(&column);
                    top.push(column[winner]);
                    shares[winner][d] = 1.0;
                    // Where a ReLU is shut in all nodes the tie is exact, and nothing flows back.
                    if !(part == 1 && column[winner] == 0.0) {
                        margin.decide(lead);
                    }
                    continue;
                }
                let each = match config.readout_aggregation {
                    Aggregation::Mean => 1.0 / n as f64,
                    _ => 1.0,
                };
                top.push(each * column.iter().sum::<f64>());
                shares.iter_mut().for_each(|row| row[d] = each);
            }
        }
        let logit = layers.decoder.apply(&top)[0];
        // (4)
        let mask_logits = match &layers.mask {
            Some(mask) => (0..n).map(|i| mask.apply(&concat(&z[i], &pointer_h[i]))[0]).collect(),
            None => Vec::new(),
        };
        // (6)
        let x: Rows = (0..n)
            .map(|i| match config.attention_input {
                AttentionInput::H => pointer_h[i].clone(),
                AttentionInput::Zh => concat(&z[i], &pointer_h[i]),
            })
            .collect();
        let (mut q, mut key, mut scores) = (vec![], vec![], vec![]);
        for (to_query, to_key) in &layers.query_key {
            let queries: Rows = x.iter().map(|x| to_query.apply(x)).collect();
            let keys: Rows = x.iter().map(|x| to_key.apply(x)).collect();
            let product = |q: &[f64], k: &[f64]| q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>();
            let of_type: Rows =
                queries.iter().map(|q| keys.iter().map(|key| product(q, key)).collect()).collect();
            scores.push(of_type);
            q.push(queries);
            key.push(keys);
        }
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
            q,
            key,
            scores,
            margin,
        }
    }

    /// Node i's scores, −∞ where it may not point.
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
        let scores = self.scores[kind][i].iter().enumerate();
        scores.map(|(j, &score)| if allowed(j) { score } else { f64::NEG_INFINITY }).collect()
    }
}

/// Softmax.
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
