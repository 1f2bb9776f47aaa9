//! A program with its lenses: views, actions, and runs with any function from one to the other.

use std::collections::HashMap;
use std::sync::Arc;

use pgn_structures::{Node, Rng, Stream};

use crate::interpret::steps_allowed;
use crate::lens::Read;
use crate::tracing_memory::TracingMemory;
use crate::{
    Action, Call, Clauses, Comparison, Error, Exploration, Lens, Memory, Program, Result, Seen,
    Signature, Store, Trial, Values, View, Write, consistent, interpret,
};

/// What random runs of programs are drawn from: nodes, index of the sequence.
pub(crate) const RUNS: Stream = Stream::numbered(22);

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// With nothing to say.
    Done,
    /// With ŷ.
    Answer(bool),
    /// With a node or nil.
    Node(Option<Node>),
    /// It could not be carried out, for this reason.
    Refused(String),
}

impl Outcome {
    /// The outcome as the yes or no that data sets have: ŷ where there is one, else whether there
    /// is a node, else whether it could be carried out.
    pub fn as_answer(&self) -> bool {
        match self {
            Outcome::Done => true,
            Outcome::Answer(answer) => *answer,
            Outcome::Node(node) => node.is_some(),
            Outcome::Refused(_) => false,
        }
    }
}

/// A [`Program`] together with the lens of each of its states, which its steps determine.
///
/// ```
/// use std::sync::Arc;
/// use pgn_machines::{Machine, Outcome, Store, programs::dsu};
///
/// let machine = Machine::new(Arc::new(dsu()))?;
/// let mut store = Store::new(machine.signature(), &[0.1, 0.7, 0.4, 0.9]);
///
/// // Any function from views to actions can drive it; here the program itself.
/// let mut policy = |view: &_| machine.action(view).unwrap();
/// let query_union = machine.operation("query_union")?;
/// let outcome = machine.run(&mut store, query_union, &[0, 1], &mut policy)?;
/// assert_eq!(outcome, Outcome::Answer(true)); // they were apart
/// assert_eq!(store.pointer(0, 0), Some(1));
///
/// // All there is to learn:
/// let pairs = machine.consistent();
/// assert!(pairs.iter().all(|(view, action)| machine.action(view).as_ref() == Some(action)));
/// # Ok::<(), pgn_machines::Error>(())
/// ```
#[derive(Clone)]
pub struct Machine {
    program: Arc<dyn Program>,
    clauses: Arc<Clauses>,
    lenses: Vec<Lens>,
    consistent: Arc<[(View, Action)]>,
    /// Where the views of `consistent` are.
    known: Arc<HashMap<View, usize>>,
}

impl Machine {
    /// Finds the lenses and the consistent views of a program.
    pub fn new(program: Arc<dyn Program>) -> Result<Self> {
        program.signature().check().map_err(Error::Program)?;
        let clauses = Clauses::parse(program.signature(), &program.clauses());
        let clauses = clauses.map_err(Error::Program)?;
        let mut lenses = Vec::new();
        let mut pairs = Vec::new();
        for (state, declared) in (0..).zip(&program.signature().states) {
            if declared.halt.is_some() {
                lenses.push(Lens::default());
                continue;
            }
            let lens = consistent::lens_of(&*program, &clauses, state)?;
            for view in consistent::views(&*program, &clauses, state, &lens)? {
                match action_of(&*program, &view) {
                    Ok(Some(action)) => {
                        let pulls = action.pulls(program.signature());
                        if pulls > 1 {
                            let trouble = format!("a step pulls {pulls} nodes; expected one");
                            let view = view.picture(program.signature());
                            return Err(Error::Action { trouble, view });
                        }
                        pairs.push((view, action));
                    }
                    Ok(None) => {}
                    // A step that reads what its lens does not show is no function of its reads.
                    Err(()) => {
                        return Err(Error::Program(format!(
                            "state `{}` of program `{}` does not read the same twice, here:\n{}",
                            declared.name,
                            program.signature().name,
                            view.picture(program.signature())
                        )));
                    }
                }
            }
            lenses.push(lens);
        }
        let known = pairs.iter().enumerate().map(|(place, (view, _))| (view.clone(), place));
        let known = Arc::new(known.collect());
        Ok(Machine { program, clauses: clauses.into(), lenses, consistent: pairs.into(), known })
    }

    /// This program with other clauses.
    pub fn with_clauses(&self, clauses: Vec<String>) -> Result<Machine> {
        Machine::new(reclaused(&self.program, clauses))
    }

    /// The program, shared.
    pub fn shared(&self) -> &Arc<dyn Program> {
        &self.program
    }

    /// The program.
    pub fn program(&self) -> &dyn Program {
        &*self.program
    }

    /// What holds before every micro-step.
    pub fn clauses(&self) -> &Clauses {
        &self.clauses
    }

    /// The program's names.
    pub fn signature(&self) -> &Signature {
        self.program.signature()
    }

    /// What each state looks at.
    pub fn lenses(&self) -> &[Lens] {
        &self.lenses
    }

