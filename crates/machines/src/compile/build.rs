//! From a table of views and actions to a decision tree.

use std::collections::BTreeMap;

use super::tree::{Arm, Branch, Effect, Found, Test, Tree};
use crate::lens::{Lens, Read};
use crate::{Action, Error, Machine, Result, Seen, View, Write};

/// A view with its action, and what the lens's reads found in it.
struct Case<'a> {
    view: &'a View,
    action: &'a Action,
    /// Per slot of the lens: the node in it; `None` for nil and for what lies beyond nil.
    slots: Vec<Option<u8>>,
    /// Equal for cases whose actions are the same writes in terms of access paths.
    label: usize,
}

/// What is known at a place in the tree.
#[derive(Clone, Default)]
struct Known {
    /// Which reads of the lens have been made.
    reads: Vec<bool>,
    /// The slots that have been filled, in that order.
    slots: Vec<u8>,
}

/// Compiles a table of views and actions, such as a certified network's on all consistent views.
///
/// The tree is exact on the table, and reads no more than it needs: at each place the read that
/// tells most about the action.
///
/// A `checked` tree makes every read of the lens, and ends in [`Branch::Outside`] wherever what it
/// found is in none of the views.
pub(crate) fn build(machine: &Machine, pairs: &[(View, Action)], checked: bool) -> Result<Tree> {
    let signature = machine.signature();
    let mut states = Vec::new();
    for (state, lens) in (0..).zip(machine.lenses()) {
        let declared = &signature.states[usize::from(state)];
        if declared.halt.is_some() {
            states.push(None);
            continue;
        }
        let mut cases: Vec<Case> = pairs
            .iter()
            .filter(|(view, _)| view.state == state)
            .map(|(view, action)| {
                let slots = slots_of(lens, view);
                Case { view, action, slots, label: 0 }
            })
            .collect();
        if cases.is_empty() {
            let name = &declared.name;
            return Err(Error::Tree(format!("there is no view of state `{name}` in the table")));
        }
        let all: Vec<u8> = (0..lens.paths.len() as u8).collect();
        let mut labels = BTreeMap::new();
        for case in &mut cases {
            let label = express(case, &all);
            let next = labels.len();
            case.label = *labels.entry(label).or_insert(next);
        }
        let known = Known { reads: vec![false; lens.reads.len()], slots: Vec::new() };
        let cases: Vec<&Case> = cases.iter().collect();
        let values = |control: u8| signature.controls[usize::from(control)].values.len() as u8;
        let checks = checked.then_some(&values as &dyn Fn(u8) -> u8);
        let branch = grow(lens, &cases, &known, checks).ok_or_else(|| {
            Error::Tree(format!(
                "two views of state `{}` look the same and have different actions",
                declared.name
            ))
        })?;
        states.push(Some(simplify(branch, checked)));
    }
    Ok(Tree { signature: signature.clone(), states })
}

/// What the slots of a lens hold in a view.
fn slots_of(lens: &Lens, view: &View) -> Vec<Option<u8>> {
    let mut slots: Vec<Option<u8>> = Vec::with_capacity(lens.paths.len());
    for &read in &lens.reads {
        let seen = match read {
            Read::Register(register) => view.registers[usize::from(register)],
            Read::Pointer(from, field) => match slots[usize::from(from)] {
                Some(node) => view.pointer(node, usize::from(field)),
                None => Seen::Nil,
            },
            _ => continue,
        };
        slots.push(match seen {
            Seen::Node(node) => Some(node),
            _ => None,
        });
    }
    slots
}

/// The action of a case in terms of known slots, or `None` if it writes to, or writes, a node
/// that none of them holds.
fn express(case: &Case, known: &[u8]) -> Option<(Vec<Effect>, u8)> {
    let action = case.action;
    let slot_of =
        |node: u8| known.iter().copied().find(|&slot| case.slots[usize::from(slot)] == Some(node));
    let target = |write: Write| match write {
        Write::Node(node) => slot_of(node).map(Some),
        _ => Some(None),
    };
    let mut effects = Vec::new();
    let nodes = usize::from(case.view.nodes);
    for node in 0..nodes {
        let row = |len: usize| {
            let stride = len / nodes;
            (0..stride).map(move |index| (index as u8, node * stride + index))
        };
        for (field, index) in row(action.pointers.len()) {
            if action.pointers[index] != Write::Keep {
                let to = target(action.pointers[index])?;
                effects.push(Effect::Pointer { slot: slot_of(node as u8)?, field, to });
            }
        }
        for (bit, index) in row(action.toggles.len()) {
            if action.toggles[index] {
                effects.push(Effect::Toggle { slot: slot_of(node as u8)?, bit });
            }
        }
        for (mark, index) in row(action.marks.len()) {
            if action.marks[index] {
                effects.push(Effect::Mark { slot: slot_of(node as u8)?, mark });
            }
        }
    }
    for (register, &write) in (0..).zip(&action.registers) {
        if write != Write::Keep {
            effects.push(Effect::Register { register, to: target(write)? });
        }
    }
    for (control, &value) in (0..).zip(&action.controls) {
        effects.extend(value.map(|value| Effect::Control { control, value }));
    }
    effects.sort_unstable();
    Some((effects, action.next))
}

