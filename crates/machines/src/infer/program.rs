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
    blocks::{Blocks, RESULT, Target},
    registers::{allocate, live, live_into},
    trees::{FOUND, Next, PER_STATE, Slot, Test, Tree, Trees},
};
use crate::{Call, Error, Halt, Memory, Program, Result, Signature, StateSignature, Store};

/// The program that was inferred from ordinary code.
#[derive(Clone)]
pub struct Inferred {
    signature: Signature,
    clauses: Vec<String>,
    /// By state of the code.
    code: BTreeMap<usize, StateCode>,
    /// The states that are kept, in order, and where each operation or what follows ends.
    kept: Vec<usize>,
    numbers: BTreeMap<Target, u8>,
    /// The slots that are needed there.
    wanted: BTreeMap<Target, BTreeSet<Slot>>,
    registers: BTreeMap<Slot, usize>,
    /// Fields of the controller, for slots that hold the outcome of a test.
    flags: BTreeMap<Slot, usize>,
    automaton: Automaton,
    leaves: usize,
    looks: bool,
}

/// What happens at a state of the code.
#[derive(Clone, Debug)]
struct StateCode {
    access: Option<Access>,
    tree: Tree,
}

impl Inferred {
    pub(super) fn new(
        code: &dyn Code,
        all: &Automaton,
        trees: &Trees,
        reads: usize,
    ) -> Result<Inferred> {
        let outline = code.signature();
        let Blocks { inside, edges } = Blocks::of(all, trees, reads);
        let live = live(&edges);
        let arguments: Vec<Slot> = (0..outline.operations.len())
            .flat_map(|start| {
                (0..outline.operations[start].arguments.len())
                    .map(move |place| PER_STATE * start + place)
            })
            .collect();
        let needed: BTreeSet<Slot> = live.values().flatten().copied().collect();
        let is_flag = |slot: &Slot| all.is_flag(*slot);
        let flags = needed.into_iter().filter(is_flag).zip(all.controls()..).collect();
        let registers = allocate(outline, &edges, &live, &arguments, &is_flag);

        let mut signature = outline.clone();
        signature.states.clear();
        let count = registers.values().max().map_or(0, |last| last + 1);
        signature.registers = register_names(outline, count);
        let mut numbers: BTreeMap<Target, u8> = BTreeMap::new();
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for (function, places) in all.functions.iter().take(all.controls()) {
            let places: Vec<&str> = places.iter().map(String::as_str).collect();
            signature = signature.control(&format!("{function}_from"), &places);
        }
        let flags: BTreeMap<Slot, usize> = flags;
        for &flag in flags.values() {
            let name = format!("flag_{}", flag + 1 - all.controls());
            signature = signature.control(&name, &["no", "yes"]);
        }
        let kept: Vec<usize> =
            trees.0.keys().copied().filter(|state| !inside.contains(state)).collect();
        let targets = kept.iter().map(|&state| Target::State(state));
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
        let wanted = |to: &Target| (to.clone(), live_into(&live, to));
        let wanted = numbers.keys().map(wanted).collect();
        let state = |(&state, tree): (&usize, &Tree)| {
            (state, StateCode { access: all.access(state), tree: tree.clone() })
        };
        let code = trees.0.iter().map(state).collect();
        signature.check().map_err(Error::Program)?;
        let (clauses, leaves, automaton) = (Vec::new(), edges.len(), all.clone());
        Ok(Inferred {
            signature,
            clauses,
            code,
            kept,
            numbers,
            wanted,
            registers,
            flags,
            automaton,
            leaves,
            looks: false,
        })
    }

    /// With these clauses.
    pub fn with_clauses(mut self, clauses: Vec<String>) -> Inferred {
        self.clauses = clauses;
        self
    }

    /// The same, but a pointer field is read before it is written. Then more can be proved, of more
    /// views: where trees go down several fields, what is overwritten matters.
    pub fn looking(mut self) -> Inferred {
        self.looks = true;
        self
    }