    /// The number of the operation of this name.
    pub fn operation(&self, name: &str) -> Result<usize> {
        let signature = self.signature();
        signature.operation_named(name).ok_or_else(|| {
            let known: Vec<_> = signature.operations.iter().map(|o| o.name.as_str()).collect();
            Error::Call(format!(
                "program `{}` has no operation `{name}`; it has {}",
                signature.name,
                known.join(", ")
            ))
        })
    }

    /// What the program does on a view; `None` where it is not defined.
    pub fn action(&self, view: &View) -> Option<Action> {
        action_of(&*self.program, view).ok().flatten()
    }

    /// Every consistent view on which the program is defined, with its action, by state.
    pub fn consistent(&self) -> &[(View, Action)] {
        &self.consistent
    }

    /// The different views met in random runs, with the program's actions, in the order in which
    /// they are first met: see [`Exploration`].
    pub fn sampled_traces(&self, trial: Trial) -> Result<Vec<(View, Action)>> {
        let Trial { sequences, nodes, operations, seed } = trial;
        let mut met = vec![false; self.consistent.len()];
        let mut pairs = Vec::new();
        for sequence in 0..sequences {
            let mut explored = Exploration::new(self.program(), nodes, seed, sequence);
            for _ in 0..operations {
                let Call { operation, arguments } = explored.call();
                let store = &mut explored.store;
                self.drive(store, &mut (), operation, &arguments, &mut |view, place| {
                    let action = &self.consistent[place].1;
                    if !std::mem::replace(&mut met[place], true) {
                        pairs.push((view.clone(), action.clone()));
                    }
                    action.clone()
                })?;
            }
        }
        Ok(pairs)
    }

    /// Carries out an operation, asking `policy` what to do at every micro-step.
    ///
    /// The nodes it visited are in [`Store::visited`]. Views that are not among the consistent ones,
    /// actions that cannot be carried out and operations that do not end are errors, and leave the
    /// store as it is at that point.
    pub fn run(
        &self,
        store: &mut Store,
        operation: usize,
        arguments: &[Node],
        policy: &mut impl FnMut(&View) -> Action,
    ) -> Result<Outcome> {
        self.run_with(store, &mut (), operation, arguments, policy)
    }

    /// [`Machine::run`] on nodes with values.
    pub fn run_with(
        &self,
        store: &mut Store,
        values: &mut impl Values,
        operation: usize,
        arguments: &[Node],
        policy: &mut impl FnMut(&View) -> Action,
    ) -> Result<Outcome> {
        self.drive(store, values, operation, arguments, &mut |view, _| policy(view))
    }

    /// Carries out an operation with the program itself: see [`interpret`].
    pub fn run_program(
        &self,
        store: &mut Store,
        operation: usize,
        arguments: &[Node],
    ) -> Result<Outcome> {
        self.run_program_with(store, &mut (), operation, arguments)
    }

    /// [`Machine::run_program`] on nodes with values.
    pub fn run_program_with(
        &self,
        store: &mut Store,
        values: &mut impl Values,
        operation: usize,
        arguments: &[Node],
    ) -> Result<Outcome> {
        interpret(&*self.program, store, values, operation, arguments)
    }

    fn drive(
        &self,
        store: &mut Store,
        values: &mut impl Values,
        operation: usize,
        arguments: &[Node],
        policy: &mut impl FnMut(&View, usize) -> Action,
    ) -> Result<Outcome> {
        let mut state = match self.begin(store, operation, arguments) {
            Err(Error::Refused(reason)) => return Ok(Outcome::Refused(reason)),
            started => started?,
        };
        let mut nodes = Vec::new();
        for _ in 0..steps_allowed(store) {
            if let Some(outcome) = self.outcome(store, state) {
                return Ok(outcome);
            }
            let view = self.view(store, state, &mut nodes);
            let Some(&place) = self.known.get(&view) else { return Err(self.undefined(&view)) };
            let action = policy(&view, place);
            action.check(&view, self.signature()).map_err(|trouble| Error::Action {
                trouble,
                view: view.picture(self.signature()),
            })?;
            self.write(store, &nodes, &action);
            store.settle(values);
            state = action.next;
        }
        Err(interpret::endless(self.program(), operation, state, steps_allowed(store)))
    }

    /// Puts the arguments of an operation in place; the state it starts in. Arguments that violate
    /// a precondition are an [`Error::Refused`], which runs turn into an [`Outcome::Refused`].
    pub fn begin(&self, store: &mut Store, operation: usize, arguments: &[Node]) -> Result<u8> {
        interpret::begin(&*self.program, store, operation, arguments)
    }

    /// The outcome, if the operation ends in this state.
    pub fn outcome(&self, store: &Store, state: u8) -> Option<Outcome> {
        interpret::outcome(&*self.program, store, state)
    }

