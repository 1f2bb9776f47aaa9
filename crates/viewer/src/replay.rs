//! A model and the data structure it imitates, side by side, operation by operation.

use std::{collections::HashSet, ops::ControlFlow};

use pgn_engine::{self as engine, Pointers, left_alone};
use pgn_lab::{Examples, Run};
use pgn_structures::{
    Dataset, Edge, Node, Operation, OperationKind, Sampling, Split, Task, given_priorities,
};
use serde::{Deserialize, Serialize};

use crate::{
    halt::Halt,
    limits, machine,
    refusal::{Answer, Refusal},
    subject::Subject,
};

/// What to replay: given operations, or a test sequence.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The id of a run or a built-in model.
    pub model: String,
    /// Nodes, n.
    pub nodes: usize,
    /// Where priorities, and operations that are not given, are drawn from.
    #[serde(default)]
    pub seed: u64,
    /// Priorities to use instead of drawn ones; only with `operations`.
    #[serde(default)]
    pub priorities: Option<Vec<f32>>,
    /// Operations, in order: u and v, and the kind if that is not the task's first.
    #[serde(default)]
    pub operations: Option<Vec<Vec<Node>>>,
    /// Without `operations`: how many to sample; 1.5 n unless told.
    #[serde(default)]
    pub ops: Option<usize>,
    /// Without `operations`: the number of the test sequence.
    #[serde(default)]
    pub sequence: Option<usize>,
}

/// A request about one node after one operation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeRequest {
    /// What is replayed.
    pub replay: Request,
    /// After how many operations; at least 1.
    pub step: usize,
    /// Which node.
    pub node: Node,
}

/// A replay. Pointers are told by what moved: at first every node points to itself.
#[derive(Debug, Serialize)]
pub struct Replay {
    pub task: String,
    /// The name of the task's operation.
    pub operation: String,
    /// What the answers 0 and 1 mean.
    pub answers: [String; 2],
    pub nodes: usize,
    pub priorities: Vec<f32>,
    /// Where the model's pointers come from.
    pub pointers: Pointers,
    pub has_masks: bool,
    pub has_attention: bool,
    /// The edges of the input graph, the lightest first, for tasks that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<Vec<GraphEdge>>,
    /// The kinds of operations, for tasks with several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<OperationKind>,
    pub steps: Vec<Step>,
}

/// An edge of the input graph.
#[derive(Debug, PartialEq, Serialize)]
pub struct GraphEdge {
    pub u: Node,
    pub v: Node,
    pub weight: f32,
}

/// One operation.
#[derive(Debug, Serialize)]
pub struct Step {
    pub u: Node,
    pub v: Node,
    /// The kind of operation, for tasks with several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    pub truth: Truth,
    pub model: Guess,
}

/// What the data structure did.
#[derive(Debug, Serialize)]
pub struct Truth {
    pub answer: u8,
    /// Nodes with mask 0.
    pub visited: Vec<Node>,
    /// Nodes whose pointer moved, and where to.
    pub moved: Vec<[Node; 2]>,
}

/// What the model did.
#[derive(Debug, Serialize)]
pub struct Guess {
    pub answer: u8,
    /// Absent for machines, whose answers have no probability.
    pub logit: Option<f32>,
    /// P(answer = 1), of the logit.
    pub probability: Option<f32>,
    /// Nodes with mask 0, in models with masks.
    pub visited: Option<Vec<Node>>,
    /// Nodes whose pointer moved, and where to.
    pub moved: Vec<[Node; 2]>,
}

/// What the model makes of one node.
#[derive(Debug, Serialize)]
pub struct NodeDetails {
    pub node: Node,
    pub step: usize,
    pub priority: f32,
    pub pointer: Node,
    pub true_pointer: Node,
    /// The truth's mask: 0 visited, 1 left alone.
    pub true_mask: u8,
    /// P(mask = 1): that the node is left alone. In models with masks.
    pub mask_probability: Option<f32>,
    /// The logit behind it, which does not saturate.
    pub mask_logit: Option<f32>,
    /// The strongest pointer candidates, by α (equation 6). In models with attention.
    pub candidates: Option<Vec<Candidate>>,
}

