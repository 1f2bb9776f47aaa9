//! An automaton with its trees as a program of micro-steps.
//!
//! A micro-step makes the access of its state, on nodes that registers hold, and then decides what
//! comes next. What a later state needs of what was found stays in a register: slots that are
//! needed at the same time have different ones, unless they hold the same node.

use std::collections::{BTreeMap, BTreeSet};

use pgn_structures::Rng;

use super::{
    Access, Code,
    automaton::Automaton,
    registers::{RESULT, Target, allocate, edges, live, live_into},
    trees::{FOUND, Next, PER_STATE, Slot, Test, Tree, Trees, arity},
};
use crate::{Call, Error, Halt, Memory, Program, Result, Signature, StateSignature, Store};

/// The program that was inferred from ordinary code.
#[derive(Clone)]
pub struct Inferred {
    signature: Signature,
    clauses: Vec<String>,
    steps: Vec<StateCode>,
}

/// What a state does.
#[derive(Clone, Debug)]
struct StateCode {
    access: Option<Access>,
    /// Registers of the nodes of the access.
    nodes: Vec<usize>,
    tree: Tree,
    /// The slots of this state: nodes, and what is found.
    own: Slot,
    /// Per slot that is read from a register: which.
    registers: BTreeMap<Slot, usize>,
    /// Per leaf, in order: the number of the next state, and registers with the slots to write.
    leaves: Vec<(u8, Vec<Written>)>,
}

/// A register, and the slot that is written to it; none is nil.
type Written = (usize, Option<Slot>);

impl Inferred {
    pub(super) fn new(code: &dyn Code, all: &Automaton, trees: &Trees) -> Result<Inferred> {
        let outline = code.signature();
        let trees = &trees.with_writes_inlined(all);
        let edges = edges(trees);
        let live = live(all, trees, &edges);
        let arguments: Vec<Slot> = (0..outline.operations.len())
            .flat_map(|start| {
                (0..outline.operations[start].arguments.len())
                    .map(move |place| PER_STATE * start + place)
            })
            .collect();
        let registers = allocate(outline, &edges, &live, &arguments);

        let mut signature = outline.clone();
        signature.states.clear();
        let count = registers.values().max().map_or(0, |last| last + 1);
        signature.registers = register_names(outline, count);
        let mut numbers: BTreeMap<Target, u8> = BTreeMap::new();
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        let targets = trees.0.keys().map(|&state| Target::State(state));
        let halts =
            edges.iter().map(|edge| edge.to.clone()).filter(|to| matches!(to, Target::Halt(_)));
        let targets = targets.chain(halts.collect::<BTreeSet<_>>());
        for target in targets {
            let (name, halt) = match &target {
                Target::State(state) => (state_name(outline, *state, all.access(*state)), None),
                Target::Halt(Next::Answer(true)) => ("yes".to_owned(), Some(Halt::Answer(true))),
                Target::Halt(Next::Answer(false)) => ("no".to_owned(), Some(Halt::Answer(false))),
                Target::Halt(Next::Node) => {
                    let register = registers.get(&RESULT).map_or(0, |&register| register as u8);
                    ("found".to_owned(), Some(Halt::Node(register)))
                }
                Target::Halt(_) => ("done".to_owned(), Some(Halt::Done)),
            };
            let times = names.entry(name.clone()).or_default();
            *times += 1;
            let name = if *times > 1 { format!("{name}_{times}") } else { name };
            if signature.states.len() >= 200 {
                return Err(Error::Program(format!(
                    "`{}` was inferred to have more than 200 states; write it in smaller pieces, or as a \
                     program of micro-steps",
                    outline.name
                )));
            }
            numbers.insert(target, signature.states.len() as u8);
            signature.states.push(StateSignature { name, halt });
        }
        for (start, operation) in signature.operations.iter_mut().enumerate() {
            operation.entry = numbers.get(&Target::State(start)).copied().unwrap_or(0);
            let slots = 0..operation.arguments.len();
            // An argument that is never read has a register that nobody reads.
            let register =
                |place| registers.get(&(PER_STATE * start + place)).copied().unwrap_or(count);
            operation.arguments = slots.map(|place| register(place) as u8).collect();
        }
        if signature.operations.iter().any(|one| one.arguments.contains(&(count as u8))) {
            signature.registers.push("unread".to_owned());
        }
        let steps = trees.0.iter().map(|(&state, tree)| {
            let own = state * PER_STATE;
            let access = all.access(state);
            let register = |slot: Slot| registers.get(&slot).copied().unwrap_or(0);
            let leaves = edges.iter().filter(|edge| edge.from == state).map(|edge| {
                let after = live_into(&live, &edge.to);
                let moves = edge.moves.iter().filter(|(to, _)| after.contains(to) || *to == RESULT);
                let found = own + FOUND;
                let kept = access.is_some() && after.contains(&found);
                let moves = moves.copied().chain(kept.then_some((found, Some(found))));
                let moves = moves.map(|(to, from)| (register(to), from)).collect();
                (numbers[&edge.to], moves)
            });
            StateCode {
                access,
                nodes: (0..access.map_or(0, arity)).map(|place| register(own + place)).collect(),
                tree: tree.clone(),
                own,
                registers: registers.clone(),
                leaves: leaves.collect(),
            }
        });
        let steps: Vec<StateCode> = steps.collect();
        signature.check().map_err(Error::Program)?;
        Ok(Inferred { signature, clauses: Vec::new(), steps })
    }

