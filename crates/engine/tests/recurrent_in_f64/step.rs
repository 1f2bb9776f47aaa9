//! One operation: the encoder, every message between every pair of neighbours, the update, the
//! answer, the masks, and the scores of every node for every node.

use pgn_engine::{AttentionInput, Candidates, Config, Graph, ProcessorKind};
use pgn_structures::{Node, Operation};

use super::{
    Margin, Rows, best, concat,
    net::{Linear, Net},
};

/// The layers of a net.
pub struct Layers {
    encoder: Linear,
    message: Linear,
    update: Linear,
    decoder: Linear,
    mask: Option<Linear>,
    query_key: Option<(Linear, Linear)>,
}

impl Layers {
    pub fn new(config: &Config, net: &Net) -> Layers {
        Layers {
            encoder: net.linear("encoder"),
            message: net.linear("message"),
            update: net.linear("update"),
            decoder: net.linear("decoder"),
            mask: config.has_masks().then(|| net.linear("mask")),
            query_key: config.has_attention().then(|| (net.linear("query"), net.linear("key"))),
        }
    }
}

/// Everything one operation computes.
#[derive(Clone, Debug)]
pub struct Step {
    pub e: Rows,
    pub h_before: Rows,
    pub z: Rows,
    /// The neighbour each element of mᵢ came from.
    pub from: Vec<Vec<usize>>,
    pub m: Rows,
    pub h: Rows,
    /// The node each element of \[max z ‖ max h\] came from.
    pub top_from: Vec<usize>,
    pub top: Vec<f64>,
    pub logit: f64,
    /// Empty in models without masks.
    pub mask_logits: Vec<f64>,
    /// What query and key read; like the next three, empty in models without attention.
    pub x: Rows,
    pub q: Rows,
    pub key: Rows,
    /// ⟨qᵢ, kⱼ⟩, before candidates are chosen.
    pub scores: Rows,
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

impl Step {
    pub fn new(
        config: &Config,
        layers: &Layers,
        priorities: &[f32],
        operation: Operation,
        pointers: &[usize],
        h_before: Rows,
    ) -> Step {
        let (n, k) = (priorities.len(), config.k);
        // What is not carried has no columns in the encoder.
        let carries = config.processor == ProcessorKind::Recurrent;
        let h_before = if carries { h_before } else { vec![Vec::new(); n] };
        let mut margin = Margin::default();
        let relu = |x: f64| if x > 0.0 { x } else { 0.0 };
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
        // (8)
        let mut from = vec![vec![0; k]; n];
        let mut m = vec![vec![0.0; k]; n];
        for i in 0..n {
            let neighbours: Vec<usize> =
                (0..n).filter(|&j| hears(config.graph, pointers, i, j)).collect();
            let messages: Rows =
                neighbours.iter().map(|&j| layers.message.apply(&concat(&z[i], &z[j]))).collect();
            for d in 0..k {
                let column: Vec<f64> = messages.iter().map(|message| relu(message[d])).collect();
                let (winner, lead) = best(&column);
                from[i][d] = neighbours[winner];
                m[i][d] = column[winner];
                // Either the ReLU is open for the winner, by so much, and it leads by so much; or
                // it is shut for all, and nothing flows back.
                let top = messages.iter().fold(f64::NEG_INFINITY, |top, row| top.max(row[d]));
                margin.decide(top.abs());
                if top > 0.0 {
                    margin.decide(lead);
                }
            }
        }
        // (2)
        let mut h: Rows = (0..n).map(|i| layers.update.apply(&concat(&z[i], &m[i]))).collect();
        for value in h.iter_mut().flatten() {
            margin.decide(value.abs());
            *value = relu(*value);
        }
        // (3)
        let mut top = Vec::new();
        let mut top_from = Vec::new();
        for (rows, rectified) in [(&z, false), (&h, true)] {
            for d in 0..k {
                let column: Vec<f64> = rows.iter().map(|row| row[d]).collect();
                let (winner, lead) = best(&column);
                top.push(column[winner]);
                top_from.push(winner);
                // Where a ReLU is shut in all nodes the tie is exact, and nothing flows back.
                if !(rectified && column[winner] == 0.0) {
                    margin.decide(lead);
                }
            }
        }
        let logit = layers.decoder.apply(&top)[0];
        // (4)
        let mask_logits = match &layers.mask {
            Some(mask) => (0..n).map(|i| mask.apply(&concat(&z[i], &h[i]))[0]).collect(),
            None => Vec::new(),
        };
        // (6)
        let (mut x, mut q, mut key, mut scores) = (vec![], vec![], vec![], vec![]);
        if let Some((to_query, to_key)) = &layers.query_key {
            x = (0..n)
                .map(|i| match config.attention_input {
                    AttentionInput::H => h[i].clone(),
                    AttentionInput::Zh => concat(&z[i], &h[i]),
                })
                .collect();
            q = x.iter().map(|x| to_query.apply(x)).collect();
            key = x.iter().map(|x| to_key.apply(x)).collect();
            scores = q
                .iter()
                .map(|q| {
                    key.iter().map(|key| q.iter().zip(key).map(|(q, k)| q * k).sum()).collect()
                })
                .collect();
        }
        Step {
            e,
            h_before,
            z,
            from,
            m,
            h,
            top_from,
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
    pub fn candidate_scores(&self, config: &Config, i: usize, visited: &[bool]) -> Vec<f64> {
        let allowed = |j: usize| match config.candidates {
            Candidates::All => true,
            Candidates::Visited => visited[j] || j == i,
        };
        let scores = self.scores[i].iter().enumerate();
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
