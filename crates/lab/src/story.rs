//! The story of one rollout: what the model did at each step, and where it was wrong.

use pgn_engine::{Move, Rollout};
use pgn_structures::{Node, Operation, Sequence};
use serde::Serialize;

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

/// Compares a rollout with the truth, step by step. In models without pointers of their own nothing
/// moves and nothing points wrong.
pub fn story(truth: Sequence<'_>, rollout: &Rollout) -> Vec<Step> {
    let nodes = truth.nodes();
    let mut before: Vec<Node> = (0..nodes as Node).collect();
    let tell = |(t, (operation, &logit)): (usize, (&Operation, &f32))| {
        let (mut moved, mut wrong) = (Vec::new(), Vec::new());
        if let Some(pointers) = &rollout.pointers {
            let after = &pointers[t * nodes..][..nodes];
            for (node, (&to, &truth)) in (0..).zip(after.iter().zip(truth.pointers_after(t))) {
                let from = std::mem::replace(&mut before[node as usize], to);
                moved.extend((from != to).then_some(Move { node, from, to }));
                wrong.extend((to != truth).then_some(Wrong { node, to, truth }));
            }
        }
        Step {
            operands: [operation.u, operation.v],
            answer: u8::from(logit > 0.0),
            confidence: 1.0 / (1.0 + (-logit.abs()).exp()),
            truth: truth.answers[t],
            moved,
            wrong,
        }
    };
    truth.operations.iter().zip(&rollout.query_logits).enumerate().map(tell).collect()
}
