//! Inside an operation: the data structure as a program, micro-step by micro-step.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use pgn_engine::MachineNet;
use pgn_machines::{Machine, Outcome, Store, programs};
use pgn_structures::{Node, Operation, given_priorities};
use serde::{Deserialize, Serialize};

use crate::{
    halt::Halt,
    limits,
    refusal::{Answer, Refusal},
    subject::Subject,
};

/// Which operation to look into: the last of these.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The data structure: a program of `pgn-machines`.
    pub task: String,
    pub nodes: usize,
    /// Where priorities are drawn from, as in a replay.
    #[serde(default)]
    pub seed: u64,
    /// Priorities to use instead of drawn ones.
    #[serde(default)]
    pub priorities: Option<Vec<f32>>,
    pub operations: Vec<[Node; 2]>,
    /// A machine whose own micro-steps are told, instead of the program's.
    #[serde(default)]
    pub model: Option<String>,
}

/// The last operation in full.
#[derive(Debug, Serialize)]
pub struct MicroSteps {
    pub program: String,
    pub u: Node,
    pub v: Node,
    pub answer: u8,
    /// The nodes' pointers before the operation, by field.
    pub fields: BTreeMap<String, Vec<Option<Node>>>,
    pub steps: Vec<MicroStep>,
}

/// One micro-step, or the halt at the end.
#[derive(Debug, Serialize)]
pub struct MicroStep {
    /// The name of the state that was executed.
    pub state: String,
    /// What the registers held after it.
    pub registers: BTreeMap<String, Option<Node>>,
    /// The pointers it changed.
    pub writes: Vec<Write>,
}

/// A pointer that changed.
#[derive(Debug, Serialize)]
pub struct Write {
    pub field: String,
    pub node: Node,
    pub to: Option<Node>,
}

/// Machines by the name of their program. Making one enumerates what its states look at, so they
/// are kept.
#[derive(Default)]
pub struct Machines {
    made: Mutex<HashMap<String, Arc<Machine>>>,
}

impl std::fmt::Debug for Machines {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Machines")
    }
}

impl Machines {
    fn get(&self, name: &str) -> Answer<Arc<Machine>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(machine) = made.get(name) {
            return Ok(machine.clone());
        }
        let program = programs::named(name).ok_or_else(|| {
            let name: String = name.chars().take(100).collect();
            Refusal::missing(format!(
                "there is no program for {name:?}; there are programs for {}",
                programs::NAMES.join(", ")
            ))
        })?;
        let machine = Arc::new(Machine::new(program).map_err(Refusal::damaged)?);
        made.insert(name.to_owned(), machine.clone());
        Ok(machine)
    }
}

impl Request {
    /// Executes all operations, and tells of the last one every micro-step: the program's, or
    /// those of `network`.
    pub fn answer(
        &self,
        machines: &Machines,
        network: Option<&Subject>,
        halt: &Halt,
    ) -> Answer<MicroSteps> {
        let bad = |error: pgn_structures::Error| Refusal::bad(error.to_string());
        let n = self.nodes;
        limits::check(n, self.operations.len())?;
        for (index, &[u, v]) in self.operations.iter().enumerate() {
            let checked = Operation { u, v }.check(n);
            checked.map_err(|error| Refusal::bad(format!("operation {}: {error}", index + 1)))?;
        }
        let Some((&[u, v], before)) = self.operations.split_last() else {
            return Err(Refusal::bad("no operations were given; expected at least 1"));
        };
        let priorities = match &self.priorities {
            Some(given) if given.len() == n => given.clone(),
            Some(given) => {
                let count = given.len();
                return Err(Refusal::bad(format!("{count} priorities for {n} nodes were given")));
            }
            None => given_priorities(n, self.seed).map_err(bad)?,
        };
        let machine = machines.get(&self.task)?;
        let failed = |error: pgn_machines::Error| Refusal::bad(error.to_string());
        let operation = query(&machine)?;
        let mut store = Store::new(machine.signature(), &priorities);
        for pair in before {
            halt.check()?;
            machine.run_program(&mut store, operation, pair).map_err(failed)?;
        }
        let fields = fields(&machine, &store);
        let net = match network {
            None => None,
            Some(Subject::Machine(run)) if run.config().task == self.task => Some(run.net()),
            Some(_) => {
                let task = &self.task;
                return Err(Refusal::bad(format!("the model is not a machine for {task:?}")));
            }
        };
        let (steps, outcome) = trace(&machine, net, &mut store, (operation, [u, v]), halt)?;
        let Outcome::Answer(answer) = outcome else {
            return Err(Refusal::bad(format!("the operation on {u} and {v} has no answer")));
        };
        let program = machine.signature().name.clone();
        Ok(MicroSteps { program, u, v, answer: u8::from(answer), fields, steps })
    }
}

/// The program's first operation, the one that data sets are of, if it is on two nodes.
fn query(machine: &Machine) -> Answer<usize> {
    let signature = machine.signature();
    match signature.operations.first() {
        Some(first) if first.arguments.len() == 2 => Ok(0),
        _ => Err(Refusal::missing(format!(
            "the first operation of the program {:?} is not on two nodes",
            signature.name
        ))),
    }
}

