//! What a state does next, as a decision tree over what the code has found and been given.
//!
//! A *slot* is a local variable: the first or second node of the last access at a state, or what it
//! found there. Slots of a state in which an operation starts are its arguments. A tree tests slots
//! that have a value whenever its state is reached.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{
    Access, Found,
    automaton::{Automaton, Call},
    trace::Trace,
};
use crate::Outcome;

/// Slots per state: two nodes and what was found.
pub(super) const PER_STATE: usize = 3;
/// The slot of what was found.
pub(super) const FOUND: usize = 2;

/// Number `PER_STATE * state + slot`.
pub(super) type Slot = usize;

const UNDEFINED: i32 = -3;
const NIL: i32 = -2;

/// A question with the answer yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// Is it nil?
    Nil(Slot),
    /// Is it true?
    True(Slot),
    /// Are they the same node?
    Same(Slot, Slot),
    /// Was this function called from this place?
    From(usize, u8),
}

/// What happens next.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Next {
    /// The access that this state is just after.
    State(usize),
    /// The end of the operation.
    Done,
    Answer(bool),
    Node,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tree {
    /// The test, where it is true, and where it is not.
    If(Test, Box<Tree>, Box<Tree>),
    /// What comes next, on which nodes (a slot, or nil), and functions with where they are called.
    Do(Next, Vec<Option<Slot>>, Vec<Call>),
}

/// The tree of each state that was looked at.
#[derive(Clone, Debug)]
pub(super) struct Trees(pub BTreeMap<usize, Tree>);

impl Trees {
    /// Twice the leaves, and the tests.
    pub fn cost(&self) -> usize {
        self.0.values().map(|tree| 2 * tree.leaves() + tree.leaves() - 1).sum()
    }
}

impl Tree {
    /// The states that it leads to.
    pub fn following(&self, into: &mut BTreeSet<usize>) {
        match self {
            Tree::If(_, yes, no) => [yes, no].into_iter().for_each(|side| side.following(into)),
            Tree::Do(Next::State(state), ..) => into.extend([*state]),
            Tree::Do(..) => {}
        }
    }

    fn leaves(&self) -> usize {
        match self {
            Tree::If(_, yes, no) => yes.leaves() + no.leaves(),
            Tree::Do(..) => 1,
        }
    }
}

pub(super) fn is_write(access: Option<Access>) -> bool {
    matches!(access, Some(Access::Store(_) | Access::Toggle(_)))
}

/// All that was seen in one state: the slots, what came next and on which nodes.
#[derive(Default)]
struct Rows {
    slots: Vec<Vec<i32>>,
    next: Vec<Next>,
    nodes: Vec<Vec<i32>>,
    /// Where each function was called last, and those that are entered next.
    calls: Vec<Vec<u8>>,
    entered: Vec<Vec<Call>>,
    /// How long ago each slot was written, summed.
    ages: Vec<u64>,
}

