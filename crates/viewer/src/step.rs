//! Everything that the model computed in one step: masks and attention of all nodes.

use pgn_lab::Run;
use pgn_structures::Node;
use serde::{Deserialize, Serialize};

use crate::{
    halt::Halt,
    limits, machine,
    refusal::{Answer, Refusal},
    replay,
    subject::Subject,
};

/// A request about one step of a replay.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub replay: replay::Request,
    /// After how many operations; at least 1.
    pub step: usize,
}

/// What the model computed.
#[derive(Debug, Serialize)]
pub struct Details {
    /// Logits of mask = 1 (not visited), by node. In models with masks.
    pub mask_logits: Option<Vec<f32>>,
    /// α of equation 6, a row for each node. In models with attention, unless n is too large.
    pub alpha: Option<Vec<Vec<f32>>>,
}

impl Request {
    /// Everything that whatever was loaded computed.
    pub fn answer(&self, subject: &Subject, halt: &Halt) -> Answer<Details> {
        match subject {
            Subject::Run(run) => self.details(run, halt),
            Subject::Machine(run) => machine::step(self, run, halt),
        }
    }

    /// Replays up to the step.
    fn details(&self, run: &Run, halt: &Halt) -> Answer<Details> {
        let (truth, nodes) = (self.replay.truth_until(run, self.step)?, self.replay.nodes);
        let mut details = None;
        let config = run.model().config();
        replay::roll_out(run, &truth, self.step, halt, |last| {
            if last.t + 1 < self.step {
                return;
            }
            let state = last.state();
            let row = |node: Node| {
                let alpha = state.attention(node)?;
                // Six digits are more than can be seen, and a third of the text.
                Some(alpha.iter().map(|value| (value * 1e6).round() / 1e6).collect())
            };
            let shown = nodes <= limits::ALPHA;
            details = Some(Details {
                mask_logits: config.has_masks().then(|| state.mask_logits().to_vec()),
                alpha: if shown { (0..nodes as Node).map(row).collect() } else { None },
            });
        })?;
        details.ok_or_else(|| Refusal::bad("there is no such step"))
    }
}
