//! Inside an operation: the data structure as a program, micro-step by micro-step.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use pgn_engine::MachineNet;
use pgn_machines::{Machine, Memory, Outcome, Store, programs};
use pgn_structures::{Dataset, Node, Operation, Task, given_priorities};
use serde::{Deserialize, Serialize};

use crate::{
    halt::Halt,
    limits,
    refusal::{Answer, Refusal},
    subject::Subject,
};

/// Which operation to look into: the last of these.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The data structure: a program of `pgn-machines`, or one of [`UNIONS`].
    pub task: String,
    pub nodes: usize,
    /// Where priorities are drawn from, as in a replay.
    #[serde(default)]
    pub seed: u64,
    /// Priorities to use instead of drawn ones.
    #[serde(default)]
    pub priorities: Option<Vec<f32>>,
    /// Operations of data sets, on two nodes each.
    #[serde(default)]
    pub operations: Vec<[Node; 2]>,
    /// Instead of `operations`: any operations of the program.
    #[serde(default)]
    pub calls: Option<Vec<Call>>,
    /// A machine whose own micro-steps are told, instead of the program's.
    #[serde(default)]
    pub model: Option<String>,
}

/// An operation of a program, by name.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub operation: String,
    pub arguments: Vec<Node>,
}

/// Disjoint-set unions that have no program of their own. Only who points to whom in the end tells
/// them from `dsu`, so its program tells of them too.
pub const UNIONS: [&str; 4] = ["dsu-by-size", "dsu-by-rank", "dsu-ordered", "kruskal"];