    /// The states with what they do, in text.
    ///
    /// ```text
    /// load_up(x)
    ///   a = x.up
    ///   if a is nil
    ///     → compare(x, y)
    ///   else
    ///     → load_up x=a
    /// ```
    pub fn picture(&self) -> String {
        let mut text = String::new();
        for (number, &state) in self.kept.iter().enumerate() {
            text += &format!("{}\n", self.signature.states[number].name);
            let mut before: Vec<Line> = Vec::new();
            for path in self.drawn(state) {
                let same = path.iter().zip(&before).take_while(|(a, b)| a == b).count();
                for line in &path[same..] {
                    let said = line.unless.as_ref().map_or(&*line.says, |_| "else");
                    text += &format!("{}{said}\n", "  ".repeat(line.depth));
                }
                before = path;
            }
        }
        text
    }

    /// A drawing for Graphviz: an arrow for every path from a state to the next.
    pub fn dot(&self) -> String {
        let mut text = format!("digraph {:?} {{\n  node [shape=box];\n", self.signature.name);
        for (number, state) in self.signature.states.iter().enumerate() {
            let shape = if state.halt.is_some() { " shape=oval" } else { "" };
            text += &format!("  {number} [label={:?}{shape}];\n", state.name);
        }
        for (number, &state) in self.kept.iter().enumerate() {
            for path in self.drawn(state) {
                let says = |line: &Line| line.unless.as_ref().unwrap_or(&line.says).clone();
                let label: Vec<String> = path.iter().map(says).collect();
                let to = path.last().map_or(0, |line| line.to);
                text += &format!("  {number} -> {to} [label={:?}];\n", label.join("\n"));
            }
        }
        text + "}\n"
    }

    /// All paths from a state to the next.
    fn drawn(&self, state: usize) -> Vec<Vec<Line>> {
        let mut paths = Vec::new();
        let draw = Draw { program: self, names: BTreeMap::new(), fresh: 0, lines: Vec::new() };
        draw.state(state, 1, &mut paths);
        paths
    }

    /// How many states it has, halting ones left out, and how many paths lead from one to the next.
    pub fn size(&self) -> (usize, usize) {
        (self.kept.len(), self.leaves)
    }
}

/// A line of a drawing.
#[derive(Clone, PartialEq)]
struct Line {
    depth: usize,
    says: String,
    /// Where a test is false: what that says.
    unless: Option<String>,
    /// The state that it leads to.
    to: u8,
}

/// A path that is being drawn.
#[derive(Clone)]
struct Draw<'p> {
    program: &'p Inferred,
    /// Of slots that are written on the way.
    names: BTreeMap<Slot, String>,
    fresh: usize,
    lines: Vec<Line>,
}

