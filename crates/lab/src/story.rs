//! The story of one rollout: what the model did at each step, and where it was wrong.

use std::ops::ControlFlow;

use pgn_engine::{Example, Model, Move};
use pgn_structures::Node;
use serde::Serialize;

use crate::Result;

/// One step of a rollout against the truth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The operands, u and v.
    pub operands: [Node; 2],
    /// The model's answer.
    pub answer: u8,
    /// The probability it gives its answer, from 0.5 to 1.
    pub confidence: f32,
    /// The true answer.
    pub truth: u8,
    /// The pointers that moved in this step.
    pub moved: Vec<Move>,
    /// The pointers that are not the truth's after this step.
    pub wrong: Vec<Wrong>,
}

/// A pointer that is not the truth's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Wrong {
    /// Whose pointer.
    pub node: Node,
    /// Where it points.
    pub to: Node,
    /// Where it should.
    pub truth: Node,
}

impl Step {
    /// Whether the answer is right.
    pub fn is_right(&self) -> bool {
        self.answer == self.truth
    }
}

/// Rolls the model out freely and compares it with the truth, step by step.
///
/// For models without pointers of their own, nothing moves and nothing points wrong.
pub fn story(model: &Model, example: Example<'_>) -> Result<Vec<Step>> {
    let truth = example.sequence;
    let owns_pointers = model.config().owns_pointers();
    let mut steps = Vec::with_capacity(truth.ops());
    model.replay(example, |step| {
        let (mut moved, mut wrong) = (Vec::new(), Vec::new());
        if owns_pointers {
            moved.extend(step.moved());
            let both = step.pointers().iter().zip(truth.pointers_after(step.t));
            let each = (0..).zip(both).filter(|(_, (to, truth))| to != truth);
            wrong.extend(each.map(|(node, (&to, &truth))| Wrong { node, to, truth }));
        }
        steps.push(Step {
            operands: [step.operation.u, step.operation.v],
            answer: u8::from(step.answer().value()),
            confidence: 1.0 / (1.0 + (-step.logit.abs()).exp()),
            truth: truth.answers[step.t],
            moved,
            wrong,
        });
        ControlFlow::Continue(())
    })?;
    Ok(steps)
}