    /// What the lens of `state` shows, and which nodes of the store the view's are.
    pub fn view(&self, store: &Store, state: u8, nodes: &mut Vec<Node>) -> View {
        let signature = self.signature();
        let lens = &self.lenses[usize::from(state)];
        let mut view = View::empty(state, signature);
        let mut slots: Vec<Option<u8>> = Vec::with_capacity(lens.paths.len());
        nodes.clear();
        for &read in &lens.reads {
            match read {
                Read::Control(control) => {
                    let control = usize::from(control);
                    view.controls[control] = Some(store.controls[control]);
                }
                Read::Register(register) => {
                    let found = store.register(usize::from(register));
                    let seen = see(found, &mut view, nodes, signature, &mut slots);
                    view.registers[usize::from(register)] = seen;
                }
                Read::Pointer(slot, field) => match slots[usize::from(slot)] {
                    None => slots.push(None),
                    Some(node) => {
                        let field = usize::from(field);
                        let found = store.pointer(nodes[usize::from(node)], field);
                        let seen = see(found, &mut view, nodes, signature, &mut slots);
                        let index = usize::from(node) * signature.pointers.len();
                        view.pointers[index + field] = seen;
                    }
                },
                Read::Bit(slot, bit) => {
                    if let Some(node) = slots[usize::from(slot)] {
                        let index = usize::from(node) * signature.bits.len() + usize::from(bit);
                        let set = store.bit(nodes[usize::from(node)], usize::from(bit));
                        view.bits[index] = Some(set);
                    }
                }
                Read::Less(a, b) => {
                    if let (Some(a), Some(b)) = (slots[usize::from(a)], slots[usize::from(b)])
                        && view.less(a, b).is_none()
                    {
                        let less = store.less(nodes[usize::from(a)], nodes[usize::from(b)]);
                        view.comparisons.push(Comparison { a, b, less });
                    }
                }
            }
        }
        view
    }

    /// Carries out an action that [`Action::check`] found nothing wrong with, on nodes without
    /// values.
    pub fn apply(&self, store: &mut Store, nodes: &[Node], action: &Action) {
        self.write(store, nodes, action);
        store.settle(&mut ());
    }

    fn write(&self, store: &mut Store, nodes: &[Node], action: &Action) {
        let signature = self.signature();
        let target = |write: Write| match write {
            Write::Keep => None,
            Write::Nil => Some(None),
            Write::Node(node) => Some(Some(nodes[usize::from(node)])),
        };
        for (index, &node) in nodes.iter().enumerate() {
            let fields = signature.pointers.len();
            for field in 0..fields {
                if let Some(to) = target(action.pointers[index * fields + field]) {
                    store.set_pointer(node, field, to);
                }
            }
            let bits = signature.bits.len();
            for bit in (0..bits).filter(|bit| action.toggles[index * bits + bit]) {
                store.toggle(node, bit);
            }
            let marks = signature.marks.len();
            for mark in (0..marks).filter(|mark| action.marks[index * marks + mark]) {
                store.mark(node, mark);
            }
        }
        for (register, &write) in action.registers.iter().enumerate() {
            if let Some(to) = target(write) {
                store.set_register(register, to);
            }
        }
        for (control, &value) in action.controls.iter().enumerate() {
            if let Some(value) = value {
                store.set_control(control, value);
            }
        }
    }

    pub(crate) fn undefined(&self, view: &View) -> Error {
        let signature = self.signature();
        Error::Undefined { program: signature.name.clone(), view: view.picture(signature) }
    }
}

/// A program with other clauses.
pub fn reclaused(program: &Arc<dyn Program>, clauses: Vec<String>) -> Arc<dyn Program> {
    Arc::new(Reclaused { program: program.clone(), clauses })
}

struct Reclaused {
    program: Arc<dyn Program>,
    clauses: Vec<String>,
}

impl Program for Reclaused {
    fn signature(&self) -> &Signature {
        self.program.signature()
    }

    fn step(&self, state: u8, memory: &mut dyn Memory) -> Option<u8> {
        self.program.step(state, memory)
    }

    fn clauses(&self) -> Vec<String> {
        self.clauses.clone()
    }

    fn sample(&self, store: &Store, rng: &mut Rng) -> Call {
        self.program.sample(store, rng)
    }

    fn needs(&self, state: u8, register: usize) -> bool {
        self.program.needs(state, register)
    }
}

/// What a program does on a view: nothing where it is not defined, an error if the view does not
/// show all that it reads.
fn action_of(program: &dyn Program, view: &View) -> std::result::Result<Option<Action>, ()> {
    let mut memory = TracingMemory::of_view(program.signature(), view.clone());
    let next = program.step(view.state, &mut memory);
    if memory.failed() {
        return Err(());
    }
    Ok(next.and_then(|next| memory.finish(next)))
}

/// Adds what was found behind a pointer to a view.
fn see(
    found: Option<Node>,
    view: &mut View,
    nodes: &mut Vec<Node>,
    signature: &Signature,
    slots: &mut Vec<Option<u8>>,
) -> Seen {
    let Some(found) = found else {
        slots.push(None);
        return Seen::Nil;
    };
    let index = match nodes.iter().position(|&node| node == found) {
        Some(index) => index as u8,
        None => {
            nodes.push(found);
            view.add_node(signature)
        }
    };
    slots.push(Some(index));
    Seen::Node(index)
}