    /// With these clauses.
    pub fn with_clauses(mut self, clauses: Vec<String>) -> Inferred {
        self.clauses = clauses;
        self
    }

    /// The states with what they do, in text.
    ///
    /// ```text
    /// load_up(x): if it is nil → compare(x, y); else → load_up(it)
    /// ```
    pub fn picture(&self) -> String {
        let name = |register: usize| &*self.signature.registers[register];
        let mut text = String::new();
        for (state, step) in self.signature.states.iter().zip(&self.steps) {
            let nodes: Vec<&str> = step.nodes.iter().map(|&register| name(register)).collect();
            text += &format!("{}({})\n", state.name, nodes.join(", "));
            step.draw(&step.tree, &mut 0, 1, &self.signature, &mut text);
        }
        text
    }

    /// How many states it has, halting ones left out, and how many leaves their trees have.
    pub fn size(&self) -> (usize, usize) {
        (self.steps.len(), self.steps.iter().map(|step| step.tree.leaves()).sum())
    }
}

/// The names of arguments, for the registers that they start in; then more.
fn register_names(outline: &Signature, count: usize) -> Vec<String> {
    let mut names = outline.registers.clone();
    names.truncate(count);
    let taken = |name: &String| names.contains(name) || outline.pointers.contains(name);
    let fresh = (1..).map(|number| format!("r{number}")).filter(|name| !taken(name));
    let fresh: Vec<String> = fresh.take(count.saturating_sub(names.len())).collect();
    names.extend(fresh);
    names
}

fn state_name(outline: &Signature, state: usize, access: Option<Access>) -> String {
    let field = |field: u8| &outline.pointers[usize::from(field)];
    let bit = |bit: u8| &outline.bits[usize::from(bit)];
    match access {
        None => outline.operations[state].name.clone(),
        Some(Access::Load(one)) => format!("load_{}", field(one)),
        Some(Access::Store(one)) => format!("store_{}", field(one)),
        Some(Access::Bit(one)) => format!("read_{}", bit(one)),
        Some(Access::Toggle(one)) => format!("toggle_{}", bit(one)),
        Some(Access::Less) => "compare".to_owned(),
    }
}

/// What an access found, in a step.
#[derive(Clone, Copy)]
enum Value {
    Node(Option<u32>),
    Flag(bool),
}

impl StateCode {
    fn draw(
        &self,
        tree: &Tree,
        leaf: &mut usize,
        depth: usize,
        names: &Signature,
        text: &mut String,
    ) {
        let slot = |slot: Slot| {
            let register = self.registers.get(&slot);
            let own = slot == self.own + FOUND && self.access.is_some();
            if own { "it" } else { register.map_or("?", |&register| &*names.registers[register]) }
        };
        let indent = "  ".repeat(depth);
        match tree {
            Tree::If(test, yes, no) => {
                let asked = match *test {
                    Test::Nil(one) => format!("{} is nil", slot(one)),
                    Test::True(one) => slot(one).to_owned(),
                    Test::Same(a, b) => format!("{} is {}", slot(a), slot(b)),
                };
                *text += &format!("{indent}if {asked}\n");
                self.draw(yes, leaf, depth + 1, names, text);
                *text += &format!("{indent}else\n");
                self.draw(no, leaf, depth + 1, names, text);
            }
            Tree::Write(access, nodes, then) => {
                let mut nodes = nodes.iter().map(|one| one.map_or("nil", slot));
                let (node, to) = (nodes.next().unwrap_or("?"), nodes.next());
                *text += &match access {
                    Access::Store(field) => {
                        let field = &names.pointers[usize::from(*field)];
                        format!("{indent}{node}.{field} = {}\n", to.unwrap_or("?"))
                    }
                    Access::Toggle(bit) => {
                        format!("{indent}toggle {node}.{}\n", names.bits[usize::from(*bit)])
                    }
                    _ => String::new(),
                };
                self.draw(then, leaf, depth, names, text);
            }
            Tree::Do(..) => {
                let (next, moves) = &self.leaves[*leaf];
                *leaf += 1;
                *text += &format!("{indent}→ {}", names.states[usize::from(*next)].name);
                for (to, from) in moves {
                    let to = &names.registers[*to];
                    let from = from.map_or("nil", slot);
                    if to != from {
                        *text += &format!(" {to}={from}");
                    }
                }
                *text += "\n";
            }
        }
    }

