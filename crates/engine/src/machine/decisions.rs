//! Actions from outputs, and how clear each decision was.

use fearless_simd::prelude::*;
use pgn_machines::{Action, Write};

use super::scores::{Choice, FIRST, KEEP, NIL, Scores};

/// What a network does on a view.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// What it writes.
    pub action: Action,
    /// The smallest distance between the score of a decision and that of its runner-up (or 0,
    /// for bits and marks): how far the outputs may move before the action changes.
    pub margin: f32,
}

/// The decisions on view `view` of a batch.
#[inline(always)]
pub fn decide<S: Simd>(simd: S, scores: Scores<'_>, view: usize, row: &mut Vec<f32>) -> Prediction {
    let layout = scores.layout;
    let nodes = scores.nodes(view);
    let mut margin = f32::INFINITY;
    let mut action = Action {
        pointers: Vec::with_capacity(nodes.len() * layout.fields),
        toggles: Vec::with_capacity(nodes.len() * layout.bits),
        marks: Vec::with_capacity(nodes.len() * layout.marks),
        registers: Vec::with_capacity(layout.registers),
        controls: Vec::with_capacity(layout.controls.len()),
        next: 0,
    };
    let mut related = Vec::with_capacity(nodes.len());
    for (i, node) in nodes.clone().enumerate() {
        let outputs = scores.node(node);
        scores.related(view, i, &mut related);
        for field in 0..layout.fields {
            let outputs = &outputs[layout.field_outputs(field)];
            scores.of(simd, Choice { view, outputs, related: &related }, row);
            action.pointers.push(write(highest(row, &mut margin)));
        }
        let mut positive = |logit: f32| {
            margin = margin.min(logit.abs());
            logit > 0.0
        };
        action.toggles.extend((0..layout.bits).map(|b| positive(outputs[layout.toggle_output(b)])));
        action.marks.extend((0..layout.marks).map(|m| positive(outputs[layout.mark_output(m)])));
    }
    let outputs = scores.controller(view);
    let held = &scores.tape.graph.held[nodes];
    for register in 0..layout.registers {
        let outputs = &outputs[layout.register_outputs(register)];
        scores.of(simd, Choice { view, outputs, related: held }, row);
        action.registers.push(write(highest(row, &mut margin)));
    }
    for control in 0..layout.controls.len() {
        let best = highest(&outputs[layout.control_outputs(control)], &mut margin);
        action.controls.push(best.checked_sub(1).map(|value| value as u8));
    }
    action.next = highest(&outputs[layout.state_outputs()], &mut margin) as u8;
    Prediction { action, margin }
}

fn write(choice: usize) -> Write {
    match choice {
        KEEP => Write::Keep,
        NIL => Write::Nil,
        node => Write::Node((node - FIRST) as u8),
    }
}

/// The place of the highest score, the first of equals; `margin` falls to its lead over the next.
fn highest(scores: &[f32], margin: &mut f32) -> usize {
    let (mut best, mut second) = (0, f32::NEG_INFINITY);
    for (place, &score) in scores.iter().enumerate().skip(1) {
        if score > scores[best] {
            second = scores[best];
            best = place;
        } else if score > second {
            second = score;
        }
    }
    if let Some(score) = scores.get(best) {
        *margin = margin.min(score - second);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::highest;

    #[test]
    fn the_first_of_equal_scores_wins_and_the_margin_is_the_lead() {
        for (scores, best, lead) in [
            (&[1.0, 3.0, 3.0, 2.0][..], 1, 0.0),
            (&[5.0, 3.0, 4.5], 0, 0.5),
            (&[0.0, 0.0], 0, 0.0),
            (&[-1.0, 2.0, f32::NEG_INFINITY], 1, 3.0),
            (&[7.0], 0, f32::INFINITY),
        ] {
            let mut margin = f32::INFINITY;
            assert_eq!(highest(scores, &mut margin), best, "{scores:?}");
            assert_eq!(margin, lead, "{scores:?}");
        }
    }
}