/// The tree for cases that agree in all that is known; `None` if they cannot be told apart.
///
/// Of all reads, the one with which the tree becomes cheapest if what follows is chosen by
/// [`cost`]'s rule. With `checks` (how many values a control has) all reads are made.
fn grow(
    lens: &Lens,
    cases: &[&Case],
    known: &Known,
    checks: Option<&dyn Fn(u8) -> u8>,
) -> Option<Branch> {
    let leaf = settled(cases, known);
    let mut best: Option<(f64, usize, Groups)> = None;
    for index in 0..lens.reads.len() {
        if leaf.is_some() && (checks.is_none() || best.is_some()) {
            break;
        }
        let Some(groups) = split(lens, cases, known, index) else { continue };
        let after = known.after(lens, index);
        let price: f64 = groups.values().map(|group| cost(lens, group, &after)).sum();
        if best.as_ref().is_none_or(|(least, ..)| price < least - 1e-9) {
            best = Some((price, index, groups));
        }
    }
    let Some((_, index, groups)) = best else {
        return leaf.map(|(effects, next)| Branch::Act { effects, next });
    };
    let slot = slot_of(lens, index);
    let test = match lens.reads[index] {
        Read::Control(control) => Test::Control { control },
        Read::Register(register) => Test::Register { register, slot },
        Read::Pointer(from, field) => Test::Pointer { from, field, slot },
        Read::Bit(slot, bit) => Test::Bit { slot, bit },
        Read::Less(a, b) => Test::Less { a, b },
    };
    let after = known.after(lens, index);
    let missing =
        checks.map_or(Vec::new(), |values| missing(test, cases[0], known, &groups, values));
    let mut outcomes = Vec::new();
    for (found, group) in groups {
        outcomes.push(Arm { found: vec![found], then: grow(lens, &group, &after, checks)? });
    }
    if !missing.is_empty() {
        outcomes.push(Arm { found: missing, then: Branch::Outside });
    }
    Some(Branch::Read { test, outcomes })
}

/// What a read could find and does in none of the cases.
fn missing(
    test: Test,
    case: &Case,
    known: &Known,
    groups: &Groups,
    values: &dyn Fn(u8) -> u8,
) -> Vec<Found> {
    let possible: Vec<Found> = match test {
        Test::Control { control } => (0..values(control)).map(Found::Value).collect(),
        Test::Bit { .. } | Test::Less { .. } => vec![Found::Truth(true), Found::Truth(false)],
        Test::Register { .. } | Test::Pointer { .. } => {
            // The first slot that holds a node stands for all that do.
            let at = |slot: u8| case.slots[usize::from(slot)];
            let first = |&slot: &u8| {
                known.slots.iter().find(|&&other| at(other) == at(slot)) == Some(&slot)
            };
            let slots = known.slots.iter().copied().filter(|&slot| at(slot).is_some());
            let same = slots.filter(first).map(Found::Same);
            same.chain([Found::Nil, Found::New]).collect()
        }
    };
    possible.into_iter().filter(|found| !groups.contains_key(found)).collect()
}

/// What all cases do, if that can be said and is the same.
fn settled(cases: &[&Case], known: &Known) -> Option<(Vec<Effect>, u8)> {
    // Most differ in their labels already.
    if cases.iter().any(|case| case.label != cases[0].label) && cases.len() > 1 {
        let alike = cases.iter().all(|case| case.action.next == cases[0].action.next);
        if !alike {
            return None;
        }
    }
    let first = express(cases[0], &known.slots)?;
    let same = |case: &&Case| express(case, &known.slots).is_some_and(|other| other == first);
    cases[1..].iter().all(same).then_some(first)
}

/// How many reads the cases take if at each place that read is chosen which tells
/// most about the action. Leaves cost a little too.
fn cost(lens: &Lens, cases: &[&Case], known: &Known) -> f64 {
    if settled(cases, known).is_some() {
        return 0.01;
    }
    let mut best: Option<(f64, usize, Groups)> = None;
    for index in 0..lens.reads.len() {
        let Some(groups) = split(lens, cases, known, index) else { continue };
        let uncertainty: f64 = groups.values().map(|group| entropy(group)).sum();
        if best.as_ref().is_none_or(|(least, ..)| uncertainty < least - 1e-9) {
            best = Some((uncertainty, index, groups));
        }
    }
    let Some((_, index, groups)) = best else { return f64::INFINITY };
    let known = known.after(lens, index);
    cases.len() as f64 + groups.values().map(|group| cost(lens, group, &known)).sum::<f64>()
}

