//! Which views can occur: the enumeration behind a certificate.

use std::collections::BTreeSet;

use crate::lens::{Lens, PathRead, Read};
use crate::tracing_memory::{Choices, MOST_NODES, Place, TracingMemory, options_of};
use crate::{Comparison, Error, Program, Result, Seen, View};

/// More views of one state than this are a mistake in the program.
const MOST_VIEWS: usize = 1_000_000;

/// The declared invariants of a program, and that keys are ordered.
#[derive(Clone, Copy)]
pub(crate) struct Consistency<'a> {
    program: &'a dyn Program,
    invariants: usize,
}

impl<'a> Consistency<'a> {
    pub fn of(program: &'a dyn Program) -> Self {
        Consistency { program, invariants: program.invariants().len() }
    }

    /// The first declared invariant that cannot hold.
    pub fn broken(&self, view: &View) -> Option<usize> {
        (0..self.invariants).find(|&index| !self.program.holds(index, view))
    }

    /// Whether everything can still hold, given what was read so far.
    pub fn holds(&self, view: &View) -> bool {
        ordered(view) && self.broken(view).is_none()
    }
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
pub(crate) fn lens_of(program: &dyn Program, state: u8) -> Result<Lens> {
    let mut choices = Choices::default();
    let mut reads: BTreeSet<PathRead> = BTreeSet::new();
    for _ in 0..MOST_VIEWS {
        let mut memory = TracingMemory::symbolic(program, state, &mut choices);
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
         into smaller ones or declare stronger invariants",
        signature.states[usize::from(state)].name,
        signature.name
    ))
}

/// All consistent views of a state through its lens.
pub(crate) fn views(program: &dyn Program, state: u8, lens: &Lens) -> Result<Vec<View>> {
    let signature = program.signature();
    let consistency = Consistency::of(program);
    let mut views = vec![(View::empty(state, signature), Vec::<Option<u8>>::new())];
    for &read in &lens.reads {
        let mut extended = Vec::with_capacity(views.len());
        let mut add = |view: View, slots: Vec<Option<u8>>, checked: bool| {
            if checked || consistency.holds(&view) {
                extended.push((view, slots));
            }
        };
        for (view, slots) in views {
            match read {
                Read::Control(control) => {
                    let values = signature.controls[usize::from(control)].values.len();
                    for value in 0..values as u8 {
                        let mut view = view.clone();
                        view.controls[usize::from(control)] = Some(value);
                        add(view, slots.clone(), false);
                    }
                }
                Read::Register(_) | Read::Pointer(..) => {
                    let place = match read {
                        Read::Register(register) => Some(Place::Register(usize::from(register))),
                        Read::Pointer(slot, field) => slots[usize::from(slot)]
                            .map(|node| Place::Field(node, usize::from(field))),
                        _ => None,
                    };
                    let known = match place {
                        Some(Place::Field(node, field)) => view.pointer(node, field),
                        Some(Place::Register(register)) => view.registers[register],
                        // Beyond nil there is nothing to read.
                        None => Seen::Nil,
                    };
                    let fill = |slots: &[Option<u8>], seen| {
                        let slot = match seen {
                            Seen::Node(node) => Some(node),
                            _ => None,
                        };
                        slots.iter().copied().chain([slot]).collect()
                    };
                    match (place, known) {
                        (Some(place), Seen::Unread) => {
                            for seen in options_of(&view) {
                                let mut view = view.clone();
                                place.set(&mut view, signature, seen);
                                add(view, fill(&slots, seen), false);
                            }
                        }
                        _ => add(view, fill(&slots, known), true),
                    }
                }
                Read::Bit(slot, bit) => match slots[usize::from(slot)] {
                    Some(node) if view.bit(node, usize::from(bit)).is_none() => {
                        for set in [false, true] {
                            let mut view = view.clone();
                            let index = usize::from(node) * signature.bits.len();
                            view.bits[index + usize::from(bit)] = Some(set);
                            add(view, slots.clone(), false);
                        }
                    }
                    _ => add(view, slots, true),
                },
                Read::Less(a, b) => match (slots[usize::from(a)], slots[usize::from(b)]) {
                    (Some(a), Some(b)) if view.less(a, b).is_none() => {
                        for less in [false, true] {
                            let mut view = view.clone();
                            view.comparisons.push(Comparison { a, b, less });
                            add(view, slots.clone(), false);
                        }
                    }
                    _ => add(view, slots, true),
                },
            }
        }
        if extended.len() > MOST_VIEWS {
            return Err(too_many(program, state));
        }
        views = extended;
    }
    Ok(views.into_iter().map(|(view, _)| view).collect())
}
