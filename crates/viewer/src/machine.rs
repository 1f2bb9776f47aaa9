//! Machines in the player: rollouts of networks that execute a program micro-step by micro-step.

use pgn_lab::machine::{MachineRun, Mode};
use pgn_structures::Node;

use crate::{
    halt::Halt,
    refusal::{Answer, Refusal},
    replay::{NodeDetails, NodeRequest, Replay, Request},
    report::recorded,
    step,
};

/// The logits of a machine, which does not hedge.
const LOGIT: f32 = 20.0;

/// The whole replay.
pub fn replay(request: &Request, run: &MachineRun, halt: &Halt) -> Answer<Replay> {
    let task = run.task().map_err(|error| Refusal::bad(error.to_string()))?;
    let (priorities, truth) = request.truth(&task)?;
    let Some(truth) = truth else {
        let about = task.about();
        return Ok(Replay {
            task: task.name().to_owned(),
            operation: about.operation.clone(),
            answers: about.answers.clone(),
            nodes: request.nodes,
            priorities,
            pointers: pgn_engine::Pointers::Masked,
            has_masks: true,
            has_attention: false,
            steps: Vec::new(),
        });
    };
    // What is certified does the same compiled, and faster.
    let mode = if run.certified().is_ok() { Mode::Compiled } else { Mode::Network };
    let executor = run.executor(mode).map_err(Refusal::damaged)?;
    let rolled = run.rollout_until(&executor, truth.sequence(0), halt.stop());
    let rollout = rolled.map_err(Refusal::damaged)?;
    recorded(task.name(), truth.sequence(0), &rollout).map_err(Refusal::damaged)
}

/// What is known of a node after a step. There are no candidates: attention is over the few nodes
/// of a view, in each micro-step.
pub fn node(request: &NodeRequest, run: &MachineRun, halt: &Halt) -> Answer<NodeDetails> {
    let replay = replay(&request.replay, run, halt)?;
    let &NodeRequest { step, node, .. } = request;
    let last = step_of(&replay, step)?;
    let Some(&priority) = replay.priorities.get(node as usize) else {
        return Err(Refusal::bad(format!("node is {node}; expected below {}", replay.nodes)));
    };
    let (mut pointer, mut true_pointer) = (node, node);
    for one in &replay.steps[..step] {
        let find = |moved: &[[Node; 2]], now| {
            moved.iter().find(|&&[from, _]| from == node).map_or(now, |&[_, to]| to)
        };
        pointer = find(&one.model.moved, pointer);
        true_pointer = find(&one.truth.moved, true_pointer);
    }
    let visited = last.model.visited.as_ref().is_some_and(|all| all.contains(&node));
    let logit = if visited { -LOGIT } else { LOGIT };
    Ok(NodeDetails {
        node,
        step,
        priority,
        pointer,
        true_pointer,
        true_mask: u8::from(!last.truth.visited.contains(&node)),
        mask_probability: Some(if visited { 0.0 } else { 1.0 }),
        mask_logit: Some(logit),
        candidates: None,
    })
}

/// The masks of a step.
pub fn step(request: &step::Request, run: &MachineRun, halt: &Halt) -> Answer<step::Details> {
    let replay = replay(&request.replay, run, halt)?;
    let last = step_of(&replay, request.step)?;
    let visited = last.model.visited.clone().unwrap_or_default();
    let logit = |node: Node| if visited.contains(&node) { -LOGIT } else { LOGIT };
    let mask_logits = Some((0..replay.nodes as Node).map(logit).collect());
    Ok(step::Details { mask_logits, alpha: None })
}

fn step_of(replay: &Replay, step: usize) -> Answer<&crate::replay::Step> {
    let ops = replay.steps.len();
    let found = step.checked_sub(1).and_then(|index| replay.steps.get(index));
    found.ok_or_else(|| Refusal::bad(format!("step is {step}; expected from 1 to {ops}")))
}
