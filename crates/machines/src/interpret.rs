//! Programs as they stand, without views: the fastest way to have ground truth.

use pgn_structures::Node;

use crate::{Error, Halt, Outcome, Program, Result, Store, TracingMemory, Values};

/// Carries out an operation with the program itself.
///
/// The nodes it visited are in [`Store::visited`]. An operation that is not defined or does not
/// end is an error, and leaves the store as it is at that point.
///
/// ```
/// use pgn_machines::{Outcome, Program, Store, interpret, programs::splay};
///
/// let splay = splay();
/// let mut store = Store::new(splay.signature(), &[0.0, 0.3, 0.7]); // node 0 is the tree
/// let insert = splay.signature().operation_named("insert").unwrap();
/// for node in [1, 2] {
///     let outcome = interpret(&splay, &mut store, &mut (), insert, &[0, node])?;
///     assert_eq!(outcome, Outcome::Answer(true)); // it was not in
/// }
/// # Ok::<(), pgn_machines::Error>(())
/// ```
pub fn interpret(
    program: &dyn Program,
    store: &mut Store,
    values: &mut impl Values,
    operation: usize,
    arguments: &[Node],
) -> Result<Outcome> {
    let mut state = match begin(program, store, operation, arguments) {
        Err(Error::Refused(reason)) => return Ok(Outcome::Refused(reason)),
        started => started?,
    };
    let allowed = steps_allowed(store);
    for _ in 0..allowed {
        if let Some(outcome) = outcome(program, store, state) {
            return Ok(outcome);
        }
        state = program.step(state, store).ok_or_else(|| undefined(program, store, state))?;
        store.settle(values);
    }
    Err(endless(program, operation, state, allowed))
}

/// The operation goes on for too long.
pub(crate) fn endless(program: &dyn Program, operation: usize, state: u8, steps: u64) -> Error {
    let signature = program.signature();
    let operation = &signature.operations[operation].name;
    let state = &signature.states[usize::from(state)].name;
    let operation = format!("`{operation}` of program `{}` (in state `{state}`)", signature.name);
    Error::Endless { operation, steps }
}

/// Puts the arguments of an operation in place; the state it starts in.
pub(crate) fn begin(
    program: &dyn Program,
    store: &mut Store,
    operation: usize,
    arguments: &[Node],
) -> Result<u8> {
    let signature = program.signature();
    let Some(declared) = signature.operations.get(operation) else {
        let count = signature.operations.len();
        return Err(Error::Call(format!("operation {operation} is unknown; there are {count}")));
    };
    if declared.arguments.len() != arguments.len() {
        return Err(Error::Call(format!(
            "operation `{}` takes {} nodes; {} were given",
            declared.name,
            declared.arguments.len(),
            arguments.len()
        )));
    }
    if let Some(&node) = arguments.iter().find(|&&node| node as usize >= store.len()) {
        return Err(Error::NodeOutOfRange { node, nodes: store.len() });
    }
    store.visited.clear();
    if let Some(reason) = signature.refusal(store, operation, arguments) {
        return Err(Error::Refused(reason.to_owned()));
    }
    store.begin(signature, operation, arguments);
    Ok(declared.entry)
}

/// The outcome, if the operation ends in this state.
pub(crate) fn outcome(program: &dyn Program, store: &Store, state: u8) -> Option<Outcome> {
    let halt = program.signature().states.get(usize::from(state))?.halt.as_ref()?;
    Some(match halt {
        Halt::Done => Outcome::Done,
        Halt::Answer(answer) => Outcome::Answer(*answer),
        Halt::Node(register) => Outcome::Node(store.register(usize::from(*register))),
        Halt::Refused(reason) => Outcome::Refused(reason.clone()),
    })
}

/// Micro-steps after which an operation is taken not to end: more than any of a program that
/// walks over all nodes a few times takes.
pub(crate) fn steps_allowed(store: &Store) -> u64 {
    1_000 + 100 * store.len() as u64
}

/// The program is not defined in this state of this memory. What the step has written before it
/// found out is in the picture.
fn undefined(program: &dyn Program, store: &Store, state: u8) -> Error {
    let signature = program.signature();
    let mut memory = TracingMemory::recording(signature, state, store);
    program.step(state, &mut memory);
    Error::Undefined { program: signature.name.clone(), view: memory.view().picture(signature) }
}
