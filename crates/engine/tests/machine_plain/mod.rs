//! The network of machines in f64, written from the equations at the head of `machine/mod.rs` and
//! the tables of `docs/machines.md`: one view at a time, one number at a time.

use pgn_engine::{MachineSettings, Parameters};
use pgn_machines::{Action, Seen, Signature, View, Write};

type Rows = Vec<Vec<f64>>;

pub struct Plain<'a> {
    pub signature: &'a Signature,
    pub settings: &'a MachineSettings,
    weights: Vec<(String, usize, Vec<f64>)>,
}

impl<'a> Plain<'a> {
    pub fn new(
        signature: &'a Signature,
        settings: &'a MachineSettings,
        parameters: &Parameters,
    ) -> Self {
        let weights = parameters
            .tensors()
            .iter()
            .map(|tensor| {
                let values = parameters.values()[tensor.range.clone()].iter();
                let columns = tensor.shape.get(1).copied().unwrap_or(1);
                (tensor.name.to_string(), columns, values.map(|&v| f64::from(v)).collect())
            })
            .collect();
        Plain { signature, settings, weights }
    }

    /// Changes one number of all tensors laid end to end.
    pub fn nudge(&mut self, mut index: usize, by: f64) {
        for (_, _, values) in &mut self.weights {
            if index < values.len() {
                values[index] += by;
                return;
            }
            index -= values.len();
        }
    }

    fn weight(&self, name: &str, row: usize, column: usize) -> f64 {
        let (_, columns, values) = self.weights.iter().find(|(known, ..)| known == name).unwrap();
        values[row * columns + column]
    }

    /// Who hears whom by what: (relation, hearer, heard). The controller is the last row.
    fn relations(&self, view: &View) -> Vec<(usize, usize, usize)> {
        let (fields, registers) = (self.signature.pointers.len(), self.signature.registers.len());
        let n = usize::from(view.nodes);
        let compared = 1 + 2 * fields;
        let down = compared + 4;
        let up = down + registers + 1;
        let mut all = vec![(up + registers + 1, n, n)];
        for i in 0..n {
            all.extend([(0, i, i), (down + registers, i, n), (up + registers, n, i)]);
            for f in 0..fields {
                if let Seen::Node(j) = view.pointer(i as u8, f) {
                    all.push((1 + f, i, usize::from(j)));
                    all.push((1 + fields + f, usize::from(j), i));
                }
            }
        }
        for read in &view.comparisons {
            let relation = compared + if read.less { 0 } else { 2 };
            let (a, b) = (usize::from(read.a), usize::from(read.b));
            all.extend([(relation, a, b), (relation + 1, b, a)]);
        }
        for (r, seen) in view.registers.iter().enumerate() {
            if let Seen::Node(i) = *seen {
                all.push((down + r, usize::from(i), n));
                all.push((up + r, n, usize::from(i)));
            }
        }
        all
    }

    /// Features that are on, per row.
    fn features(&self, view: &View) -> Vec<Vec<usize>> {
        let signature = self.signature;
        let (fields, bits) = (signature.pointers.len(), signature.bits.len());
        let n = usize::from(view.nodes);
        let mut common = vec![0, 1 + usize::from(view.state)];
        let mut end = 1 + signature.states.len();
        for (control, value) in signature.controls.iter().zip(&view.controls) {
            let unread = control.values.len();
            common.push(end + value.map_or(unread, usize::from));
            end += unread + 1;
        }
        let node_features = end + 2 * fields + 3 * bits + signature.registers.len();
        let mut rows = vec![common.clone(); n];
        rows.push(common.iter().map(|feature| node_features + feature).collect());
        for (i, row) in rows.iter_mut().take(n).enumerate() {
            for f in 0..fields {
                match view.pointer(i as u8, f) {
                    Seen::Nil => row.push(end + 2 * f),
                    Seen::Unread => row.push(end + 2 * f + 1),
                    Seen::Node(_) => {}
                }
            }
            for b in 0..bits {
                let value = match view.bit(i as u8, b) {
                    Some(false) => 0,
                    Some(true) => 1,
                    None => 2,
                };
                row.push(end + 2 * fields + 3 * b + value);
            }
        }
        for (r, seen) in view.registers.iter().enumerate() {
            match *seen {
                Seen::Nil => rows[n].push(node_features + end + 2 * r),
                Seen::Unread => rows[n].push(node_features + end + 2 * r + 1),
                Seen::Node(i) => rows[usize::from(i)].push(end + 2 * fields + 3 * bits + r),
            }
        }
        rows
    }