/// Fits trees of `states`, or all; none if one cannot be explained.
pub(super) fn fit(
    all: &Automaton,
    traces: &[Trace],
    told: bool,
    states: Option<&[usize]>,
) -> Option<Trees> {
    let mut rows: BTreeMap<usize, Rows> = BTreeMap::new();
    let mut known: HashSet<u64> = HashSet::new();
    let value = |node: Option<u32>| node.map_or(NIL, |node| node as i32);
    for trace in traces {
        let path = all.path(trace, told);
        let mut slots = vec![UNDEFINED; all.origins.len()];
        let mut written = vec![0; slots.len()];
        for (place, &node) in trace.arguments.iter().enumerate() {
            slots[trace.operation * PER_STATE + place] = node as i32;
        }
        let mut calls = vec![0; all.functions.len()];
        let mut state = trace.operation;
        let following = path.iter().map(|&state| Some(state)).chain([None]);
        for (time, after) in following.enumerate() {
            let (next, nodes) = match trace.events.get(time) {
                Some(event) => {
                    let count = arity(event.access);
                    let nodes = event.nodes[..count].iter().map(|&node| value(node)).collect();
                    (Next::State(after.unwrap_or(state)), nodes)
                }
                None => match trace.outcome {
                    Outcome::Answer(answer) => (Next::Answer(answer), vec![]),
                    Outcome::Node(node) => (Next::Node, vec![value(node)]),
                    _ => (Next::Done, vec![]),
                },
            };
            let before = time.checked_sub(1).map(|before| &trace.events[before]);
            let event = trace.events.get(time);
            let entered = event.map_or(vec![], |event| all.entered(before, event));
            if states.is_none_or(|states| states.contains(&state)) {
                let mut row = DefaultHasher::new();
                (state, &slots, &next, &nodes, &calls, &entered).hash(&mut row);
                let here = rows.entry(state).or_default();
                if known.insert(row.finish()) {
                    here.ages.resize(slots.len(), 0);
                    let ages = here.ages.iter_mut().zip(&written);
                    ages.zip(&slots).for_each(|((age, written), &slot)| {
                        *age += if slot == UNDEFINED { 1000 } else { (time - written) as u64 };
                    });
                    here.slots.push(slots.clone());
                    here.next.push(next);
                    here.nodes.push(nodes);
                    here.calls.push(calls.clone());
                    here.entered.push(entered.clone());
                }
            }
            let (Some(event), Some(after)) = (trace.events.get(time), after) else { break };
            state = after;
            for (to, from) in all.saves(&entered) {
                (slots[to], written[to]) = (slots[from], written[from]);
            }
            for (function, place) in entered {
                calls[function] = place;
                for (at, &node) in event.nodes[..arity(event.access)].iter().enumerate() {
                    let slot = all.entry(function, at);
                    (slots[slot], written[slot]) = (value(node), time + 1);
                }
            }
            let found = match event.found {
                Found::Nothing => None,
                Found::Pointer(node) => Some(value(node)),
                Found::Flag(flag) => Some(i32::from(flag)),
            };
            let values = event.nodes[..arity(event.access)].iter().map(|&node| Some(value(node)));
            let values = values.chain([None; 2]).take(2).chain([found]);
            for (slot, value) in values.enumerate().filter_map(|(slot, v)| Some((slot, v?))) {
                slots[state * PER_STATE + slot] = value;
                written[state * PER_STATE + slot] = time + 1;
            }
        }
    }
    let tree = |(state, rows): (usize, Rows)| Some((state, Grower::new(all, state, &rows).grow()?));
    rows.into_iter().map(tree).collect::<Option<_>>().map(Trees)
}

/// How many nodes an access is given.
pub(super) fn arity(access: Access) -> usize {
    match access {
        Access::Load(_) | Access::Bit(_) | Access::Toggle(_) => 1,
        Access::Store(_) | Access::Less => 2,
    }
}

struct Grower<'a> {
    rows: &'a Rows,
    /// Slots with a value in some row, the youngest first.
    slots: Vec<Slot>,
    flags: Vec<bool>,
    /// What comes next, numbered.
    classes: Vec<usize>,
    tests: Vec<Test>,
}

/// More slots than these are not compared with each other.
const COMPARED: usize = 24;

/// A tree is at most so deep.
const DEPTH: usize = 12;

impl<'a> Grower<'a> {
    fn new(all: &Automaton, state: usize, rows: &'a Rows) -> Self {
        let count = rows.ages.len();
        let flags: Vec<bool> = (0..count).map(|slot| all.is_flag(slot)).collect();
        let mut slots: Vec<Slot> = (0..count)
            .filter(|&slot| rows.slots.iter().any(|row| row[slot] != UNDEFINED))
            .collect();
        slots.sort_by_key(|&slot| {
            (rows.ages[slot], slot / PER_STATE != state, slot % PER_STATE != FOUND, slot)
        });
        // Of those that always hold the same, the youngest is enough.
        let mut known = BTreeSet::new();
        slots.retain(|&slot| {
            let values: Vec<i32> = rows.slots.iter().map(|row| row[slot]).collect();
            known.insert((flags[slot], values))
        });
        let mut numbers = HashMap::new();
        let classes = rows.next.iter().zip(&rows.entered).map(|class| {
            let fresh = numbers.len();
            *numbers.entry(class).or_insert(fresh)
        });
        let classes = classes.collect();
        let mut tests = Vec::new();
        for (place, &slot) in slots.iter().take(COMPARED).enumerate() {
            if flags[slot] {
                tests.push(Test::True(slot));
                continue;
            }
            tests.push(Test::Nil(slot));
            let others = slots[..place].iter().filter(|&&other| !flags[other]);
            tests.extend(others.map(|&other| Test::Same(other, slot)));
        }
        // Code mostly tests what it has just found.
        let own = state * PER_STATE + FOUND;
        tests.sort_by_key(|test| match *test {
            Test::Nil(one) | Test::True(one) => one != own,
            Test::Same(a, b) => a != own && b != own,
            Test::From(..) => true,
        });
        for (function, (_, places)) in all.functions.iter().take(all.controls()).enumerate() {
            tests.extend((0..places.len()).map(|place| Test::From(function, place as u8)));
        }
        Grower { rows, slots, flags, classes, tests }
    }