fn trace(
    machine: &Machine,
    net: Option<&MachineNet>,
    store: &mut Store,
    (operation, arguments): (usize, [Node; 2]),
    halt: &Halt,
) -> Answer<(Vec<MicroStep>, Outcome)> {
    let failed = |error: pgn_machines::Error| Refusal::bad(error.to_string());
    let signature = machine.signature();
    let mut state = machine.begin(store, operation, &arguments).map_err(failed)?;
    let mut steps = Vec::new();
    let mut before = fields(machine, store);
    while steps.len() < limits::MICRO_STEPS {
        halt.check()?;
        let name = signature.states[usize::from(state)].name.clone();
        let outcome = machine.outcome(store, state);
        if outcome.is_none() {
            state = match net {
                None => machine.program().step(state, store).ok_or_else(|| {
                    Refusal::bad(format!("the program is not defined in state {name:?}"))
                })?,
                Some(net) => act(machine, net, store, state)?,
            };
        }
        let after = fields(machine, store);
        steps.push(MicroStep {
            state: name,
            registers: (0..)
                .zip(&signature.registers)
                .map(|(index, name)| (name.clone(), store.register(index)))
                .collect(),
            writes: writes(&before, &after),
        });
        before = after;
        if let Some(outcome) = outcome {
            return Ok((steps, outcome));
        }
    }
    Err(Refusal::bad(format!("the operation takes more than {} micro-steps", limits::MICRO_STEPS)))
}

/// One micro-step of a network: it sees a view and chooses an action.
fn act(machine: &Machine, net: &MachineNet, store: &mut Store, state: u8) -> Answer<u8> {
    let mut nodes = Vec::new();
    let view = machine.view(store, state, &mut nodes);
    let action = net.predict(&view).map_err(Refusal::damaged)?;
    action.check(&view, machine.signature()).map_err(|trouble| {
        Refusal::bad(format!("the network's action makes no sense: {trouble}"))
    })?;
    machine.apply(store, &nodes, &action);
    Ok(action.next)
}

type Fields = BTreeMap<String, Vec<Option<Node>>>;

fn fields(machine: &Machine, store: &Store) -> Fields {
    let all = |field: usize| (0..store.len() as Node).map(move |node| store.pointer(node, field));
    let names = machine.signature().pointers.iter();
    names.enumerate().map(|(index, name)| (name.clone(), all(index).collect())).collect()
}

fn writes(before: &Fields, after: &Fields) -> Vec<Write> {
    let mut writes = Vec::new();
    for ((field, old), new) in before.iter().zip(after.values()) {
        for (node, (old, &to)) in (0..).zip(old.iter().zip(new)) {
            if *old != to {
                writes.push(Write { field: field.clone(), node, to });
            }
        }
    }
    writes
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgn_lab::machine::MachineRun;
    use pgn_structures::{Dataset, Task};

    /// Pointers after the micro-steps are those of the data structure, and so is the answer.
    #[test]
    fn micro_steps_lead_to_the_structures_pointers() {
        let machines = Machines::default();
        let operations = [[0, 1], [2, 3], [1, 3], [0, 2], [4, 1], [1, 0]];
        for task in ["dsu", "lct"] {
            let structure = Task::named(task).unwrap();
            let priorities = given_priorities(6, 5).unwrap();
            let all: Vec<_> = operations.iter().map(|&[u, v]| Operation { u, v }).collect();
            let truth = Dataset::from_operations(&structure, 6, &priorities, &all).unwrap();
            for count in 1..=operations.len() {
                let request = Request {
                    task: task.to_owned(),
                    nodes: 6,
                    seed: 5,
                    priorities: None,
                    operations: operations[..count].to_vec(),
                    model: None,
                };
                let told = request.answer(&machines, None, &Halt::default()).unwrap();
                let run = MachineRun::built_in(task).unwrap();
                let own = request
                    .answer(&machines, Some(&Subject::Machine(Box::new(run))), &Halt::default())
                    .unwrap();
                let text = |steps: &MicroSteps| serde_json::to_string(steps).unwrap();
                assert_eq!(text(&own), text(&told), "a certified network does the same");
                let mut fields = told.fields;
                for write in told.steps.iter().flat_map(|step| &step.writes) {
                    fields.get_mut(&write.field).unwrap()[write.node as usize] = write.to;
                }
                let pointers: Vec<Node> =
                    (0..).zip(&fields["up"]).map(|(node, up)| up.unwrap_or(node)).collect();
                let one = truth.sequence(0);
                assert_eq!(pointers, one.pointers_after(count - 1), "{task} {count}");
                assert_eq!(told.answer, one.answers[count - 1], "{task} {count}");
            }
        }
    }

    #[test]
    fn what_cannot_be_traced_is_refused() {
        let machines = Machines::default();
        let request = |task: &str, operations: Vec<[Node; 2]>| Request {
            task: task.to_owned(),
            nodes: 4,
            seed: 0,
            priorities: None,
            operations,
            model: None,
        };
        for bad in [
            request("dsu", vec![]),
            request("dsu", vec![[0, 4]]),
            request("dsu", vec![[1, 1]]),
            request("nothing", vec![[0, 1]]),
            Request { priorities: Some(vec![0.5]), ..request("dsu", vec![[0, 1]]) },
        ] {
            assert!(bad.answer(&machines, None, &Halt::default()).is_err(), "{bad:?}");
        }
    }
}