    /// The last x of every row.
    fn latents(&self, view: &View) -> Rows {
        let MachineSettings { k, rounds, cap } = *self.settings;
        let sigma = |rows: &Rows| -> Rows {
            let cut = |&x: &f64| x.max(0.0).min(f64::from(cap));
            rows.iter().map(|row| row.iter().map(cut).collect()).collect()
        };
        let z: Rows = self
            .features(view)
            .iter()
            .map(|on| {
                let entry = |c| on.iter().map(|&f| self.weight("encoder.weight", c, f)).sum();
                (0..k).map(entry).collect()
            })
            .collect();
        let relations = self.relations(view);
        let mut x = sigma(&z);
        for _ in 0..rounds {
            let mut pre = z.clone();
            for &(relation, i, j) in &relations {
                for (out, sum) in pre[i].iter_mut().enumerate().take(k) {
                    let row = relation * k + out;
                    *sum += (0..k)
                        .map(|c| self.weight("message.weight", row, c) * x[j][c])
                        .sum::<f64>();
                }
            }
            x = sigma(&pre);
        }
        x
    }

    fn outputs(&self, head: &str, x: &[f64]) -> Vec<f64> {
        let (weight, bias) = (format!("{head}.weight"), format!("{head}.bias"));
        let count = self.weights.iter().find(|(name, ..)| *name == bias).unwrap().2.len();
        let dot =
            |o| x.iter().enumerate().map(|(c, x)| self.weight(&weight, o, c) * x).sum::<f64>();
        (0..count).map(|o| self.weight(&bias, o, 0) + dot(o)).collect()
    }

    /// The loss of one view.
    pub fn loss(&self, view: &View, action: &Action) -> f64 {
        let signature = self.signature;
        let (k, n) = (self.settings.k, usize::from(view.nodes));
        let fields = signature.pointers.len();
        let between = 1 + 2 * fields + 4;
        let registers = signature.registers.len();
        let x = self.latents(view);
        let nodes: Rows = (0..n).map(|i| self.outputs("node", &x[i])).collect();
        let controller = self.outputs("controller", &x[n]);
        let relations = self.relations(view);
        let held = |r: usize, j: usize| view.registers[r] == Seen::Node(j as u8);
        let score = |outputs: &[f64], j: usize, chooser: Option<usize>| {
            let key = &nodes[j][nodes[j].len() - k..];
            let mut score =
                outputs.iter().zip(key).map(|(q, k)| q * k).sum::<f64>() / (k as f64).sqrt();
            let biases = &outputs[k + 2..];
            let mut first = 0;
            if let Some(i) = chooser {
                first = between;
                for (r, bias) in biases.iter().enumerate().take(between) {
                    if relations.contains(&(r, i, j)) {
                        score += bias;
                    }
                }
            }
            (0..registers).filter(|&r| held(r, j)).for_each(|r| score += biases[first + r]);
            score
        };
        let choice = |outputs: &[f64], chooser: Option<usize>, write: Write| {
            let mut scores = outputs[k..k + 2].to_vec();
            scores.extend((0..n).map(|j| score(outputs, j, chooser)));
            cross_entropy(
                &scores,
                match write {
                    Write::Keep => 0,
                    Write::Nil => 1,
                    Write::Node(j) => 2 + usize::from(j),
                },
            )
        };
        let mut loss = 0.0;
        let width = k + 2 + between + registers;
        for (i, outputs) in nodes.iter().enumerate() {
            for f in 0..fields {
                let write = action.pointers[i * fields + f];
                loss += choice(&outputs[f * width..][..width], Some(i), write);
            }
            let (bits, marks) = (signature.bits.len(), signature.marks.len());
            let binary = |o: usize, yes: bool| {
                let logit = outputs[fields * width + o];
                (1.0 + if yes { -logit } else { logit }.exp()).ln()
            };
            loss += (0..bits).map(|b| binary(b, action.toggles[i * bits + b])).sum::<f64>();
            loss += (0..marks).map(|m| binary(bits + m, action.marks[i * marks + m])).sum::<f64>();
        }
        let width = k + 2 + registers;
        for r in 0..registers {
            loss += choice(&controller[r * width..][..width], None, action.registers[r]);
        }
        let mut place = registers * width;
        for (control, value) in signature.controls.iter().zip(&action.controls) {
            let count = control.values.len() + 1;
            let target = value.map_or(0, |value| usize::from(value) + 1);
            loss += cross_entropy(&controller[place..place + count], target);
            place += count;
        }
        loss + cross_entropy(&controller[place..], usize::from(action.next))
    }
}

fn cross_entropy(scores: &[f64], target: usize) -> f64 {
    scores.iter().map(|score| score.exp()).sum::<f64>().ln() - scores[target]
}
