//! The network is the table, whatever the order of its sums: every decision leads by more than
//! all rounding errors of single precision together.
//!
//! Each number is carried in double precision, with a bound on what an evaluation in single
//! precision may differ. Every sum and every product of a row with a matrix may be taken in any
//! order, with or without fused multiplications; a sum of n numbers then errs by at most
//! γ(n) = n u / (1 − n u) of the sum of their magnitudes, u = 2⁻²⁴ (Higham, *Accuracy and
//! Stability of Numerical Algorithms*, section 3.1).

use safetensors::SafeTensors;

use crate::proof::{NIL, NOTHING, Proof, Row, View};

/// How many decisions there are, the smallest lead over another option, and the largest share of
/// a lead that errors can use up.
#[derive(Clone, Copy, Debug)]
pub struct Margins {
    pub decisions: usize,
    pub margin: f64,
    pub used: f64,
}

/// A number and how far off it may be.
#[derive(Clone, Copy, Debug, Default)]
struct Near {
    value: f64,
    error: f64,
}

/// The bound for n roundings. Double precision has 2⁻²⁹ of these errors itself, for which a
/// hundredth more is plenty.
fn gamma(n: usize) -> f64 {
    let nu = n as f64 * 2f64.powi(-24);
    1.01 * nu / (1.0 - nu)
}

/// The sum of products of exact weights with inexact numbers, and of inexact numbers.
fn sum(products: impl Iterator<Item = (f64, Near)>, roundings: usize) -> Near {
    let (mut value, mut error, mut magnitude) = (0.0, 0.0, 0.0);
    for (weight, near) in products {
        value += weight * near.value;
        error += weight.abs() * near.error;
        magnitude += weight.abs() * (near.value.abs() + near.error);
    }
    Near { value, error: error + gamma(roundings) * magnitude + 1e-30 }
}

/// Compares all rows of the table.
pub fn check(proof: &Proof, bytes: &[u8]) -> Result<Margins, (String, usize)> {
    let net = Net::new(proof, bytes).map_err(|why| (why, usize::MAX))?;
    let mut margins = Margins { decisions: 0, margin: f64::INFINITY, used: 0.0 };
    for (index, row) in proof.rows.iter().enumerate() {
        net.decide(row, &mut margins).map_err(|why| (why, index))?;
    }
    Ok(margins)
}

/// Sizes and weights, in the order that `docs/machines.md` gives.
struct Net<'p> {
    proof: &'p Proof,
    k: usize,
    fields: usize,
    bits: usize,
    registers: usize,
    /// Features that nodes and controllers share, and all features of a node.
    common: usize,
    node_features: usize,
    /// Relations between nodes.
    between: usize,
    features: usize,
    encoder: Vec<f32>,
    message: Vec<f32>,
    node: [Vec<f32>; 2],
    controller: [Vec<f32>; 2],
}