impl Known {
    /// What is known after another read of the lens.
    fn after(&self, lens: &Lens, index: usize) -> Known {
        let mut known = self.clone();
        known.reads[index] = true;
        if fills(lens.reads[index]) {
            known.slots.push(slot_of(lens, index));
        }
        known
    }
}

fn fills(read: Read) -> bool {
    matches!(read, Read::Register(_) | Read::Pointer(..))
}

/// The slot that a read of the lens fills, if it fills one.
fn slot_of(lens: &Lens, index: usize) -> u8 {
    lens.reads[..index].iter().filter(|&&read| fills(read)).count() as u8
}

type Groups<'a> = BTreeMap<Found, Vec<&'a Case<'a>>>;

/// The cases by what a read finds; `None` if it cannot be made here, or was made before.
fn split<'a>(
    lens: &Lens,
    cases: &[&'a Case<'a>],
    known: &Known,
    index: usize,
) -> Option<Groups<'a>> {
    if known.reads[index] {
        return None;
    }
    let read = lens.reads[index];
    let fills = fills(read).then(|| slot_of(lens, index));
    let node = |slot: u8| {
        // All cases agree on whether a slot that has been read is nil.
        let read = known.slots.contains(&slot);
        cases[0].slots[usize::from(slot)].filter(|_| read)
    };
    match read {
        Read::Control(_) | Read::Register(_) => {}
        Read::Pointer(slot, _) | Read::Bit(slot, _) => {
            node(slot)?;
        }
        Read::Less(a, b) => {
            if node(a)? == node(b)? {
                return None;
            }
        }
    }
    let mut groups = Groups::new();
    for &case in cases {
        let at = |slot: u8| case.slots[usize::from(slot)];
        let found = match (read, fills) {
            (_, Some(slot)) => match at(slot) {
                None => Found::Nil,
                node => match known.slots.iter().find(|&&slot| at(slot) == node) {
                    Some(&same) => Found::Same(same),
                    None => Found::New,
                },
            },
            (Read::Control(control), _) => Found::Value(case.view.controls[usize::from(control)]?),
            (Read::Bit(slot, bit), _) => Found::Truth(case.view.bit(at(slot)?, usize::from(bit))?),
            (Read::Less(a, b), _) => Found::Truth(case.view.less(at(a)?, at(b)?)?),
            _ => return None,
        };
        groups.entry(found).or_default().push(case);
    }
    Some(groups)
}

/// Size times entropy of the actions of a group.
fn entropy(group: &[&Case]) -> f64 {
    let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
    for case in group {
        *counts.entry(case.label).or_default() += 1.0;
    }
    let total: f64 = counts.values().sum();
    counts.values().map(|&count| -count * (count / total).ln()).sum()
}

/// Joins outcomes with the same consequences, and leaves out reads that nothing depends on. In a
/// `checked` tree no outcome stands for another, for each is tested.
fn simplify(branch: Branch, checked: bool) -> Branch {
    let Branch::Read { test, outcomes } = branch else { return branch };
    let mut joined: Vec<Arm> = Vec::new();
    for Arm { found, then } in outcomes {
        let then = simplify(then, checked);
        match joined.iter_mut().find(|outcome| outcome.then == then) {
            Some(outcome) => outcome.found.extend(found),
            None => joined.push(Arm { found, then }),
        }
    }
    let slot = match test {
        Test::Register { slot, .. } | Test::Pointer { slot, .. } => Some(slot),
        _ => None,
    };
    if let Some(slot) = slot.filter(|_| !checked) {
        generalise(&mut joined, slot);
    }
    if joined.len() == 1 && slot.is_none_or(|slot| !joined[0].then.uses(slot)) {
        return joined.remove(0).then;
    }
    // What is hardest to test for comes last, where no test is needed.
    let untested = [Found::New, Found::Truth(false)];
    joined.sort_by_key(|outcome| {
        (outcome.found.iter().any(|found| untested.contains(found)), outcome.found.len())
    });
    Branch::Read { test, outcomes: joined }
}

/// Lets what follows a new node stand for the other outcomes too, where it does the same with
/// what was found, be it nil or a node seen before.
fn generalise(outcomes: &mut Vec<Arm>, slot: u8) {
    let Some(index) = outcomes.iter().position(|o| o.found.contains(&Found::New)) else { return };
    let mut general = outcomes.remove(index);
    outcomes.retain(|outcome| {
        let covered = outcome.found.iter().all(|&found| match found {
            Found::Nil => general.then.covers(&outcome.then, slot, None),
            Found::Same(same) => general.then.covers(&outcome.then, slot, Some(same)),
            _ => false,
        });
        if covered {
            general.found.extend(&outcome.found);
        }
        !covered
    });
    outcomes.push(general);
}
