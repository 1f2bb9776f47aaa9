//! The story of one rollout: what the model did at each step, and where it was wrong.

use pgn_engine::Model;
use pgn_structures::{Node, Sequence};
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

/// A pointer that moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Move {
    /// Whose pointer.
    pub node: Node,
    /// Where it pointed before.
    pub from: Node,
    /// Where it points now.
    pub to: Node,
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

/// Rolls the model out freely on `sequence`. `truth` is the same sequence with the true
/// pointers (another one only where a teacher's pointers are given to the model).
///
/// For models without pointers of their own, nothing moves and nothing points wrong.
pub fn story(model: &Model, sequence: Sequence<'_>, truth: Sequence<'_>) -> Result<Vec<Step>> {
    let rollout = model.rollout(sequence)?;
    let n = sequence.nodes();
    let mut before: Vec<Node> = (0..n as Node).collect();
    let mut steps = Vec::with_capacity(sequence.ops());
    for (t, (&operation, &logit)) in
        sequence.operations.iter().zip(&rollout.query_logits).enumerate()
    {
        let (mut moved, mut wrong) = (Vec::new(), Vec::new());
        if let Some(pointers) = &rollout.pointers {
            let now = &pointers[t * n..][..n];
            let true_pointers = truth.pointers_after(t);
            for (node, ((&to, from), &truth)) in
                (0..).zip(now.iter().zip(&mut before).zip(true_pointers))
            {
                if to != *from {
                    moved.push(Move { node, from: std::mem::replace(from, to), to });
                }
                if to != truth {
                    wrong.push(Wrong { node, to, truth });
                }
            }
        }
        steps.push(Step {
            operands: [operation.u, operation.v],
            answer: u8::from(logit > 0.0),
            confidence: 1.0 / (1.0 + (-logit.abs()).exp()),
            truth: truth.answers[t],
            moved,
            wrong,
        });
    }
    Ok(steps)
}
