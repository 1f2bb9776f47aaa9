//! Which states become states of the program, and what happens between them.
//!
//! A micro-step is made of all that happens from one state that is kept to the next. One state of
//! every loop is kept, and as many more as it takes for no step to read too much.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    automaton::Automaton,
    trees::{FOUND, Next, PER_STATE, Slot, Test, Tree, Trees, arity, is_write},
};

/// More paths through a step than these are split.
const PATHS: usize = 100;

/// What is found in a step is numbered from here on; other numbers are slots before it. Where words
/// have 32 bits, as in WebAssembly, there is less room for both.
pub(super) const NEW: Slot = 1 << (Slot::BITS / 2);

/// The slot that an operation which answers with a node leaves it in.
pub(super) const RESULT: Slot = NEW - 1;

/// A path through a step.
#[derive(Clone)]
pub(super) struct Edge {
    pub from: usize,
    pub to: Target,
    /// Slots that are written on the way; from a slot before the step, what is found, or nil.
    pub moves: BTreeMap<Slot, Option<Slot>>,
    /// Slots before the step that are looked at.
    pub needs: BTreeSet<Slot>,
}

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Target {
    State(usize),
    Halt(Next),
}

/// The states that are kept, and all paths from one to the next.
pub(super) struct Blocks {
    pub inside: BTreeSet<usize>,
    pub edges: Vec<Edge>,
}

impl Blocks {
    /// Keeps as few states as possible with at most so many reads in a step.
    pub fn of(all: &Automaton, trees: &Trees, reads: usize) -> Blocks {
        let mut inside = BTreeSet::new();
        let is_read = |state: &usize| !is_write(all.access(*state));
        let states = trees.0.keys().rev().filter(|&&state| all.access(state).is_some());
        let (reading, writing): (Vec<usize>, Vec<usize>) = states.partition(|state| is_read(state));
        for state in writing.into_iter().chain(reading) {
            inside.insert(state);
            let fits = |from: &usize| {
                let met = reached(trees, &inside, *from);
                let count = met.iter().chain([from]).filter(|one| is_read(one)).count();
                !met.contains(from) && count <= reads.max(1)
            };
            let kept = trees.0.keys().filter(|one| !inside.contains(one));
            let fits = !reached(trees, &inside, state).contains(&state)
                && kept.into_iter().all(|one| {
                    !reached(trees, &inside, *one).contains(&state) || fits(one) || !is_read(&state)
                })
                && paths(all, trees, &inside).is_some();
            if !fits {
                inside.remove(&state);
            }
        }
        let edges = paths(all, trees, &inside).unwrap_or_default();
        Blocks { inside, edges }
    }
}

/// The states inside a step that starts here.
fn reached(trees: &Trees, inside: &BTreeSet<usize>, from: usize) -> BTreeSet<usize> {
    let (mut met, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(tree) = open.pop().and_then(|state| trees.0.get(&state)) {
        let mut next = BTreeSet::new();
        tree.following(&mut next);
        next.retain(|next| inside.contains(next) && met.insert(*next));
        open.extend(next);
    }
    met
}

/// All paths; none if there are too many from one state.
fn paths(all: &Automaton, trees: &Trees, inside: &BTreeSet<usize>) -> Option<Vec<Edge>> {
    let mut edges = Vec::new();
    for &from in trees.0.keys().filter(|state| !inside.contains(state)) {
        let here = edges.len();
        let start = Edge {
            from,
            to: Target::State(from),
            moves: BTreeMap::new(),
            needs: (0..all.access(from).map_or(0, arity)).map(|n| from * PER_STATE + n).collect(),
        };
        let mut walk = Walk { all, trees, inside, edges: &mut edges, most: here + PATHS };
        walk.enter(from, start)?;
    }
    Some(edges)
}

struct Walk<'w> {
    all: &'w Automaton,
    trees: &'w Trees,
    inside: &'w BTreeSet<usize>,
    edges: &'w mut Vec<Edge>,
    most: usize,
}

impl Walk<'_> {
    fn enter(&mut self, state: usize, mut edge: Edge) -> Option<()> {
        let found = state * PER_STATE + FOUND;
        if self.all.access(state).is_some_and(|access| !is_write(Some(access))) {
            edge.moves.insert(found, Some(NEW + found));
        }
        self.go(self.trees.0.get(&state)?, edge)
    }

    fn go(&mut self, tree: &Tree, mut edge: Edge) -> Option<()> {
        match tree {
            Tree::If(test, yes, no) => {
                let sides = match *test {
                    Test::Nil(slot) | Test::True(slot) => match edge.source(slot) {
                        None => [true, false],
                        Some(_) => [true, true],
                    },
                    Test::Same(a, b) => match (edge.source(a), edge.source(b)) {
                        (Some(_), Some(_)) => [true, true],
                        _ => [false, true],
                    },
                    Test::From(..) => [true, true],
                };
                if sides[0] {
                    self.go(yes, edge.clone())?;
                }
                if sides[1] { self.go(no, edge) } else { Some(()) }
            }
            Tree::Do(next, nodes, calls) => {
                let nodes: Vec<_> =
                    nodes.iter().map(|&node| node.and_then(|node| edge.source(node))).collect();
                for (to, from) in self.all.saves(calls) {
                    let from = edge.moves.get(&from).copied().unwrap_or(Some(from));
                    edge.moves.insert(to, from);
                }
                for &(function, _) in calls {
                    let entry = (0..).map(|place| self.all.entry(function, place));
                    edge.moves.extend(entry.zip(nodes.iter().copied()));
                }
                let own = |state: usize| (0..).map(move |place| state * PER_STATE + place);
                match next {
                    Next::State(state) => {
                        edge.moves.extend(own(*state).zip(nodes));
                        if self.inside.contains(state) {
                            return self.enter(*state, edge);
                        }
                        edge.to = Target::State(*state);
                    }
                    halt => {
                        edge.moves.extend(nodes.into_iter().map(|node| (RESULT, node)));
                        edge.to = Target::Halt(halt.clone());
                    }
                }
                self.edges.push(edge);
                (self.edges.len() <= self.most).then_some(())
            }
        }
    }
}

impl Edge {
    /// Where the value of a slot comes from at this point, which is then needed.
    fn source(&mut self, slot: Slot) -> Option<Slot> {
        let from = self.moves.get(&slot).copied().unwrap_or(Some(slot));
        self.needs.extend(from.filter(|&from| from < NEW));
        from
    }
}