/// A node that a pointer may be aimed at.
#[derive(Debug, Serialize)]
pub struct Candidate {
    pub node: Node,
    pub alpha: f32,
}

/// How many candidates are told.
const CANDIDATES: usize = 5;

impl Request {
    /// A request for a test sequence of the model at hand.
    pub fn test(nodes: usize, seed: u64, sequence: usize) -> Request {
        let sequence = Some(sequence);
        Request { sequence, ..Request::empty(nodes, seed) }
    }

    /// A request for the chain of the paper's figure 4.
    pub fn chain(nodes: usize) -> Request {
        Request {
            priorities: Some((0..nodes).map(|node| node as f32 / nodes as f32).collect()),
            operations: Some((1..nodes as Node).map(|node| vec![node - 1, node]).collect()),
            ..Request::empty(nodes, 0)
        }
    }

    fn empty(nodes: usize, seed: u64) -> Request {
        Request {
            model: String::new(),
            nodes,
            seed,
            priorities: None,
            operations: None,
            ops: None,
            sequence: None,
        }
    }

    /// Checks the limits, then replays the operations on the data structure. `None` stands for no
    /// operations at all.
    pub fn truth(&self, task: &Task) -> Answer<(Vec<f32>, Option<Dataset>)> {
        let bad = |error: pgn_structures::Error| Refusal::bad(error.to_string());
        let n = self.nodes;
        let Some(pairs) = &self.operations else {
            return self.sample(task);
        };
        limits::check(n, pairs.len())?;
        if self.ops.is_some() || self.sequence.is_some() {
            return Err(Refusal::bad("operations were given; expected no ops and no sequence"));
        }
        let operation = |given: &Vec<Node>| match given[..] {
            [u, v] => Ok(Operation::new(u, v)),
            [u, v, kind] if kind < 256 => Ok(Operation::of_kind(kind as u8, u, v)),
            _ => {
                Err(Refusal::bad("operations has an item that is neither [u, v] nor [u, v, kind]"))
            }
        };
        let operations = pairs.iter().map(operation).collect::<Answer<Vec<_>>>()?;
        for (index, &operation) in operations.iter().enumerate() {
            task.check(operation, n)
                .map_err(|error| Refusal::bad(format!("operation {}: {error}", index + 1)))?;
        }
        let priorities = match &self.priorities {
            Some(given) if given.len() == n => given.clone(),
            Some(given) => {
                let count = given.len();
                return Err(Refusal::bad(format!("{count} priorities for {n} nodes were given")));
            }
            None => given_priorities(n, self.seed).map_err(bad)?,
        };
        // Priorities are checked along the way, so a structure needs at least one operation.
        let some = if operations.is_empty() { &[Operation::new(0, 1)] } else { &operations[..] };
        let mut truth = Dataset::from_operations(task, n, &priorities, some).map_err(bad)?;
        if !operations.is_empty() && has_input_graph(task, &priorities) {
            truth.edges = edges_of(&operations);
        }
        Ok((priorities, (!operations.is_empty()).then_some(truth)))
    }

    /// A test sequence of the run's data: the very one that its scores count.
    fn sample(&self, task: &Task) -> Answer<(Vec<f32>, Option<Dataset>)> {
        let n = self.nodes;
        let ops = self.ops.unwrap_or(Sampling::paper_ops(n));
        limits::check(n, ops)?;
        if self.priorities.is_some() {
            return Err(Refusal::bad("priorities were given without operations"));
        }
        if ops == 0 {
            return Err(Refusal::bad("ops is 0; expected at least 1"));
        }
        let index = self.sequence.unwrap_or(0);
        if index >= limits::SEQUENCES {
            return Err(Refusal::bad(format!(
                "sequence is {index}; expected below {}",
                limits::SEQUENCES
            )));
        }
        let sampling =
            Sampling { nodes: n, ops, count: index + 1, seed: self.seed, split: Split::Test };
        let set =
            Dataset::sample(task, &sampling).map_err(|error| Refusal::bad(error.to_string()))?;
        let one = set.sequence(index);
        let mut truth = Dataset::from_operations(task, n, one.priorities, one.operations)
            .map_err(|error| Refusal::bad(error.to_string()))?;
        truth.edges = one.edges.to_vec();
        Ok((one.priorities.to_vec(), Some(truth)))
    }

