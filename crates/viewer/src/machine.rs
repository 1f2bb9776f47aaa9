//! Machines in the player: rollouts of networks that execute a program micro-step by micro-step.

use crate::{
    halt::Halt,
    recorded::recorded,
    refusal::{Answer, Refusal},
    replay::{Replay, Request},
    step,
    subject::Loaded,
};

/// The whole replay. A machine's answers have no probabilities, and neither have its masks.
pub fn replay(request: &Request, machine: &Loaded, halt: &Halt) -> Answer<Replay> {
    let run = &machine.run;
    let task = run.task().map_err(|error| Refusal::bad(error.to_string()))?;
    let (priorities, truth) = request.truth(&task)?;
    let Some(truth) = truth else { return Ok(Replay::empty(&task, priorities)) };
    let rolled = run.rollout_until(&machine.executor()?, truth.sequence(0), halt.stop());
    let rollout = rolled.map_err(Refusal::damaged)?;
    let mut replay = recorded(task.name(), Some(&task), truth.sequence(0), &rollout)
        .map_err(Refusal::damaged)?;
    for step in &mut replay.steps {
        step.model.logit = None;
    }
    Ok(replay)
}

/// There is nothing to tell of a step: neither probabilities of masks nor attention over all nodes.
pub fn step(request: &step::Request, machine: &Loaded, halt: &Halt) -> Answer<step::Details> {
    let ops = replay(&request.replay, machine, halt)?.steps.len();
    match request.step {
        step if (1..=ops).contains(&step) => {
            Ok(step::Details { mask_logits: None, alpha: None, equations: None })
        }
        step => Err(Refusal::bad(format!("step is {step}; expected from 1 to {ops}"))),
    }
}
