//! The iterated processor in plain f64, node by node, straight from its definition. It shares
//! nothing with the engine but the names of the tensors.

use pgn_engine::{Candidates, Config, Iterated, Parameters, Participants, Relation};
use pgn_structures::Transition;

/// What one operation gives.
pub struct Outcome {
    pub answer: f64,
    pub masks: Vec<Option<f64>>,
    /// Score of j as the target of i; `None` where either takes no part.
    pub scores: Vec<Vec<Option<f64>>>,
    pub x: Vec<Vec<f64>>,
}

/// Weights in f64, with access by name.
pub struct IteratedInF64<'a> {
    config: &'a Config,
    settings: &'a Iterated,
    layout: &'a Parameters,
    values: &'a [f64],
}

impl<'a> IteratedInF64<'a> {
    pub fn new(config: &'a Config, layout: &'a Parameters, values: &'a [f64]) -> IteratedInF64<'a> {
        IteratedInF64 { config, settings: config.iterated().unwrap(), layout, values }
    }

    /// W · input (+ bias, if there is one).
    fn linear(&self, name: &str, input: &[&[f64]]) -> Vec<f64> {
        let find = |part: &str| {
            let full = format!("{name}.{part}");
            self.layout.tensors().iter().find(|tensor| tensor.name == full)
        };
        let weight = find("weight").unwrap();
        let input: Vec<f64> = input.concat();
        assert_eq!(weight.shape[1], input.len(), "{name}");
        let mut result: Vec<f64> = self.values[weight.range.clone()]
            .chunks(input.len())
            .map(|row| row.iter().zip(&input).map(|(w, x)| w * x).sum())
            .collect();
        if let Some(bias) = find("bias") {
            result.iter_mut().zip(&self.values[bias.range.clone()]).for_each(|(r, b)| *r += b);
        }
        result
    }

    pub fn run(&self, transition: &Transition, steps: usize) -> Outcome {
        let (n, k) = (transition.before.len(), self.config.k);
        let pi = transition.before;
        let op = transition.operation;
        let relu = |values: Vec<f64>| values.into_iter().map(|v| v.max(0.0)).collect::<Vec<_>>();
        let z: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let value = |f: &pgn_structures::Feature| {
                    f64::from(f.value(i as u32, op, transition.priorities[i], pi[i]))
                };
                let e: Vec<f64> = self.config.features.iter().map(value).collect();
                self.linear("encoder", &[&e])
            })
            .collect();
        let all = self.settings.participants == Participants::All;
        let mut sends = vec![all; n];
        let mut x = vec![vec![0.0; k]; n];
        for step in 1..=steps {
            let mut takes_part = sends.clone();
            if step == 1 {
                takes_part[op.u as usize] = true;
                takes_part[op.v as usize] = true;
            }
            (0..n).filter(|&j| sends[j]).for_each(|j| takes_part[pi[j] as usize] = true);
            let message = |relation: Relation, j: usize| {
                let name = match relation {
                    Relation::Parent => "parent",
                    Relation::Children => "children",
                    Relation::Global => "global",
                };
                relu(self.linear(name, &[&x[j]]))
            };
            let next = (0..n).filter(|&i| takes_part[i]).map(|i| {
                let mut input = vec![z[i].clone(), x[i].clone()];
                for &relation in &self.settings.relations {
                    let heard = |j: usize| match relation {
                        Relation::Parent => pi[i] as usize == j,
                        Relation::Children => pi[j] as usize == i && i != j,
                        Relation::Global => true,
                    };
                    let mut top = vec![0.0; k];
                    for j in (0..n).filter(|&j| sends[j] && heard(j)) {
                        let sent = message(relation, j);
                        top.iter_mut().zip(sent).for_each(|(t, s)| *t = f64::max(*t, s));
                    }
                    input.push(top);
                }
                let input: Vec<&[f64]> = input.iter().map(Vec::as_slice).collect();
                let cap = self.settings.cap.map_or(f64::INFINITY, f64::from);
                let x = relu(self.linear("update", &input));
                (i, x.into_iter().map(|v| v.min(cap)).collect::<Vec<_>>())
            });
            let next: Vec<_> = next.collect();
            next.into_iter().for_each(|(i, value)| x[i] = value);
            sends = takes_part;
        }
        let here: Vec<usize> = (0..n).filter(|&i| sends[i]).collect();
        let top = |rows: &[Vec<f64>]| -> Vec<f64> {
            (0..k)
                .map(|d| here.iter().map(|&i| rows[i][d]).fold(f64::NEG_INFINITY, f64::max))
                .collect()
        };
        let (top_z, top_x) = (top(&z), top(&x));
        let answer = self.linear("decoder", &[&top_z, &top_x])[0];
        let part = |i: usize| sends[i];
        let masks =
            (0..n).map(|i| part(i).then(|| self.linear("mask", &[&z[i], &x[i]])[0])).collect();
        let score = |i: usize, j: usize| {
            let query = self.linear("query", &[&z[i], &x[i], &top_x]);
            let key = self.linear("key", &[&z[j], &x[j]]);
            let dot: f64 = query.iter().zip(&key).map(|(q, k)| q * k).sum();
            let mut score = dot / (k as f64).sqrt();
            if self.settings.relation_biases {
                let biases = self.linear("relation", &[&z[i], &x[i], &top_x]);
                let related = [
                    i == j,
                    i != j && pi[i] as usize == j,
                    i != j && pi[j] as usize == i,
                    op.u as usize == j,
                    op.v as usize == j,
                    transition.priorities[i] < transition.priorities[j],
                ];
                score +=
                    biases.iter().zip(related).filter(|(_, r)| *r).map(|(b, _)| b).sum::<f64>();
            }
            score
        };
        let scores = (0..n)
            .map(|i| (0..n).map(|j| (part(i) && part(j)).then(|| score(i, j))).collect())
            .collect();
        Outcome { answer, masks, scores, x }
    }

    /// The weighted loss of transition `index` of a batch.
    pub fn loss(&self, index: usize, transition: &Transition) -> f64 {
        let n = transition.before.len();
        let steps = self.settings.steps + index % (self.settings.more_steps + 1);
        let outcome = self.run(transition, steps);
        let bce = |logit: f64, target: u8| {
            let p = 1.0 / (1.0 + (-logit).exp());
            -(if target == 1 { p } else { 1.0 - p }).ln()
        };
        let weights = self.config.losses;
        let mut loss = f64::from(weights.query) * bce(outcome.answer, transition.answer);
        let (masks, pointers) =
            (f64::from(weights.masks) / n as f64, f64::from(weights.pointers) / n as f64);
        for (i, &mask) in transition.mask.iter().enumerate() {
            let Some(logit) = outcome.masks[i] else { continue };
            let weight = if mask == 0 { self.config.visited_weight.into() } else { 1.0 };
            loss += weight * masks * bce(logit, mask);
            if mask == 1 {
                continue;
            }
            let visited = |j: usize| {
                transition.mask[j] == 0 || j == i || self.config.candidates == Candidates::All
            };
            let candidates: Vec<f64> =
                (0..n).filter(|&j| visited(j)).filter_map(|j| outcome.scores[i][j]).collect();
            let Some(target) = outcome.scores[i][transition.after[i] as usize] else { continue };
            let sum: f64 = candidates.iter().map(|score| (score - target).exp()).sum();
            loss += pointers * sum.ln();
        }
        loss
    }
}