    /// The whole replay of whatever was loaded.
    pub fn answer(&self, subject: &Subject, halt: &Halt) -> Answer<Replay> {
        match subject {
            Subject::Run(run) => self.replay(run, halt),
            Subject::Machine(run) => machine::replay(self, run, halt),
        }
    }

    /// The ground truth, if it has this step.
    pub fn truth_until(&self, run: &Run, step: usize) -> Answer<Examples> {
        let (_, truth) = self.truth(task(run)?)?;
        let ops = truth.as_ref().map_or(0, |truth| truth.ops);
        match truth {
            Some(truth) if (1..=ops).contains(&step) => examples(run, truth),
            _ => Err(Refusal::bad(format!("step is {step}; expected from 1 to {ops}"))),
        }
    }

    /// The whole replay.
    pub fn replay(&self, run: &Run, halt: &Halt) -> Answer<Replay> {
        let task = task(run)?;
        let (priorities, truth) = self.truth(task)?;
        let config = run.model().config();
        let graph = truth.as_ref().and_then(|truth| graph(&truth.edges));
        let mut steps = Vec::new();
        if let Some(truth) = truth {
            let truth = examples(run, truth)?;
            let mut before: Vec<Node> = (0..self.nodes as Node).collect();
            roll_out(run, &truth, truth.set.ops, halt, |step| {
                let (one, operation, t) = (truth.set.sequence(0), step.operation, step.t);
                let true_moved = moves(&mut before, one.pointers_after(t));
                let unmasked = |&(_, &logit): &(Node, &f32)| !left_alone(logit);
                let visited = config.has_masks().then(|| {
                    (0..).zip(step.mask_logits()).filter(unmasked).map(|(node, _)| node).collect()
                });
                let answer = step.answer();
                let zero = |&(_, &mask): &(Node, &u8)| mask == 0;
                steps.push(Step {
                    u: operation.u,
                    v: operation.v,
                    kind: kind_name(task, operation),
                    truth: Truth {
                        answer: one.answers[t],
                        visited: (0..)
                            .zip(one.mask(t))
                            .filter(zero)
                            .map(|(node, _)| node)
                            .collect(),
                        moved: true_moved,
                    },
                    model: Guess {
                        answer: u8::from(answer.value()),
                        logit: Some(answer.logit),
                        probability: Some(answer.probability),
                        visited,
                        moved: step.moved().map(|one| [one.node, one.to]).collect(),
                    },
                });
            })?;
        }
        let about = task.about();
        Ok(Replay {
            task: run.config().task.clone(),
            operation: about.operation.clone(),
            answers: about.answers.clone(),
            nodes: self.nodes,
            priorities,
            pointers: config.pointers,
            has_masks: config.has_masks(),
            has_attention: config.has_attention(),
            graph,
            kinds: kinds(task),
            steps,
        })
    }
}

impl NodeRequest {
    /// What whatever was loaded makes of the node.
    pub fn answer(&self, subject: &Subject, halt: &Halt) -> Answer<NodeDetails> {
        match subject {
            Subject::Run(run) => self.details(run, halt),
            Subject::Machine(run) => machine::node(self, run, halt),
        }
    }

    /// What the model makes of the node.
    pub fn details(&self, run: &Run, halt: &Halt) -> Answer<NodeDetails> {
        let &NodeRequest { step, node, .. } = self;
        let truth = self.replay.truth_until(run, step)?;
        let Some(&priority) = truth.set.priorities.get(node as usize) else {
            let n = self.replay.nodes;
            return Err(Refusal::bad(format!("node is {node}; expected below {n}")));
        };
        let mut details = None;
        let config = run.model().config();
        roll_out(run, &truth, step, halt, |last| {
            if last.t + 1 < step {
                return;
            }
            let (t, state) = (last.t, last.state());
            let one = truth.set.sequence(0);
            let logit = state.mask_logits().get(node as usize).copied();
            details = Some(NodeDetails {
                node,
                step,
                priority,
                pointer: state.pointers()[node as usize],
                true_pointer: one.pointers_after(t)[node as usize],
                true_mask: one.mask(t)[node as usize],
                mask_probability: logit.filter(|_| config.has_masks()).map(sigmoid),
                mask_logit: logit.filter(|_| config.has_masks()),
                candidates: state.attention(node).map(|alpha| strongest(&alpha)),
            });
        })?;
        details.ok_or_else(|| Refusal::bad("there is no such step"))
    }
}

