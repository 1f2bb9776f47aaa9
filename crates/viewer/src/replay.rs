//! A model and the data structure it imitates, side by side, operation by operation.

use std::{collections::BTreeMap, ops::ControlFlow};

use pgn_engine::{self as engine, Pointers, Rollout};
use pgn_lab::{Examples, Run};
use pgn_structures::{
    Dataset, Edge, Feature, Node, Operation, OperationKind, Sampling, Split, Task, given_priorities,
};
use serde::{Deserialize, Serialize};

use crate::{
    halt::Halt,
    limits,
    recorded::recorded,
    refusal::{Answer, Refusal},
    subject::Subject,
};

/// What to replay: given operations, or a test sequence.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The id of a run or a built-in model.
    pub model: String,
    /// The epoch whose kept model is meant; the best one unless told.
    #[serde(default)]
    pub epoch: Option<u64>,
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
    /// Whether the structure compares nodes by their priorities.
    pub compares: bool,
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
    /// The same of what a binary tree is drawn by, besides: `left`, `right` and bits. A field that
    /// is nil is the node itself.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Vec<[Node; 2]>>,
}

/// What the model did.
#[derive(Debug, Serialize)]
pub struct Guess {
    pub answer: u8,
    /// Absent for machines, whose answers have no probability.
    pub logit: Option<f32>,
    /// Nodes with mask 0, in models with masks.
    pub visited: Option<Vec<Node>>,
    /// Nodes whose pointer moved, and where to.
    pub moved: Vec<[Node; 2]>,
}

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
            epoch: None,
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
        if !operations.is_empty() && task.has_input_graph() {
            truth.edges = Edge::of_operations(&operations);
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

    /// The ground truth, if it has this step.
    pub fn truth_until(&self, task: &Task, step: usize) -> Answer<Dataset> {
        let (_, truth) = self.truth(task)?;
        let ops = truth.as_ref().map_or(0, |truth| truth.ops);
        let bad = || Refusal::bad(format!("step is {step}; expected from 1 to {ops}"));
        truth.filter(|_| (1..=ops).contains(&step)).ok_or_else(bad)
    }

    /// The whole replay of whatever was loaded.
    pub fn answer(&self, subject: &Subject, halt: &Halt) -> Answer<Replay> {
        let task = subject.task()?;
        let (priorities, truth) = self.truth(&task)?;
        let mut replay = match truth {
            None => Replay::empty(&task, priorities),
            Some(truth) => {
                let rollout = match subject {
                    Subject::Run(run) => whole(run, truth.clone(), halt)?,
                    Subject::Machine(machine) => machine
                        .run
                        .rollout_until(&machine.executor()?, truth.sequence(0), halt.stop())
                        .map_err(Refusal::damaged)?,
                };
                recorded(task.name(), Some(&task), truth.sequence(0), &rollout)
                    .map_err(Refusal::damaged)?
            }
        };
        match subject {
            Subject::Run(run) => {
                let config = run.model().config();
                replay.pointers = config.pointers;
                replay.has_masks = config.has_masks();
                replay.has_attention = config.has_attention();
            }
            // A machine's answers have no probabilities.
            Subject::Machine(_) => {
                replay.steps.iter_mut().for_each(|step| step.model.logit = None);
            }
        }
        Ok(replay)
    }
}

/// The rollout of a model over all of the truth.
fn whole(run: &Run, truth: Dataset, halt: &Halt) -> Answer<Rollout> {
    let (truth, has_masks) = (examples(run, truth)?, run.model().config().has_masks());
    let (mut query_logits, mut mask_logits, mut pointers) = Default::default();
    roll_out(run, &truth, truth.set.ops, halt, |step| {
        Vec::push(&mut query_logits, step.logit);
        Vec::extend_from_slice(&mut mask_logits, step.mask_logits());
        Vec::extend_from_slice(&mut pointers, step.pointers());
    })?;
    let mask_logits = has_masks.then_some(mask_logits);
    Ok(Rollout { query_logits, mask_logits, pointers: Some(pointers) })
}

impl Replay {
    /// No operations at all.
    pub fn empty(task: &Task, priorities: Vec<f32>) -> Replay {
        let about = task.text();
        Replay {
            task: task.name().to_owned(),
            operation: about.operation.clone(),
            answers: about.answers.clone(),
            nodes: priorities.len(),
            priorities,
            compares: compares(task),
            pointers: Pointers::Masked,
            has_masks: true,
            has_attention: false,
            graph: None,
            kinds: kinds(task),
            steps: Vec::new(),
        }
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
pub fn examples(run: &Run, truth: Dataset) -> Answer<Examples> {
    run.data().and_then(|data| data.examples(truth)).map_err(Refusal::damaged)
}

/// Whether priorities decide anything: lists have them only to tell nodes apart.
pub fn compares(task: &Task) -> bool {
    task.features().contains(&Feature::Priority) && !["mtf", "ring"].contains(&task.name())
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
