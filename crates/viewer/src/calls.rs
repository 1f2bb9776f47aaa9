//! Operations of any program, in a row: what the page's view of machines shows.

use pgn_machines::{Outcome, Store};
use pgn_structures::{Split, given_priorities};
use serde::{Deserialize, Serialize};

use crate::{
    halt::Halt,
    limits,
    micro_steps::{Call, Machines, resolve},
    refusal::{Answer, Refusal},
};

/// The fewest nodes that programs draw operations for: some are heaps or trees of their own.
const FEWEST: usize = 4;

/// Which operations to carry out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The name of the program.
    pub program: String,
    pub nodes: usize,
    /// Where keys are drawn from, and operations that are not given.
    #[serde(default)]
    pub seed: u64,
    #[serde(default)]
    pub calls: Vec<Call>,
    /// How many more to draw, as the program's tests do.
    #[serde(default)]
    pub more: usize,
}

/// What was carried out.
#[derive(Debug, Serialize)]
pub struct Called {
    /// All operations that the program has.
    pub operations: Vec<Operation>,
    /// The nodes' keys.
    pub keys: Vec<f32>,
    pub calls: Vec<Returned>,
}

/// An operation of the program.
#[derive(Debug, Serialize)]
pub struct Operation {
    pub name: String,
    pub arguments: Vec<String>,
}

/// A call and how it ended.
#[derive(Debug, Serialize)]
pub struct Returned {
    #[serde(flatten)]
    pub call: Call,
    pub outcome: Outcome,
}

impl Request {
    /// Carries out all of them with the program itself.
    pub fn answer(&self, machines: &Machines, halt: &Halt) -> Answer<Called> {
        let &Request { nodes, seed, more, .. } = self;
        limits::check(nodes, self.calls.len().saturating_add(more).min(limits::OPERATIONS + 1))?;
        if nodes < FEWEST {
            let most = limits::NODES;
            return Err(Refusal::bad(format!(
                "nodes is {nodes}; expected from {FEWEST} to {most}"
            )));
        }
        let machine = machines.get(&self.program)?;
        let signature = machine.signature();
        let keys =
            given_priorities(nodes, seed).map_err(|error| Refusal::bad(error.to_string()))?;
        let mut store = Store::new(signature, &keys);
        let mut calls = Vec::new();
        let given = resolve(&machine, &self.calls)?;
        for index in 0..given.len() + more {
            halt.check()?;
            let (operation, arguments) = match given.get(index) {
                Some(call) => call.clone(),
                None => {
                    // A stream for each: it does not matter how many are asked for at once.
                    let mut rng = Split::Given.rng(seed, nodes, 1 + index as u64);
                    let call = machine.program().sample(&store, &mut rng);
                    (call.operation, call.arguments)
                }
            };
            let outcome = machine
                .run_program(&mut store, operation, &arguments)
                .map_err(|error| Refusal::bad(format!("operation {}: {error}", index + 1)))?;
            let operation = signature.operations[operation].name.clone();
            calls.push(Returned { call: Call { operation, arguments }, outcome });
        }
        let names = |arguments: &[u8]| {
            arguments.iter().map(|&index| signature.registers[usize::from(index)].clone()).collect()
        };
        let operations = signature.operations.iter();
        Ok(Called {
            operations: operations
                .map(|one| Operation { name: one.name.clone(), arguments: names(&one.arguments) })
                .collect(),
            keys,
            calls,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(program: &str, nodes: usize, calls: Vec<Call>, more: usize) -> Answer<Called> {
        let request = Request { program: program.to_owned(), nodes, seed: 3, calls, more };
        request.answer(&Machines::default(), &Halt::default())
    }

    #[test]
    fn operations_are_drawn_and_can_be_carried_out_again() {
        for program in pgn_machines::programs::NAMES {
            let drawn = ask(program, 9, Vec::new(), 12).unwrap();
            assert_eq!(drawn.calls.len(), 12, "{program}");
            let calls: Vec<Call> = drawn.calls.iter().map(|one| one.call.clone()).collect();
            let again = ask(program, 9, calls[..10].to_vec(), 2).unwrap();
            let text = |called: &Called| serde_json::to_string(called).unwrap();
            assert_eq!(text(&again), text(&drawn), "{program}");
        }
    }

    #[test]
    fn what_cannot_be_carried_out_is_refused() {
        let call = |operation: &str, arguments: &[u32]| {
            vec![Call { operation: operation.to_owned(), arguments: arguments.to_vec() }]
        };
        for (program, nodes, calls, more, expected) in [
            ("nothing", 9, Vec::new(), 1, "there is no program"),
            ("heap", 3, Vec::new(), 1, "nodes is 3; expected from 4"),
            ("heap", 9, Vec::new(), usize::MAX, "expected at most 2000"),
            ("heap", 9, call("insert", &[0, 9]), 0, "operation 1: "),
            ("heap", 9, call("push", &[0, 1]), 0, "push"),
        ] {
            let refusal = ask(program, nodes, calls, more).unwrap_err();
            assert!(refusal.sentence.contains(expected), "{}", refusal.sentence);
        }
        let told = ask("heap", 9, call("meld", &[0, 0]), 0).unwrap();
        let text = serde_json::to_string(&told.calls).unwrap();
        assert!(text.contains("heap and x are the same node"), "{text}");
    }
}
