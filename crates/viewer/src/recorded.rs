//! A rollout that was recorded whole, as the page replays it.

use pgn_engine::{Pointers, Rollout};
use std::collections::BTreeMap;

use pgn_structures::{Dataset, Node, Sequence, Task, TaskText};

use crate::{
    Error, Result,
    replay::{Guess, Replay, Step, Truth, compares, graph, kind_name, kinds, moves},
};

/// The replay of a rollout. The task is known, or only its name.
pub fn recorded(
    task: &str,
    known: Option<&Task>,
    sequence: Sequence<'_>,
    rollout: &Rollout,
) -> Result<Replay> {
    let (n, ops) = (sequence.nodes(), sequence.ops());
    let wrong = |what: String| Error::Report(format!("the rollout {what}"));
    for (name, found, expected) in [
        ("query logits", Some(rollout.query_logits.len()), ops),
        ("mask logits", rollout.mask_logits.as_ref().map(Vec::len), ops * n),
        ("pointers", rollout.pointers.as_ref().map(Vec::len), ops * n),
    ] {
        if let Some(found) = found
            && found != expected
        {
            return Err(wrong(format!("has {found} {name}; expected {expected}")));
        }
    }
    let out_of_range = rollout.pointers.iter().flatten().find(|&&node| node as usize >= n);
    if let Some(node) = out_of_range {
        return Err(wrong(format!("has a pointer to {node}; expected a node below {n}")));
    }
    let start: Vec<Node> = (0..n as Node).collect();
    let (mut truth, mut model) = (start.clone(), start);
    let mut sides = known.map(|task| sides(task, sequence)).unwrap_or_default().into_iter();
    let step = |t: usize| {
        let logit = rollout.query_logits[t];
        let operation = sequence.operations[t];
        let masks = rollout.mask_logits.as_ref().map(|all| &all[t * n..][..n]);
        let visited = masks.map(|logits| {
            (0..).zip(logits).filter(|&(_, &logit)| logit <= 0.0).map(|(node, _)| node).collect()
        });
        Step {
            u: operation.u,
            v: operation.v,
            kind: known.and_then(|task| kind_name(task, operation)),
            truth: Truth {
                answer: sequence.answers[t],
                visited: (0..)
                    .zip(sequence.mask(t))
                    .filter(|&(_, &mask)| mask == 0)
                    .map(|(node, _)| node)
                    .collect(),
                moved: moves(&mut truth, sequence.pointers_after(t)),
                fields: sides.next().unwrap_or_default(),
            },
            model: Guess {
                answer: u8::from(logit > 0.0),
                logit: Some(logit),
                visited,
                moved: match &rollout.pointers {
                    Some(all) => moves(&mut model, &all[t * n..][..n]),
                    None => Vec::new(),
                },
            },
        }
    };
    let about = known.map_or_else(|| TaskText::named(task), |task| task.text().clone());
    Ok(Replay {
        task: task.to_owned(),
        operation: about.operation,
        answers: about.answers,
        nodes: n,
        priorities: sequence.priorities.to_vec(),
        compares: known.is_some_and(compares),
        pointers: match (&rollout.pointers, &rollout.mask_logits) {
            (None, _) => Pointers::None,
            (Some(_), Some(_)) => Pointers::Masked,
            (Some(_), None) => Pointers::Every,
        },
        has_masks: rollout.mask_logits.is_some(),
        has_attention: false,
        kinds: known.map(kinds).unwrap_or_default(),
        graph: graph(sequence.edges),
        steps: (0..ops).map(step).collect(),
    })
}

/// What moved in the further fields of a binary tree, step by step; nothing for other structures.
fn sides(task: &Task, sequence: Sequence<'_>) -> Vec<BTreeMap<String, Vec<[Node; 2]>>> {
    let schema = task.schema();
    if !["left", "right"].iter().all(|side| schema.extra().any(|(_, name)| name == *side)) {
        return Vec::new();
    }
    let (n, operations) = (sequence.nodes(), sequence.operations);
    let truth = Dataset::from_operations(task, n, sequence.priorities, operations);
    // What cannot be replayed, as a structure that has changed since, is drawn without sides.
    let Ok(set) = truth.and_then(|truth| truth.with_fields(task)) else { return Vec::new() };
    let mut steps = vec![BTreeMap::new(); sequence.ops()];
    let mut add = |name: &str, mut before: Vec<Node>, values: Vec<Node>| {
        for (step, after) in steps.iter_mut().zip(values.chunks_exact(n)) {
            let moved = moves(&mut before, after);
            if !moved.is_empty() {
                step.insert(name.to_owned(), moved);
            }
        }
    };
    for field in set.fields.pointers {
        add(&field.name, (0..n as Node).collect(), field.values);
    }
    for field in set.fields.bits {
        add(&field.name, vec![0; n], field.values.into_iter().map(Node::from).collect());
    }
    steps
}