    /// Carries out the step; none where the code never went.
    fn step(&self, memory: &mut dyn Memory) -> Option<u8> {
        let mut read: BTreeMap<usize, Option<u32>> = BTreeMap::new();
        let mut register = |number: usize, memory: &mut dyn Memory| {
            *read.entry(number).or_insert_with(|| memory.register(number))
        };
        let mut found = None;
        if let Some(access) = self.access {
            let a = register(self.nodes[0], memory)?;
            memory.visit(a);
            match access {
                Access::Load(field) => {
                    found = Some(Value::Node(memory.pointer(a, usize::from(field))))
                }
                Access::Bit(bit) => found = Some(Value::Flag(memory.bit(a, usize::from(bit)))),
                // In a loop that only writes; other writes are on the way to what follows them.
                Access::Toggle(bit) => memory.toggle(a, usize::from(bit)),
                Access::Store(field) => {
                    let to = register(self.nodes[1], memory);
                    memory.set_pointer(a, usize::from(field), to);
                }
                Access::Less => {
                    let b = register(self.nodes[1], memory)?;
                    memory.visit(b);
                    found = Some(Value::Flag(memory.less(a, b)));
                }
            }
        }
        let mut value = |slot: Slot, memory: &mut dyn Memory| match found {
            Some(value) if slot == self.own + FOUND => Some(value),
            _ => Some(Value::Node(register(*self.registers.get(&slot)?, memory))),
        };
        let (mut tree, mut leaf) = (&self.tree, 0);
        loop {
            let (test, yes, no) = match tree {
                Tree::If(test, yes, no) => (test, yes, no),
                Tree::Do(..) => break,
                Tree::Write(access, nodes, then) => {
                    let mut nodes =
                        nodes.iter().map(|slot| match slot.map(|slot| value(slot, memory)) {
                            None => Some(None),
                            Some(Some(Value::Node(node))) => Some(node),
                            _ => None,
                        });
                    let a = nodes.next()???;
                    let to = nodes.next().unwrap_or(Some(None))?;
                    drop(nodes);
                    memory.visit(a);
                    match *access {
                        Access::Store(field) => memory.set_pointer(a, usize::from(field), to),
                        Access::Toggle(bit) => memory.toggle(a, usize::from(bit)),
                        _ => return None,
                    }
                    tree = then;
                    continue;
                }
            };
            let holds = match *test {
                Test::Nil(slot) => matches!(value(slot, memory)?, Value::Node(None)),
                Test::True(slot) => matches!(value(slot, memory)?, Value::Flag(true)),
                Test::Same(a, b) => match (value(a, memory)?, value(b, memory)?) {
                    (Value::Node(Some(a)), Value::Node(Some(b))) => a == b,
                    _ => false,
                },
            };
            leaf += if holds { 0 } else { yes.leaves() };
            tree = if holds { yes } else { no };
        }
        let (next, moves) = &self.leaves[leaf];
        let mut writes = Vec::with_capacity(moves.len() + 1);
        for &(to, from) in moves {
            let node = match from {
                None => None,
                Some(slot) => match value(slot, memory)? {
                    Value::Node(node) => node,
                    Value::Flag(_) => return None,
                },
            };
            writes.push((to, node));
        }
        for (to, node) in writes {
            if read.get(&to) != Some(&node) {
                memory.set_register(to, node);
            }
        }
        Some(*next)
    }
}

impl Program for Inferred {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn step(&self, state: u8, memory: &mut dyn Memory) -> Option<u8> {
        self.steps.get(usize::from(state))?.step(memory)
    }

    fn clauses(&self) -> Vec<String> {
        self.clauses.clone()
    }

    fn sample(&self, store: &Store, rng: &mut Rng) -> Call {
        crate::any_call(&self.signature, store, rng)
    }
}