/// Rolls the model out freely over the first `steps` operations of the truth, and shows each step
/// to `see`.
pub fn roll_out(
    run: &Run,
    truth: &Examples,
    steps: usize,
    halt: &Halt,
    mut see: impl FnMut(engine::Step<'_>),
) -> Answer<()> {
    let replayed = run.model().replay_until(truth.example(0), halt.flag(), |step| {
        see(step);
        if step.t + 1 < steps { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    replayed.map_err(|error| Refusal::bad(error.to_string()))?;
    halt.check()
}

/// The truth, with the pointers that the model is given, if it is. Errors of this have no paths.
fn examples(run: &Run, truth: Dataset) -> Answer<Examples> {
    run.data().and_then(|data| data.examples(truth)).map_err(Refusal::damaged)
}

/// The data structure that the run is about.
fn task(run: &Run) -> Answer<&Task> {
    run.task().map_err(|error| Refusal::bad(error.to_string()))
}

/// The kinds of operations, for tasks with several.
pub fn kinds(task: &Task) -> Vec<OperationKind> {
    if task.has_kinds() { task.kinds().to_vec() } else { Vec::new() }
}

/// The name of an operation's kind, for tasks with several.
pub fn kind_name(task: &Task, operation: Operation) -> Option<String> {
    let kind = task.kinds().get(usize::from(operation.kind)).filter(|_| task.has_kinds())?;
    Some(kind.name.clone())
}

/// Whether sequences of the task come with a graph.
fn has_input_graph(task: &Task, priorities: &[f32]) -> bool {
    let mut structure = task.make();
    structure.reset(priorities);
    let mut rng = Split::Given.rng(0, priorities.len(), 0);
    !structure.input_graph(priorities.len() as Node, 1, &mut rng).is_empty()
}

/// The graph whose edges are given operations, the first the lightest; an edge that comes again
/// is the same edge.
fn edges_of(operations: &[Operation]) -> Vec<Edge> {
    let mut seen = HashSet::new();
    let new = |&&Operation { u, v, .. }: &&Operation| seen.insert((u.min(v), u.max(v)));
    let known: Vec<&Operation> = operations.iter().filter(new).collect();
    let count = known.len() as f32;
    let weight = |index: usize| index as f32 / count;
    known
        .iter()
        .enumerate()
        .map(|(i, one)| Edge { u: one.u, v: one.v, weight: weight(i) })
        .collect()
}

/// The graph as the page draws it; nothing without edges.
pub fn graph(edges: &[Edge]) -> Option<Vec<GraphEdge>> {
    let mut sorted: Vec<&Edge> = edges.iter().collect();
    sorted.sort_by(|a, b| a.weight.total_cmp(&b.weight));
    let edge = |&&Edge { u, v, weight }: &&Edge| GraphEdge { u, v, weight };
    (!sorted.is_empty()).then(|| sorted.iter().map(edge).collect())
}

/// Which pointers differ; afterwards `before` is like `after`.
pub fn moves(before: &mut [Node], after: &[Node]) -> Vec<[Node; 2]> {
    let mut moved = Vec::new();
    for (node, (old, &new)) in (0..).zip(before.iter_mut().zip(after)) {
        if *old != new {
            *old = new;
            moved.push([node, new]);
        }
    }
    moved
}

fn strongest(alpha: &[f32]) -> Vec<Candidate> {
    let mut all: Vec<Candidate> =
        (0..).zip(alpha).map(|(node, &alpha)| Candidate { node, alpha }).collect();
    // The sort is stable: among equals the lowest node comes first, as in the model's own argmax.
    all.sort_by(|a, b| b.alpha.total_cmp(&a.alpha));
    all.truncate(CANDIDATES);
    all
}

fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}
