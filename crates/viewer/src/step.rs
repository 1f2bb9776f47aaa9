//! Everything that the model computed in one step: masks and attention of all nodes.

use pgn_engine::{TestLayers, reference};
use pgn_lab::{Examples, Run};
use pgn_structures::{Dataset, Node};
use serde::{Deserialize, Serialize};

use crate::{
    halt::Halt,
    limits,
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
    /// The only node whose α is wanted.
    #[serde(default)]
    pub node: Option<Node>,
    /// Whether latent states and messages are wanted too.
    #[serde(default)]
    pub equations: bool,
}

/// What the model computed.
#[derive(Debug, Serialize)]
pub struct Details {
    /// Logits of mask = 1 (not visited), by node. In models with masks.
    pub mask_logits: Option<Vec<f32>>,
    /// α of equation 6, a row for each node that is asked for. In models with attention, unless n is
    /// too large for all rows.
    pub alpha: Option<Vec<Vec<f32>>>,
    /// Where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equations: Option<Equations>,
}

/// What the equations give on the way to the answer, k numbers for each node.
#[derive(Debug, Serialize)]
pub struct Equations {
    /// h before the operation.
    before: Vec<Vec<f64>>,
    /// Equation 1.
    z: Vec<Vec<f64>>,
    /// Equation 2.
    m: Vec<Vec<f64>>,
    /// Equation 8.
    h: Vec<Vec<f64>>,
    /// Who reads whom, and how many elements of the reader's m are that message's.
    messages: Vec<(usize, usize, usize)>,
    /// How many of the 2k maxima that the answer is read from are each node's.
    readout: Vec<usize>,
}

impl Equations {
    /// By the reference, on the pointers that the model had before each operation.
    fn of(run: &Run, truth: &Examples, pointers: &[Vec<usize>], halt: &Halt) -> Answer<Equations> {
        let model = run.model();
        let config = model.config();
        let plain = config.layers == 1 && config.test_layers == TestLayers::Training;
        if config.iterated().is_some() || !plain || !config.pointer_types.is_empty() {
            return Err(Refusal::bad("equations are told of models with one layer per operation"));
        }
        let net = reference::Net::new(config, model.parameters()).map_err(Refusal::damaged)?;
        let layers = reference::Layers::new(config, &net);
        let one = truth.set.sequence(0);
        let mut h = vec![vec![0.0; config.k]; one.nodes()];
        let mut last = None;
        for (pointers, &operation) in pointers.iter().zip(one.operations) {
            halt.check()?;
            let step = reference::Step::new(config, &layers, one, operation, pointers, h, 1);
            h = step.h.clone();
            last = Some(step);
        }
        let step = last.ok_or_else(|| Refusal::bad("there is no such step"))?;
        let pass = &step.passes[0][0];
        let messages = pass.aggregated[0].iter().enumerate().flat_map(|(reader, all)| {
            all.iter().map(move |(sender, shares)| {
                (reader, *sender, shares.iter().filter(|&&share| share > 0.0).count())
            })
        });
        let counted = |node: usize| {
            let shares = step.top_shares.iter().flat_map(|rows| &rows[node]);
            shares.filter(|&&share| share > 0.0).count()
        };
        // Three digits are more than can be seen.
        let rounded = |rows: &[Vec<f64>]| {
            let round = |row: &Vec<f64>| row.iter().map(|x| (x * 1e3).round() / 1e3).collect();
            rows.iter().map(round).collect()
        };
        Ok(Equations {
            before: rounded(&step.h_before),
            z: rounded(&step.z),
            m: rounded(&pass.m[0]),
            h: rounded(&step.h),
            messages: messages.collect(),
            readout: (0..one.nodes()).map(counted).collect(),
        })
    }
}

impl Request {
    /// Everything that whatever was loaded computed.
    pub fn answer(&self, subject: &Subject, halt: &Halt) -> Answer<Details> {
        if let Some(node) = self.node.filter(|&node| node as usize >= self.replay.nodes) {
            let n = self.replay.nodes;
            return Err(Refusal::bad(format!("node is {node}; expected below {n}")));
        }
        let truth = self.replay.truth_until(&subject.task()?, self.step)?;
        match subject {
            Subject::Run(run) => self.details(run, truth, halt),
            // There are neither probabilities of masks nor attention over all nodes.
            Subject::Machine(_) => Ok(Details { mask_logits: None, alpha: None, equations: None }),
        }
    }

    /// Replays up to the step.
    fn details(&self, run: &Run, truth: Dataset, halt: &Halt) -> Answer<Details> {
        let (truth, nodes) = (replay::examples(run, truth)?, self.replay.nodes);
        if self.equations && nodes > limits::EQUATIONS {
            let most = limits::EQUATIONS;
            return Err(Refusal::bad(format!(
                "nodes is {nodes}; equations are told of at most {most}"
            )));
        }
        let mut details = None;
        let config = run.model().config();
        let mut pointers = vec![(0..nodes).collect::<Vec<_>>()];
        replay::roll_out(run, &truth, self.step, halt, |last| {
            if last.t + 1 < self.step {
                if self.equations {
                    pointers.push(last.pointers().iter().map(|&node| node as usize).collect());
                }
                return;
            }
            let state = last.state();
            let row = |node: Node| {
                let mut alpha = state.attention(node)?;
                if self.node.is_none() {
                    // Six digits are more than can be seen, and a third of the text.
                    alpha.iter_mut().for_each(|value| *value = (*value * 1e6).round() / 1e6);
                }
                Some(alpha)
            };
            let rows = match self.node {
                Some(node) => node..node + 1,
                None => 0..nodes as Node,
            };
            let shown = rows.len() <= limits::ALPHA;
            details = Some(Details {
                mask_logits: config.has_masks().then(|| state.mask_logits().to_vec()),
                alpha: if shown { rows.map(row).collect() } else { None },
                equations: None,
            });
        })?;
        let mut details = details.ok_or_else(|| Refusal::bad("there is no such step"))?;
        if self.equations {
            details.equations = Some(Equations::of(run, &truth, &pointers, halt)?);
        }
        Ok(details)
    }
}