    fn grow(&self) -> Option<Tree> {
        self.grow_on(&(0..self.classes.len()).collect::<Vec<_>>(), DEPTH)
    }

    /// Whether a test is true; none if it is about a slot without a value.
    fn holds(&self, test: Test, at: usize) -> Option<bool> {
        let row = &self.rows.slots[at];
        let value = |slot: Slot| Some(row[slot]).filter(|&value| value != UNDEFINED);
        Some(match test {
            Test::Nil(slot) => value(slot)? == NIL,
            Test::True(slot) => value(slot)? == 1,
            Test::Same(a, b) => value(a)? == value(b)? && row[a] != NIL,
            Test::From(function, place) => self.rows.calls[at][function] == place,
        })
    }

    fn leaf(&self, rows: &[usize]) -> Option<Tree> {
        let first = *rows.first()?;
        if rows.iter().any(|&row| self.classes[row] != self.classes[first]) {
            return None;
        }
        let sources = (0..self.rows.nodes[first].len()).map(|place| {
            let wanted = |row: usize| self.rows.nodes[row][place];
            if rows.iter().all(|&row| wanted(row) == NIL) {
                return Some(None);
            }
            let fits = |slot: &&Slot| {
                !self.flags[**slot]
                    && rows.iter().all(|&row| self.rows.slots[row][**slot] == wanted(row))
            };
            self.slots.iter().find(fits).map(|slot| Some(*slot))
        });
        let sources = sources.collect::<Option<Vec<_>>>()?;
        let calls = self.rows.entered[first].clone();
        Some(Tree::Do(self.rows.next[first].clone(), sources, calls))
    }

    /// How mixed these rows are: their entropy, and more where one access is left unexplained.
    fn impurity(&self, rows: &[usize]) -> f64 {
        let mut counts: HashMap<usize, f64> = HashMap::new();
        rows.iter().for_each(|&row| *counts.entry(self.classes[row]).or_default() += 1.0);
        let total = rows.len() as f64;
        if counts.len() == 1 {
            return if self.leaf(rows).is_some() { 0.0 } else { 0.5 * total };
        }
        let mut counts: Vec<f64> = counts.into_values().collect();
        counts.sort_unstable_by(f64::total_cmp);
        counts.iter().map(|count| -count * (count / total).ln()).sum()
    }

    fn split(&self, rows: &[usize], test: Test) -> Option<[Vec<usize>; 2]> {
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        for &row in rows {
            if self.holds(test, row)? { &mut yes } else { &mut no }.push(row);
        }
        (!yes.is_empty() && !no.is_empty()).then_some([yes, no])
    }

    /// The best single test, and how mixed both sides are.
    fn best(&self, rows: &[usize]) -> Option<(f64, Test)> {
        let mut best: Option<(f64, Test)> = None;
        for &test in &self.tests {
            let Some([yes, no]) = self.split(rows, test) else { continue };
            let mixed = self.impurity(&yes) + self.impurity(&no);
            if best.is_none_or(|(least, _)| mixed < least - 1e-9) {
                best = Some((mixed, test));
            }
            if mixed == 0.0 {
                break;
            }
        }
        best
    }

    fn grow_on(&self, rows: &[usize], depth: usize) -> Option<Tree> {
        if let Some(leaf) = self.leaf(rows) {
            return Some(leaf);
        }
        let (mixed, mut test) = self.best(rows).filter(|_| depth > 0)?;
        // Two tests that only help together, such as "both or neither".
        if mixed > 0.7 * self.impurity(rows) && depth > 1 {
            let mut least = f64::INFINITY;
            for &one in &self.tests {
                let Some(sides) = self.split(rows, one) else { continue };
                let after = |side: &Vec<usize>| {
                    let now = self.impurity(side);
                    if now == 0.0 { 0.0 } else { self.best(side).map_or(now, |(mixed, _)| mixed) }
                };
                let mixed: f64 = sides.iter().map(after).sum();
                if mixed < least - 1e-9 {
                    (least, test) = (mixed, one);
                }
                if least == 0.0 {
                    break;
                }
            }
        }
        let [yes, no] = self.split(rows, test)?;
        let [yes, no] = [self.grow_on(&yes, depth - 1)?, self.grow_on(&no, depth - 1)?];
        Some(if yes == no { yes } else { Tree::If(test, yes.into(), no.into()) })
    }
}