impl<'p> Net<'p> {
    fn new(proof: &'p Proof, bytes: &[u8]) -> Result<Net<'p>, String> {
        let names = &proof.signature;
        let (fields, bits, registers) =
            (names.pointers.len(), names.bits.len(), names.registers.len());
        let values: usize = names.controls.iter().map(|control| control.values.len() + 1).sum();
        let (k, common) = (proof.network.k, 1 + names.states.len() + values);
        let node_features = common + 2 * fields + 3 * bits + registers;
        let features = node_features + common + 2 * registers;
        let between = 1 + 2 * fields + 4;
        let relations = between + 2 * registers + 3;
        let outputs = fields * (k + 2 + between + registers) + bits + names.marks.len() + k;
        let controls = registers * (k + 2 + registers) + values + names.states.len();
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
        let read = |name: &str, shape: &[usize]| {
            let tensor = tensors.tensor(name).map_err(|error| error.to_string())?;
            if tensor.shape() != shape || tensor.dtype() != safetensors::Dtype::F32 {
                return Err(format!(
                    "{name} has the shape {:?}; expected {shape:?}",
                    tensor.shape()
                ));
            }
            let words = tensor.data().chunks_exact(4);
            let numbers: Vec<f32> = words
                .map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                .collect();
            let finite = numbers.iter().all(|number| number.is_finite());
            finite
                .then_some(numbers)
                .ok_or_else(|| format!("{name} has a number that is not finite"))
        };
        Ok(Net {
            proof,
            k,
            fields,
            bits,
            registers,
            common,
            node_features,
            between,
            features,
            encoder: read("encoder.weight", &[k, features])?,
            message: read("message.weight", &[relations * k, k])?,
            node: [read("node.weight", &[outputs, k])?, read("node.bias", &[outputs])?],
            controller: [
                read("controller.weight", &[controls, k])?,
                read("controller.bias", &[controls])?,
            ],
        })
    }

    /// The features of each row: the nodes, then the controller.
    fn features_of(&self, view: &View) -> Vec<Vec<usize>> {
        let names = &self.proof.signature;
        let mut common = vec![0, 1 + view.state];
        let mut next = 1 + names.states.len();
        for (control, &value) in names.controls.iter().zip(&view.controls) {
            let values = control.values.len();
            common.push(next + if value < 0 { values } else { value as usize });
            next += values + 1;
        }
        let mut rows = vec![common.clone(); view.nodes];
        rows.push(common.iter().map(|feature| self.node_features + feature).collect());
        for (place, &to) in view.pointers.iter().enumerate().filter(|one| *one.1 < 0) {
            let unread = usize::from(to == NOTHING);
            rows[place / self.fields].push(self.common + 2 * (place % self.fields) + unread);
        }
        for (place, &bit) in view.bits.iter().enumerate() {
            let value = if bit < 0 { 2 } else { bit as usize };
            let first = self.common + 2 * self.fields + 3 * (place % self.bits);
            rows[place / self.bits].push(first + value);
        }
        for (register, &to) in view.registers.iter().enumerate() {
            match to {
                NIL | NOTHING => {
                    let first = self.node_features + self.common + 2 * register;
                    rows[view.nodes].push(first + usize::from(to == NOTHING));
                }
                node => rows[node as usize]
                    .push(self.common + 2 * self.fields + 3 * self.bits + register),
            }
        }
        rows
    }

    /// Who hears whom by which relation: (hearer, relation, heard).
    fn messages(&self, view: &View) -> Vec<(usize, usize, usize)> {
        let (nodes, registers) = (view.nodes, self.registers);
        let mut all: Vec<_> = (0..nodes).map(|node| (node, 0, node)).collect();
        for (place, &to) in view.pointers.iter().enumerate().filter(|one| *one.1 >= 0) {
            let (node, field, to) = (place / self.fields, place % self.fields, to as usize);
            all.extend([(node, 1 + field, to), (to, 1 + self.fields + field, node)]);
        }
        for &(a, b, less) in &view.less {
            let first = 1 + 2 * self.fields + if less == 1 { 0 } else { 2 };
            all.extend([(a, first, b), (b, first + 1, a)]);
        }
        for (register, &node) in view.registers.iter().enumerate().filter(|one| *one.1 >= 0) {
            let (node, first) = (node as usize, self.between);
            all.extend([
                (node, first + register, nodes),
                (nodes, first + registers + 1 + register, node),
            ]);
        }
        for node in 0..nodes {
            let first = self.between + registers;
            all.extend([(node, first, nodes), (nodes, first + 1 + registers, node)]);
        }
        all.push((nodes, self.between + 2 * registers + 2, nodes));
        all
    }

    /// The outputs of each row after all rounds.
    fn outputs(&self, view: &View) -> Vec<Vec<Near>> {
        let (k, cap) = (self.k, f64::from(self.proof.network.cap));
        let features = self.features_of(view);
        let messages = self.messages(view);
        let clamp = |near: Near| {
            let flat = near.value + near.error <= 0.0 || near.value - near.error >= cap;
            Near { value: near.value.clamp(0.0, cap), error: if flat { 0.0 } else { near.error } }
        };
        let exact = Near { value: 1.0, error: 0.0 };
        let z: Vec<Vec<Near>> = features
            .iter()
            .map(|on| {
                let weight = |c: usize| {
                    on.iter().map(move |f| f64::from(self.encoder[c * self.features + f]))
                };
                (0..k).map(|c| sum(weight(c).map(|weight| (weight, exact)), on.len())).collect()
            })
            .collect();
        let mut x: Vec<Vec<Near>> =
            z.iter().map(|row| row.iter().map(|&near| clamp(near)).collect()).collect();
        for _ in 0..self.proof.network.rounds {
            x = (0..x.len())
                .map(|row| {
                    let heard: Vec<_> =
                        messages.iter().filter(|message| message.0 == row).collect();
                    // Rows may be added before they are multiplied, and products afterwards.
                    let roundings = k + 2 * heard.len() + 2;
                    let of = |c: usize| {
                        let products = heard.iter().flat_map(|&&(_, relation, from)| {
                            let weights = &self.message[(relation * k + c) * k..][..k];
                            weights
                                .iter()
                                .map(|&weight| f64::from(weight))
                                .zip(x[from].iter().copied())
                        });
                        clamp(sum(products.chain([(1.0, z[row][c])]), roundings))
                    };
                    (0..k).map(of).collect()
                })
                .collect();
        }
        let layer = |[weight, bias]: &[Vec<f32>; 2], row: &[Near]| {
            let of = |output: usize| {
                let products = weight[output * k..][..k]
                    .iter()
                    .map(|&weight| f64::from(weight))
                    .zip(row.iter().copied());
                sum(products.chain([(f64::from(bias[output]), exact)]), k + 2)
            };
            (0..bias.len()).map(of).collect()
        };
        let (nodes, controller) = x.split_at(view.nodes);
        let nodes = nodes.iter().map(|row| layer(&self.node, row));
        nodes.chain([layer(&self.controller, &controller[0])]).collect()
    }

    /// Checks all decisions of a row.
    fn decide(&self, row: &Row, margins: &mut Margins) -> Result<(), String> {
        let (view, action, k) = (&row.view, &row.action, self.k);
        let names = &self.proof.signature;
        let outputs = self.outputs(view);
        let (nodes, controller) = outputs.split_at(view.nodes);
        let controller = &controller[0];
        let messages = self.messages(view);
        let held = |node: usize| {
            (0..self.registers).filter(move |&register| view.registers[register] == node as i16)
        };
        // Keep, nil, or a node: its key times the query, and the biases of its relations.
        let scores = |outputs: &[Near], biases: &dyn Fn(usize) -> Vec<usize>| {
            let mut scores = vec![outputs[k], outputs[k + 1]];
            for (node, row) in nodes.iter().enumerate() {
                let key = &row[row.len() - k..];
                let (mut value, mut error, mut magnitude) = (0.0, 0.0, 0.0);
                let scale = 1.0 / (k as f64).sqrt();
                for (q, key) in outputs[..k].iter().zip(key) {
                    value += scale * q.value * key.value;
                    let most = (q.value.abs() + q.error) * (key.value.abs() + key.error);
                    error += scale * (most - (q.value * key.value).abs());
                    magnitude += scale * most;
                }
                let biases = biases(node);
                for bias in &biases {
                    let bias = outputs[k + 2 + bias];
                    value += bias.value;
                    error += bias.error;
                    magnitude += bias.value.abs() + bias.error;
                }
                scores.push(Near { value, error: error + gamma(k + biases.len() + 4) * magnitude });
            }
            scores
        };
        let option = |write: i16| (write + 2) as usize;
        let width = k + 2 + self.between + self.registers;
        let after = self.fields * width;
        for (node, outputs) in nodes.iter().enumerate() {
            for field in 0..self.fields {
                let biases = |to: usize| {
                    let related = messages
                        .iter()
                        .filter(|one| one.0 == node && one.2 == to && to < view.nodes);
                    let related =
                        related.map(|one| one.1).filter(|&relation| relation < self.between);
                    related.chain(held(to).map(|register| self.between + register)).collect()
                };
                let scores = scores(&outputs[field * width..], &biases);
                let what = || names.pointers[field].clone();
                margins.choice(
                    &scores,
                    option(action.pointers[node * self.fields + field]),
                    what,
                )?;
            }
            let (bits, marks) = (self.bits, names.marks.len());
            for bit in 0..bits {
                let toggle = action.toggles[node * bits + bit] == 1;
                margins.choice(&sides(outputs[after + bit]), usize::from(toggle), || {
                    names.bits[bit].clone()
                })?;
            }
            for mark in 0..marks {
                let set = action.marks[node * marks + mark] == 1;
                margins.choice(&sides(outputs[after + bits + mark]), usize::from(set), || {
                    names.marks[mark].clone()
                })?;
            }
        }
        let width = k + 2 + self.registers;
        for register in 0..self.registers {
            let scores = scores(&controller[register * width..], &|to| held(to).collect());
            margins.choice(&scores, option(action.registers[register]), || {
                names.registers[register].clone()
            })?;
        }
        let mut next = self.registers * width;
        for (control, &write) in names.controls.iter().zip(&action.controls) {
            let options = &controller[next..][..control.values.len() + 1];
            let write = if write < 0 { 0 } else { write as usize + 1 };
            margins.choice(options, write, || control.name.clone())?;
            next += options.len();
        }
        margins.choice(&controller[next..], action.next, || "the next state".to_owned())
    }
}

/// A logit as a choice: on if it is above 0.
fn sides(logit: Near) -> [Near; 2] {
    [Near::default(), logit]
}

impl Margins {
    /// One decision: the expected option leads every other by more than both can be off.
    fn choice(
        &mut self,
        scores: &[Near],
        expected: usize,
        what: impl Fn() -> String,
    ) -> Result<(), String> {
        self.decisions += 1;
        let best = scores[expected];
        for (_, other) in scores.iter().enumerate().filter(|(option, _)| *option != expected) {
            let (lead, errors) = (best.value - other.value, best.error + other.error);
            // Also where one of them is not a number.
            let leads = lead > errors;
            if !leads {
                return Err(format!(
                    "the network does not decide on `{}` as the table does: the lead is {lead:.3}, with errors up to {errors:.3}",
                    what()
                ));
            }
            self.margin = self.margin.min(lead);
            self.used = self.used.max(errors / lead);
        }
        Ok(())
    }
}
