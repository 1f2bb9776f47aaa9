//! Free rollouts: the model reads its own masks and pointers.

use pgn_structures::{Operation, Sequence};

use super::{
    Margin, best,
    net::Net,
    step::{Layers, Step},
    unroll::true_pointers,
};
use crate::{Config, Error, Example, Pointers, TestLayers};

/// What one operation gave.
#[derive(Clone, Debug)]
pub struct Rolled {
    /// The answer's.
    pub logit: f64,
    /// \[n\]; empty in models without masks.
    pub mask_logits: Vec<f64>,
    /// \[n\], after the operation.
    pub pointers: Vec<usize>,
    /// The closest threshold or argmax of this operation.
    pub margin: Margin,
}

/// Rolls a sequence out freely: the model reads its own masks and pointers (equations 5 to 7);
/// models that are given pointers read the truth's.
pub fn rollout(config: &Config, net: &Net, sequence: Sequence) -> Result<Vec<Rolled>, Error> {
    Example::oracle(config, sequence).check(config)?;
    let layers = Layers::new(config, net);
    let n = sequence.nodes();
    let kinds = 1 + config.pointer_types.len();
    let mut pointers: Vec<usize> = (0..kinds * n).map(|place| place % n).collect();
    let mut h = vec![vec![0.0; config.k]; n];
    let mut rolled = Vec::new();
    for (t, &operation) in sequence.operations.iter().enumerate() {
        let applied = applied(config, operation, &pointers[..n]);
        let step = Step::new(config, &layers, sequence, operation, &pointers, h, applied);
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
            for place in 0..kinds * n {
                let (kind, node) = (place / n, place % n);
                if visited[node] || config.pointers == Pointers::Every {
                    let scores = step.candidate_scores(config, kind, node, &visited);
                    let (choice, lead) = best(&scores);
                    margin.decide(lead);
                    pointers[place] = choice;
                }
            }
        }
        if config.pointers == Pointers::Given {
            pointers = true_pointers(config, sequence, t);
        }
        let (logit, mask_logits) = (step.logit, step.mask_logits);
        rolled.push(Rolled { logit, mask_logits, pointers: pointers[..n].to_vec(), margin });
        h = step.h;
    }
    Ok(rolled)
}

/// How often the processor is applied: in proportion to log n or to the depth of u and v, rounded
/// up, at least as often as in training and at most 64 times.
fn applied(config: &Config, operation: Operation, pointers: &[usize]) -> usize {
    let n = pointers.len();
    let depth = |node: u32| {
        let (mut node, mut depth) = (node as usize, 0);
        while pointers[node] != node && depth + 1 < n {
            (node, depth) = (pointers[node], depth + 1);
        }
        depth as f64
    };
    let layers = config.layers as f64;
    let wanted = match config.test_layers {
        TestLayers::Training => layers,
        TestLayers::Nodes(base) => layers * (n as f64).ln() / (base as f64).ln(),
        TestLayers::Depth(base) => {
            layers * depth(operation.u).max(depth(operation.v)) / base as f64
        }
    };
    (wanted.ceil() as usize).clamp(config.layers, 64)
}
