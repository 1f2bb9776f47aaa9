//! Losses of a batch of views with the program's actions, and the gradients of the outputs.

use fearless_simd::prelude::*;
use pgn_machines::{Action, Write};

use super::{
    decisions::decide,
    layout::padded,
    rounds::{Tape, reset},
    scores::{Choice, FIRST, KEEP, NIL, Scores},
};
use crate::{
    kernels::math::{binary_cross_entropy, sigmoid, softmax},
    losses::loss_sums,
};

loss_sums! {
    /// Cross-entropies of a batch by kind of decision: sums over a view, means over the batch.
    MachineLosses {
        /// Pointers of nodes.
        pointers,
        /// Bits.
        toggles,
        /// Marks.
        marks,
        /// Registers.
        registers,
        /// Fields of the controller.
        controls,
        /// The next state.
        states,
    }
}

/// Buffers of [`losses`].
#[derive(Debug, Default)]
pub struct Scratch {
    row: Vec<f32>,
    related: Vec<u64>,
    d_node: Vec<f32>,
    d_controller: Vec<f32>,
}

/// Losses of the views of `tape`, each with its action, and the gradients of the outputs into
/// `tape`. Every view has a share of `share` in a batch.
#[inline(always)]
pub fn losses<'a, S: Simd>(
    simd: S,
    layout: &super::layout::Layout,
    weights: &super::weights::Weights,
    tape: &mut Tape,
    actions: impl Iterator<Item = &'a Action>,
    share: f32,
    scratch: &mut Scratch,
) -> MachineLosses {
    let mut losses = MachineLosses::default();
    let Scratch { row, related, d_node, d_controller } = scratch;
    reset(d_node, tape.node.len());
    reset(d_controller, tape.controller.len());
    let (width, controller_width) = (weights.node.width, weights.controller.width);
    let scores = Scores { layout, weights, tape };
    // One node's gradients, apart from those of all keys.
    let mut own = vec![0.0; width.max(controller_width)];
    for (view, action) in actions.enumerate() {
        losses.right += u64::from(decide(simd, scores, view, row).action == *action);
        let nodes = scores.nodes(view);
        for (i, node) in nodes.clone().enumerate() {
            let outputs = scores.node(node);
            scores.related(view, i, related);
            own.fill(0.0);
            for field in 0..layout.fields {
                let place = layout.field_outputs(field);
                let choice = Choice { view, outputs: &outputs[place.clone()], related };
                scores.of(simd, choice, row);
                let target = target(action.pointers[i * layout.fields + field]);
                losses.pointers += choose(simd, row, target, share);
                scores.backward(simd, choice, row, &mut own[place], d_node);
            }
            let mut binary = |output: usize, target: bool| {
                let logit = outputs[output];
                own[output] += share * (sigmoid(logit) - f32::from(u8::from(target)));
                binary_cross_entropy(logit, target)
            };
            for bit in 0..layout.bits {
                let toggled = action.toggles[i * layout.bits + bit];
                losses.toggles += binary(layout.toggle_output(bit), toggled);
            }
            for mark in 0..layout.marks {
                let marked = action.marks[i * layout.marks + mark];
                losses.marks += binary(layout.mark_output(mark), marked);
            }
            let into = &mut d_node[node * width..][..width];
            into.iter_mut().zip(&own).for_each(|(into, own)| *into += own);
        }
        let outputs = scores.controller(view);
        let into = &mut d_controller[view * controller_width..][..controller_width];
        let held = &scores.tape.graph.held[nodes];
        for register in 0..layout.registers {
            let place = layout.register_outputs(register);
            let choice = Choice { view, outputs: &outputs[place.clone()], related: held };
            scores.of(simd, choice, row);
            losses.registers += choose(simd, row, target(action.registers[register]), share);
            scores.backward(simd, choice, row, &mut into[place], d_node);
        }
        let mut classify = |place: std::ops::Range<usize>, target: usize| {
            row.clear();
            row.extend_from_slice(&outputs[place.clone()]);
            row.resize(padded(row.len()), f32::NEG_INFINITY);
            let loss = choose(simd, row, target, share);
            into[place.clone()].copy_from_slice(&row[..place.len()]);
            loss
        };
        for (control, value) in action.controls.iter().enumerate() {
            let target = value.map_or(0, |value| usize::from(value) + 1);
            losses.controls += classify(layout.control_outputs(control), target);
        }
        losses.states += classify(layout.state_outputs(), usize::from(action.next));
    }
    std::mem::swap(&mut tape.d_node, d_node);
    std::mem::swap(&mut tape.d_controller, d_controller);
    let mut shared = MachineLosses::default();
    shared.add(&losses, f64::from(share));
    shared.total = shared.iter().map(|(_, loss)| loss).sum();
    shared
}

fn target(write: Write) -> usize {
    match write {
        Write::Keep => KEEP,
        Write::Nil => NIL,
        Write::Node(node) => FIRST + usize::from(node),
    }
}

/// The cross-entropy of a choice; scores become their gradients.
#[inline(always)]
fn choose<S: Simd>(simd: S, scores: &mut [f32], target: usize, share: f32) -> f64 {
    let score = scores[target];
    let loss = f64::from(softmax(simd, scores)) - f64::from(score);
    scores[target] -= 1.0;
    scores.iter_mut().for_each(|value| *value *= share);
    loss
}
