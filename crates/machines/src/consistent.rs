//! Which views the clauses allow: the enumeration behind a certificate.

use std::collections::BTreeSet;

use pgn_structures::Node;

use crate::lens::{Lens, PathRead, Read};
use crate::tracing_memory::{Choices, MOST_NODES, TracingMemory};
use crate::{Clauses, Error, Memory, Program, Result, View};

/// More views of one state than this are a mistake in the program.
const MOST_VIEWS: usize = 100_000;

/// Whether the clauses can hold and keys be ordered, given what was read so far.
pub(crate) fn possible(clauses: &Clauses, view: &View) -> bool {
    ordered(view) && clauses.violated(view).is_none()
}

/// Whether some strict weak order of the nodes has the comparisons that were read: there is no
/// cycle over "less" and "not greater" with a "less" in it.
fn ordered(view: &View) -> bool {
    if view.comparisons.len() < 2 {
        return true;
    }
    let nodes = usize::from(view.nodes);
    // 0: nothing is known; 1: from is not greater than to; 2: it is less.
    let mut known = vec![0u8; nodes * nodes];
    for read in &view.comparisons {
        let (a, b) = (usize::from(read.a), usize::from(read.b));
        let (from, to, strength) = if read.less { (a, b, 2) } else { (b, a, 1) };
        let entry = &mut known[from * nodes + to];
        *entry = strength.max(*entry);
    }
    for via in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                let (first, second) = (known[from * nodes + via], known[via * nodes + to]);
                if first > 0 && second > 0 {
                    let entry = &mut known[from * nodes + to];
                    *entry = first.max(second).max(*entry);
                }
            }
        }
    }
    (0..nodes).all(|node| known[node * nodes + node] < 2)
}

/// The lens of a state, by executing its step symbolically.
pub(crate) fn lens_of(program: &dyn Program, clauses: &Clauses, state: u8) -> Result<Lens> {
    let mut choices = Choices::default();
    let mut reads: BTreeSet<PathRead> = BTreeSet::new();
    for _ in 0..MOST_VIEWS {
        let mut memory = TracingMemory::symbolic(program.signature(), clauses, state, &mut choices);
        program.step(state, &mut memory);
        reads.extend(memory.reads().iter().cloned());
        if memory.crowded() {
            let signature = program.signature();
            return Err(Error::Program(format!(
                "a step from state `{}` of program `{}` sees more than {MOST_NODES} nodes",
                signature.states[usize::from(state)].name,
                signature.name
            )));
        }
        if !choices.advance() {
            return Ok(Lens::of(&reads));
        }
    }
    Err(too_many(program, state))
}

fn too_many(program: &dyn Program, state: u8) -> Error {
    let signature = program.signature();
    Error::Program(format!(
        "state `{}` of program `{}` has more than {MOST_VIEWS} consistent views; split the step \
         into smaller ones or declare stronger clauses",
        signature.states[usize::from(state)].name,
        signature.name
    ))
}

/// All consistent views of a state through its lens, in the order of what the reads find: nil, a
/// node in sight, another one.
pub(crate) fn views(
    program: &dyn Program,
    clauses: &Clauses,
    state: u8,
    lens: &Lens,
) -> Result<Vec<View>> {
    let mut choices = Choices::default();
    let mut views = Vec::new();
    while views.len() <= MOST_VIEWS {
        let mut memory = TracingMemory::symbolic(program.signature(), clauses, state, &mut choices);
        look(&mut memory, lens);
        if !memory.failed() {
            views.push(memory.view().clone());
        }
        if !choices.advance() {
            return Ok(views);
        }
    }
    Err(too_many(program, state))
}

/// Reads all that a lens shows, until nothing consistent is left to be found.
fn look(memory: &mut TracingMemory, lens: &Lens) {
    let mut slots: Vec<Option<Node>> = Vec::with_capacity(lens.paths.len());
    for &read in &lens.reads {
        match read {
            Read::Control(control) => {
                memory.control(usize::from(control));
            }
            Read::Register(register) => slots.push(memory.register(usize::from(register))),
            // Beyond nil there is nothing to read.
            Read::Pointer(slot, field) => {
                let node = slots[usize::from(slot)];
                slots.push(node.and_then(|node| memory.pointer(node, usize::from(field))));
            }
            Read::Bit(slot, bit) => {
                if let Some(node) = slots[usize::from(slot)] {
                    memory.bit(node, usize::from(bit));
                }
            }
            Read::Less(a, b) => {
                if let (Some(a), Some(b)) = (slots[usize::from(a)], slots[usize::from(b)]) {
                    memory.less(a, b);
                }
            }
        }
        if memory.failed() {
            return;
        }
    }
}