impl Draw<'_> {
    fn name(&self, slot: Slot) -> String {
        if let Some(name) = self.names.get(&slot) {
            return name.clone();
        }
        let (program, names) = (self.program, &self.program.signature);
        let flag = program.flags.get(&slot).map(|&flag| names.controls[flag].name.clone());
        let register = program.registers.get(&slot).map(|&one| names.registers[one].clone());
        flag.or(register).unwrap_or("?".to_owned())
    }

    fn say(&mut self, depth: usize, says: String) {
        self.lines.push(Line { depth, says, unless: None, to: 0 });
    }

    fn state(mut self, state: usize, depth: usize, paths: &mut Vec<Vec<Line>>) {
        let StateCode { access, tree } = &self.program.code[&state];
        let names = &self.program.signature;
        let [a, b] = [0, 1].map(|place| self.name(state * PER_STATE + place));
        let field = |field: u8| &names.pointers[usize::from(field)];
        let bit = |bit: u8| &names.bits[usize::from(bit)];
        let found = format!("a{}", self.fresh + 1);
        let says = match *access {
            None => None,
            Some(Access::Load(one)) => Some(format!("{found} = {a}.{}", field(one))),
            Some(Access::Bit(one)) => Some(format!("{found} = {a}.{}", bit(one))),
            Some(Access::Less) => Some(format!("{found} = {a} < {b}")),
            Some(Access::Store(one)) => Some(format!("{a}.{} = {b}", field(one))),
            Some(Access::Toggle(one)) => Some(format!("toggle {a}.{}", bit(one))),
        };
        if let Some(says) = says {
            if says.starts_with(&found) {
                self.fresh += 1;
                self.names.insert(state * PER_STATE + FOUND, found);
            }
            self.say(depth, says);
        }
        self.tree(tree, depth, paths);
    }

    fn tree(mut self, tree: &Tree, depth: usize, paths: &mut Vec<Vec<Line>>) {
        let signature = &self.program.signature;
        match tree {
            Tree::If(test, yes, no) => {
                let asked = match *test {
                    Test::Nil(one) => format!("{} is nil", self.name(one)),
                    Test::True(one) => self.name(one),
                    Test::Same(a, b) => format!("{} is {}", self.name(a), self.name(b)),
                    Test::From(function, place) => {
                        let control = &signature.controls[function];
                        format!("{} is {}", control.name, control.values[usize::from(place)])
                    }
                };
                let mut holds = self.clone();
                holds.say(depth, format!("if {asked}"));
                holds.tree(yes, depth + 1, paths);
                let unless = Some(format!("unless {asked}"));
                self.lines.push(Line { depth, says: String::new(), unless, to: 0 });
                self.tree(no, depth + 1, paths);
            }
            Tree::Do(next, nodes, calls) => {
                for &(function, place) in calls {
                    if let Some(control) = signature.controls.get(function)
                        && function < self.program.automaton.controls()
                    {
                        let value = &control.values[usize::from(place)];
                        self.say(depth, format!("{} = {value}", control.name));
                    }
                }
                let automaton = &self.program.automaton;
                let saved = automaton.saves(calls).map(|(to, from)| (to, self.name(from)));
                let saved: Vec<(Slot, String)> = saved.collect();
                let given: Vec<String> = nodes
                    .iter()
                    .map(|node| node.map_or("nil".to_owned(), |one| self.name(one)))
                    .collect();
                self.names.extend(saved);
                for &(function, _) in calls {
                    let entry = (0..).map(|place| automaton.entry(function, place));
                    self.names.extend(entry.zip(given.iter().cloned()));
                }
                let target = match next {
                    Next::State(state) => {
                        let slots = (0..).map(|place| state * PER_STATE + place);
                        self.names.extend(slots.zip(given));
                        if !self.program.kept.contains(state) {
                            return self.state(*state, depth, paths);
                        }
                        Target::State(*state)
                    }
                    halt => {
                        self.names.extend(given.into_iter().map(|name| (RESULT, name)));
                        Target::Halt(halt.clone())
                    }
                };
                let to = self.program.numbers[&target];
                let mut says = format!("→ {}", signature.states[usize::from(to)].name);
                for &slot in &self.program.wanted[&target] {
                    let mut before = self.clone();
                    before.names.clear();
                    let (to, from) = (before.name(slot), self.name(slot));
                    if to != from {
                        says += &format!(" {to}={from}");
                    }
                }
                self.lines.push(Line { depth, says, unless: None, to });
                paths.push(self.lines);
            }
        }
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
    /// What a slot had before the step.
    Before(Slot),
}

/// A step that is being carried out.
struct Run<'r, 'm> {
    program: &'r Inferred,
    memory: &'m mut dyn Memory,
    /// What registers held when they were read.
    read: BTreeMap<usize, Option<u32>>,
    /// Slots that were written in this step.
    known: BTreeMap<Slot, Value>,
}

impl Run<'_, '_> {
    fn value(&mut self, slot: Slot) -> Option<Value> {
        let slot = match self.known.get(&slot) {
            Some(&Value::Before(slot)) => slot,
            Some(&value) => return Some(value),
            None => slot,
        };
        if let Some(&flag) = self.program.flags.get(&slot) {
            return Some(Value::Flag(self.memory.control(flag) == 1));
        }
        let &register = self.program.registers.get(&slot)?;
        let memory = &mut *self.memory;
        let held = self.read.entry(register).or_insert_with(|| memory.register(register));
        Some(Value::Node(*held))
    }

    fn node(&mut self, slot: Slot) -> Option<Option<u32>> {
        match self.value(slot)? {
            Value::Node(node) => Some(node),
            _ => None,
        }
    }

    /// Carries out the access of a state of the code; none where the code never went.
    fn access(&mut self, state: usize, access: Access) -> Option<()> {
        let own = state * PER_STATE;
        let a = self.node(own)??;
        self.memory.visit(a);
        let found = match access {
            Access::Load(field) => Value::Node(self.memory.pointer(a, usize::from(field))),
            Access::Bit(bit) => Value::Flag(self.memory.bit(a, usize::from(bit))),
            Access::Toggle(bit) => {
                self.memory.toggle(a, usize::from(bit));
                return Some(());
            }
            Access::Store(field) => {
                let to = self.node(own + 1)?;
                if self.program.looks {
                    self.memory.pointer(a, usize::from(field));
                }
                self.memory.set_pointer(a, usize::from(field), to);
                return Some(());
            }
            Access::Less => {
                let b = self.node(own + 1)??;
                self.memory.visit(b);
                Value::Flag(self.memory.less(a, b))
            }
        };
        self.known.insert(own + FOUND, found);
        Some(())
    }