/// The last operation in full.
#[derive(Debug, Serialize)]
pub struct MicroSteps {
    pub program: String,
    /// The operation's name.
    pub operation: String,
    /// Its arguments, with the names of the registers that hold them.
    pub arguments: Vec<(String, Node)>,
    /// How it ended.
    pub outcome: Outcome,
    /// The nodes' pointers before the operation, by field, and their bits, which are 0 or 1.
    pub fields: BTreeMap<String, Vec<Option<Node>>>,
    /// What nodes are compared by: 1 is the least, and equal ones are equal.
    pub ranks: Vec<usize>,
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

impl Machines {
    /// The machine of this program.
    pub fn get(&self, name: &str) -> Answer<Arc<Machine>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(machine) = made.get(name) {
            return Ok(machine.clone());
        }
        let program = programs::named(name).ok_or_else(|| {
            let name: String = name.chars().take(100).collect();
            Refusal::missing(format!(
                "there is no program for {name:?}; expected one of {}",
                programs::NAMES.iter().chain(&UNIONS).copied().collect::<Vec<_>>().join(", ")
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
        limits::check(self.nodes, self.calls.as_ref().map_or(self.operations.len(), Vec::len))?;
        if UNIONS.contains(&&*self.task) {
            return self.union(machines, halt);
        }
        let machine = machines.get(&self.task)?;
        let net = match network {
            None => None,
            Some(Subject::Machine(loaded)) if loaded.run.config().task == self.task => {
                Some(loaded.run.net())
            }
            Some(_) => {
                let task = &self.task;
                return Err(Refusal::bad(format!("the model is not a machine for {task:?}")));
            }
        };
        let calls = match &self.calls {
            Some(calls) => resolve(&machine, calls)?,
            None => {
                if Task::named(&self.task).is_ok_and(|task| task.has_kinds()) {
                    return Err(Refusal::bad(format!(
                        "the operations of {} are of several kinds; expected calls",
                        self.task
                    )));
                }
                self.check_operations()?;
                let operation = query(&machine)?;
                self.operations.iter().map(|pair| (operation, pair.to_vec())).collect()
            }
        };
        let Some((last, before)) = calls.split_last() else {
            return Err(Refusal::bad("no operations were given; expected at least 1"));
        };
        let mut store = Store::new(machine.signature(), &self.keys()?);
        for (operation, arguments) in before {
            halt.check()?;
            machine.run_program(&mut store, *operation, arguments).map_err(failed)?;
        }
        tell(&machine, &self.task, net, &mut store, last, halt)
    }

    /// The last of some unions: the program of `dsu`, in a memory in which the root that the
    /// structure linked has the lower key.
    fn union(&self, machines: &Machines, halt: &Halt) -> Answer<MicroSteps> {
        self.check_operations()?;
        let bad = |error: pgn_structures::Error| Refusal::bad(error.to_string());
        let n = self.nodes;
        let operations: Vec<_> =
            self.operations.iter().map(|&[u, v]| Operation::new(u, v)).collect();
        let Some(last) = operations.last() else {
            return Err(Refusal::bad("no operations were given; expected at least 1"));
        };
        let task = Task::named(&self.task).map_err(bad)?;
        let truth = Dataset::from_operations(&task, n, &self.keys()?, &operations).map_err(bad)?;
        let (one, count) = (truth.sequence(0), operations.len());
        let own: Vec<Node> = (0..n as Node).collect();
        let before = if count > 1 { one.pointers_after(count - 2) } else { &own };
        let after = one.pointers_after(count - 1);
        let machine = machines.get("dsu")?;
        let mut store = Store::new(machine.signature(), &vec![0.0; n]);
        for node in 0..n as Node {
            let (was, is) = (before[node as usize], after[node as usize]);
            if was != node {
                store.set_pointer(node, 0, Some(was));
            }
            // Every other root stays one, so its key is the higher.
            store.set_key(node, u32::from(was == node && is == node));
        }
        let call = (query(&machine)?, vec![last.u, last.v]);
        tell(&machine, &self.task, None, &mut store, &call, halt)
    }

    fn check_operations(&self) -> Answer<()> {
        for (index, &[u, v]) in self.operations.iter().enumerate() {
            let checked = Operation::new(u, v).check(self.nodes);
            checked.map_err(|error| Refusal::bad(format!("operation {}: {error}", index + 1)))?;
        }
        Ok(())
    }

    fn keys(&self) -> Answer<Vec<f32>> {
        let n = self.nodes;
        match &self.priorities {
            Some(given) if given.len() == n => Ok(given.clone()),
            Some(given) => {
                let count = given.len();
                Err(Refusal::bad(format!("{count} priorities for {n} nodes were given")))
            }
            None => given_priorities(n, self.seed).map_err(|error| Refusal::bad(error.to_string())),
        }
    }
}

fn failed(error: pgn_machines::Error) -> Refusal {
    Refusal::bad(error.to_string())
}

/// Calls by the numbers of their operations.
pub fn resolve(machine: &Machine, calls: &[Call]) -> Answer<Vec<(usize, Vec<Node>)>> {
    let one = |call: &Call| {
        Ok((machine.operation(&call.operation).map_err(failed)?, call.arguments.clone()))
    };
    calls.iter().map(one).collect()
}

/// Carries out an operation and tells all of it.
fn tell(
    machine: &Machine,
    task: &str,
    net: Option<&MachineNet>,
    store: &mut Store,
    (operation, arguments): &(usize, Vec<Node>),
    halt: &Halt,
) -> Answer<MicroSteps> {
    let fields = fields(machine, store);
    let (steps, outcome) = trace(machine, net, store, (*operation, &arguments[..]), halt)?;
    let signature = machine.signature();
    let known = &signature.operations[*operation];
    let names =
        known.arguments.iter().map(|&index| signature.registers[usize::from(index)].clone());
    Ok(MicroSteps {
        program: task.to_owned(),
        operation: known.name.clone(),
        arguments: names.zip(arguments.iter().copied()).collect(),
        outcome,
        fields,
        ranks: ranks(store),
        steps,
    })
}

fn ranks(store: &Store) -> Vec<usize> {
    let nodes = 0..store.len() as Node;
    let mut order: Vec<Node> = nodes.clone().collect();
    order.sort_by(|&a, &b| store.less(b, a).cmp(&store.less(a, b)));
    let mut ranks = vec![1; order.len()];
    for pair in order.windows(2) {
        let higher = usize::from(store.less(pair[0], pair[1]));
        ranks[pair[1] as usize] = ranks[pair[0] as usize] + higher;
    }
    ranks
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
    (operation, arguments): (usize, &[Node]),
    halt: &Halt,
) -> Answer<(Vec<MicroStep>, Outcome)> {
    let signature = machine.signature();
    let mut state = match machine.begin(store, operation, arguments) {
        Err(pgn_machines::Error::Refused(reason)) => {
            // A precondition is violated: there is no micro-step, but something to be shown.
            let registers = signature.registers.iter().map(|name| (name.clone(), None)).collect();
            let refused = MicroStep { state: "refused".into(), registers, writes: Vec::new() };
            return Ok((vec![refused], Outcome::Refused(reason)));
        }
        started => started.map_err(failed)?,
    };
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
    let nodes = || 0..store.len() as Node;
    let signature = machine.signature();
    let pointers = signature.pointers.iter().enumerate().map(|(field, name)| {
        (name.clone(), nodes().map(|node| store.pointer(node, field)).collect())
    });
    let bits = signature.bits.iter().enumerate().map(|(bit, name)| {
        (name.clone(), nodes().map(|node| Some(Node::from(store.bit(node, bit)))).collect())
    });
    pointers.chain(bits).collect()
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
    use std::sync::Arc;

    use pgn_lab::machine::MachineRun;

    use super::*;

    const OPERATIONS: [[Node; 2]; 6] = [[0, 1], [2, 3], [1, 3], [0, 2], [4, 1], [1, 0]];

    fn of(task: &str, count: usize) -> Request {
        let operations = OPERATIONS[..count].to_vec();
        Request { task: task.to_owned(), nodes: 6, seed: 5, operations, ..Request::default() }
    }

    /// Pointers after the micro-steps are those of the data structure, and so is the answer.
    fn lead_to_the_truth(told: MicroSteps, count: usize) {
        let structure = Task::named(&told.program).unwrap();
        let priorities = given_priorities(6, 5).unwrap();
        let all: Vec<_> = OPERATIONS.iter().map(|&[u, v]| Operation::new(u, v)).collect();
        let truth = Dataset::from_operations(&structure, 6, &priorities, &all).unwrap();
        let mut fields = told.fields;
        for write in told.steps.iter().flat_map(|step| &step.writes) {
            fields.get_mut(&write.field).unwrap()[write.node as usize] = write.to;
        }
        let pointers: Vec<Node> =
            (0..).zip(&fields["up"]).map(|(node, up)| up.unwrap_or(node)).collect();
        let one = truth.sequence(0);
        assert_eq!(pointers, one.pointers_after(count - 1), "{} {count}", told.program);
        assert_eq!(
            told.outcome,
            Outcome::Answer(one.answers[count - 1] == 1),
            "{} {count}",
            told.program
        );
        assert_eq!(told.arguments[0], ("u".to_owned(), OPERATIONS[count - 1][0]));
    }

    #[test]
    fn micro_steps_lead_to_the_structures_pointers() {
        let (machines, halt) = (Machines::default(), Halt::default());
        for task in ["dsu", "lct", "forest"] {
            for count in 1..=OPERATIONS.len() {
                let request = of(task, count);
                let told = request.answer(&machines, None, &halt).unwrap();
                let run = MachineRun::built_in(task).unwrap();
                let network = Subject::Machine(Arc::new(run.into()));
                let own = request.answer(&machines, Some(&network), &halt).unwrap();
                let text = |steps: &MicroSteps| serde_json::to_string(steps).unwrap();
                assert_eq!(text(&own), text(&told), "a certified network does the same");
                lead_to_the_truth(told, count);
            }
        }
    }

    #[test]
    fn other_unions_are_told_by_the_program_of_dsu() {
        let machines = Machines::default();
        for task in UNIONS {
            for count in 1..=OPERATIONS.len() {
                let told = of(task, count).answer(&machines, None, &Halt::default()).unwrap();
                lead_to_the_truth(told, count);
            }
        }
    }

    #[test]
    fn any_operation_of_a_program_can_be_told() {
        let call = |operation: &str, arguments: &[Node]| Call {
            operation: operation.to_owned(),
            arguments: arguments.to_vec(),
        };
        let heap = |calls: Vec<Call>| Request {
            task: "heap".to_owned(),
            nodes: 5,
            priorities: Some(vec![0.0, 0.1, 0.9, 0.5, 0.7]),
            calls: Some(calls),
            ..Request::default()
        };
        let machines = Machines::default();
        let ask = |calls| heap(calls).answer(&machines, None, &Halt::default());
        let all = vec![call("insert", &[0, 2]), call("insert", &[0, 3]), call("pop_min", &[0])];
        let told = ask(all).unwrap();
        assert_eq!(told.outcome, Outcome::Node(Some(3)));
        assert_eq!((&*told.operation, told.arguments), ("pop_min", vec![("heap".to_owned(), 0)]));
        assert!(ask(vec![call("insert", &[0, 2]), call("insert", &[0, 2])]).is_ok_and(|told| {
            told.outcome == Outcome::Refused("x is in a heap already".to_owned())
        }));
        for bad in [call("push", &[0, 2]), call("insert", &[0]), call("insert", &[0, 5])] {
            assert!(ask(vec![bad.clone()]).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_cannot_be_traced_is_refused() {
        let machines = Machines::default();
        let request = |task: &str, operations: Vec<[Node; 2]>| Request {
            task: task.to_owned(),
            nodes: 4,
            operations,
            ..Request::default()
        };
        for bad in [
            request("dsu", vec![]),
            request("dsu", vec![[0, 4]]),
            request("dsu", vec![[1, 1]]),
            request("kruskal", vec![]),
            request("kruskal", vec![[0, 4]]),
            request("nothing", vec![[0, 1]]),
            Request { priorities: Some(vec![0.5]), ..request("dsu", vec![[0, 1]]) },
        ] {
            assert!(bad.answer(&machines, None, &Halt::default()).is_err(), "{bad:?}");
        }
    }
}
