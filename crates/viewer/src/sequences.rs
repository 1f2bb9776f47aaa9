//! How a model does on each of its test sequences, so that one can pick the worst.

use pgn_structures::{Node, forest};
use serde::{Deserialize, Serialize};

use crate::{
    halt::Halt,
    limits,
    refusal::{Answer, Refusal},
    replay::{self, Replay},
    subject::Subject,
};

/// Which sequences: the first `count` test sequences of this size.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub model: String,
    pub nodes: usize,
    #[serde(default)]
    pub seed: u64,
    #[serde(default = "paper_count")]
    pub count: usize,
}

/// As many as the paper tests on.
fn paper_count() -> usize {
    35
}

/// One sequence.
#[derive(Debug, PartialEq, Serialize)]
pub struct Score {
    pub sequence: usize,
    /// Wrong answers.
    pub errors: usize,
    /// The step of the first wrong answer, counted from 1.
    pub first_error: Option<usize>,
    /// The greatest depth that the true forest ever has.
    pub depth: u32,
}

impl Request {
    /// Replays all of them.
    pub fn scores(&self, subject: &Subject, halt: &Halt) -> Answer<Vec<Score>> {
        if self.count > limits::SEQUENCES {
            return Err(Refusal::bad(format!(
                "count is {}; expected at most {}",
                self.count,
                limits::SEQUENCES
            )));
        }
        let one = |sequence| {
            let request = replay::Request::test(self.nodes, self.seed, sequence);
            let replay = request.answer(subject, halt)?;
            Ok(score(sequence, &replay))
        };
        (0..self.count).map(one).collect()
    }
}

fn score(sequence: usize, replay: &Replay) -> Score {
    let wrong = |step: &&replay::Step| step.truth.answer != step.model.answer;
    let mut pointers: Vec<Node> = (0..replay.nodes as Node).collect();
    let mut depth = 0;
    for step in &replay.steps {
        for &[node, to] in &step.truth.moved {
            pointers[node as usize] = to;
        }
        depth = depth.max(forest::depths(&pointers).into_iter().max().unwrap_or(0));
    }
    Score {
        sequence,
        errors: replay.steps.iter().filter(wrong).count(),
        first_error: replay.steps.iter().position(|step| wrong(&step)).map(|index| index + 1),
        depth,
    }
}