    /// Goes from a state that is kept to the next; none where the code never went.
    fn step(mut self, mut state: usize) -> Option<u8> {
        let program = self.program;
        loop {
            let code = program.code.get(&state)?;
            if let Some(access) = code.access {
                self.access(state, access)?;
            }
            let mut tree = &code.tree;
            while let Tree::If(test, yes, no) = tree {
                let holds = match *test {
                    Test::Nil(slot) => matches!(self.value(slot)?, Value::Node(None)),
                    Test::True(slot) => matches!(self.value(slot)?, Value::Flag(true)),
                    Test::Same(a, b) => match (self.value(a)?, self.value(b)?) {
                        (Value::Node(Some(a)), Value::Node(Some(b))) => a == b,
                        _ => false,
                    },
                    Test::From(function, place) => self.memory.control(function) == place,
                };
                tree = if holds { yes } else { no };
            }
            let Tree::Do(next, nodes, calls) = tree else { return None };
            let automaton = &program.automaton;
            for &(function, place) in calls.iter().filter(|call| call.0 < automaton.controls()) {
                self.memory.set_control(function, place);
            }
            let given = nodes.iter().map(|node| match node {
                Some(slot) => self.value(*slot),
                None => Some(Value::Node(None)),
            });
            let given = given.collect::<Option<Vec<_>>>()?;
            for (to, from) in automaton.saves(calls) {
                let value = self.known.get(&from).copied().unwrap_or(Value::Before(from));
                self.known.insert(to, value);
            }
            for &(function, _) in calls {
                let entry = (0..).map(|place| automaton.entry(function, place));
                self.known.extend(entry.zip(given.iter().copied()));
            }
            let target = match next {
                Next::State(next) => {
                    self.known.extend((0..).map(|place| next * PER_STATE + place).zip(given));
                    if !program.kept.contains(next) {
                        state = *next;
                        continue;
                    }
                    Target::State(*next)
                }
                halt => {
                    self.known.extend(given.into_iter().map(|node| (RESULT, node)));
                    Target::Halt(halt.clone())
                }
            };
            let (mut writes, mut flags) = (Vec::new(), Vec::new());
            for &slot in program.wanted.get(&target)? {
                let place = |slot| (program.registers.get(slot), program.flags.get(slot));
                match self.known.get(&slot) {
                    None => continue,
                    Some(Value::Before(from)) if place(from) == place(&slot) => continue,
                    Some(_) => {}
                }
                match self.value(slot)? {
                    Value::Flag(set) => flags.push((*program.flags.get(&slot)?, u8::from(set))),
                    Value::Node(node) => {
                        let &register = program.registers.get(&slot)?;
                        if self.read.get(&register) != Some(&node) {
                            writes.push((register, node));
                        }
                    }
                    Value::Before(_) => return None,
                }
            }
            writes.into_iter().for_each(|(to, node)| self.memory.set_register(to, node));
            flags.into_iter().for_each(|(to, set)| self.memory.set_control(to, set));
            return program.numbers.get(&target).copied();
        }
    }
}

impl Program for Inferred {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn step(&self, state: u8, memory: &mut dyn Memory) -> Option<u8> {
        let (read, known) = (BTreeMap::new(), BTreeMap::new());
        Run { program: self, memory, read, known }.step(*self.kept.get(usize::from(state))?)
    }

    fn clauses(&self) -> Vec<String> {
        self.clauses.clone()
    }

    fn needs(&self, state: u8, register: usize) -> bool {
        let wanted =
            self.kept.get(usize::from(state)).map(|&state| &self.wanted[&Target::State(state)]);
        wanted.is_none_or(|slots| {
            slots.iter().any(|slot| self.registers.get(slot) == Some(&register))
        })
    }

    fn sample(&self, store: &Store, rng: &mut Rng) -> Call {
        crate::any_call(&self.signature, store, rng)
    }
}
