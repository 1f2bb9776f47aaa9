//! Free rollouts: the model reads its own masks and pointers.

use pgn_engine::{Config, Pointers};
use pgn_structures::Sequence;

use super::{
    Margin, best,
    net::Net,
    step::{Layers, Step},
};

/// What one operation gave.
pub struct Rolled {
    pub logit: f64,
    pub mask_logits: Vec<f64>,
    pub pointers: Vec<usize>,
    /// The closest threshold or argmax of this operation.
    pub margin: Margin,
}

/// Rolls a sequence out.
pub fn rollout(config: &Config, net: &Net, sequence: Sequence) -> Vec<Rolled> {
    let layers = Layers::new(config, net);
    let n = sequence.nodes();
    let mut pointers: Vec<usize> = (0..n).collect();
    let mut h = vec![vec![0.0; config.k]; n];
    let mut rolled = Vec::new();
    for (t, &operation) in sequence.operations.iter().enumerate() {
        let step = Step::new(config, &layers, sequence.priorities, operation, &pointers, h);
        let mut margin = Margin::default();
        // (5)
        let visited: Vec<bool> = match config.has_masks() {
            true => step.mask_logits.iter().map(|&logit| logit <= 0.0).collect(),
            false => vec![true; n],
        };
        // (6) and (7)
        if config.owns_pointers() {
            for logit in &step.mask_logits {
                margin.decide(logit.abs());
            }
            for node in 0..n {
                if visited[node] || config.pointers == Pointers::Every {
                    let scores = step.candidate_scores(config, node, &visited);
                    let (choice, lead) = best(&scores);
                    margin.decide(lead);
                    pointers[node] = choice;
                }
            }
        }
        if config.pointers == Pointers::Given {
            pointers = sequence.pointers_after(t).iter().map(|&node| node as usize).collect();
        }
        let (logit, mask_logits) = (step.logit, step.mask_logits);
        rolled.push(Rolled { logit, mask_logits, pointers: pointers.clone(), margin });
        h = step.h;
    }
    rolled
}
