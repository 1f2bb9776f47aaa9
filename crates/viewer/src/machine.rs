//! Machines in the player: rollouts of networks that execute a program micro-step by micro-step.

use pgn_structures::Node;

use crate::{
    halt::Halt,
    loaded::Loaded,
    refusal::{Answer, Refusal},
    replay::{NodeDetails, NodeRequest, Replay, Request, kinds},
    report::recorded,
    step,
};

/// The whole replay. A machine's answers have no probabilities, and neither have its masks.
pub fn replay(request: &Request, machine: &Loaded, halt: &Halt) -> Answer<Replay> {
    let run = &machine.run;
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
            graph: None,
            kinds: kinds(&task),
            steps: Vec::new(),
        });
    };
    let rolled = run.rollout_until(&machine.executor()?, truth.sequence(0), halt.stop());
    let rollout = rolled.map_err(Refusal::damaged)?;
    let mut replay =
        recorded(task.name(), truth.sequence(0), &rollout).map_err(Refusal::damaged)?;
    for step in &mut replay.steps {
        (step.model.logit, step.model.probability) = (None, None);
    }
    Ok(replay)
}

/// What is known of a node after a step. There are no candidates: attention is over the few nodes
/// of a view, in each micro-step.
pub fn node(request: &NodeRequest, machine: &Loaded, halt: &Halt) -> Answer<NodeDetails> {
    let replay = replay(&request.replay, machine, halt)?;
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
    Ok(NodeDetails {
        node,
        step,
        priority,
        pointer,
        true_pointer,
        true_mask: u8::from(!last.truth.visited.contains(&node)),
        mask_probability: None,
        mask_logit: None,
        candidates: None,
    })
}

/// There is nothing to tell of a step: neither probabilities of masks nor attention over all nodes.
pub fn step(request: &step::Request, machine: &Loaded, halt: &Halt) -> Answer<step::Details> {
    let replay = replay(&request.replay, machine, halt)?;
    step_of(&replay, request.step)?;
    Ok(step::Details { mask_logits: None, alpha: None })
}

fn step_of(replay: &Replay, step: usize) -> Answer<&crate::replay::Step> {
    let ops = replay.steps.len();
    let found = step.checked_sub(1).and_then(|index| replay.steps.get(index));
    found.ok_or_else(|| Refusal::bad(format!("step is {step}; expected from 1 to {ops}")))
}
