//! Which slots have to be kept from one state to the next, and in which registers.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    automaton::Automaton,
    trees::{FOUND, Next, PER_STATE, Slot, Test, Tree, Trees, arity},
};
use crate::Signature;

/// A slot that is given to what comes next, from a slot or nil.
pub(super) type Move = (Slot, Option<Slot>);

/// A leaf of a tree, as an edge: what comes next, and what it is given.
pub(super) struct Edge {
    pub from: usize,
    pub to: Target,
    pub moves: Vec<Move>,
}

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Target {
    State(usize),
    Halt(Next),
}

/// The slot that an operation which answers with a node leaves it in.
pub(super) const RESULT: Slot = Slot::MAX;

/// The edges of every tree, leaf by leaf.
pub(super) fn edges(trees: &Trees) -> Vec<Edge> {
    fn walk(from: usize, tree: &Tree, into: &mut Vec<Edge>) {
        match tree {
            Tree::If(_, yes, no) => [yes, no].into_iter().for_each(|side| walk(from, side, into)),
            Tree::Do(Next::State(to), sources, writes) => {
                let own = sources.iter().enumerate();
                let moves = own.map(|(place, &from)| (to * PER_STATE + place, from));
                let moves = moves.chain(writes.iter().copied()).collect();
                into.push(Edge { from, to: Target::State(*to), moves });
            }
            Tree::Do(next, sources, _) => {
                let moves = sources.iter().map(|&from| (RESULT, from)).collect();
                into.push(Edge { from, to: Target::Halt(next.clone()), moves });
            }
            Tree::Write(_, _, then) => walk(from, then, into),
        }
    }
    let mut into = Vec::new();
    trees.0.iter().for_each(|(&state, tree)| walk(state, tree, &mut into));
    into
}

/// Slots that each state reads, or one after it does before they are written again.
pub(super) fn live(
    all: &Automaton,
    trees: &Trees,
    edges: &[Edge],
) -> BTreeMap<usize, BTreeSet<Slot>> {
    fn tested(tree: &Tree, into: &mut BTreeSet<Slot>) {
        match tree {
            Tree::If(test, yes, no) => {
                match *test {
                    Test::Nil(slot) | Test::True(slot) => into.extend([slot]),
                    Test::Same(a, b) => into.extend([a, b]),
                }
                [yes, no].into_iter().for_each(|side| tested(side, into));
            }
            Tree::Write(_, nodes, then) => {
                into.extend(nodes.iter().flatten());
                tested(then, into);
            }
            Tree::Do(..) => {}
        }
    }
    let mut live: BTreeMap<usize, BTreeSet<Slot>> = BTreeMap::new();
    for (&state, tree) in &trees.0 {
        let here = live.entry(state).or_default();
        here.extend((0..all.access(state).map_or(0, arity)).map(|place| state * PER_STATE + place));
        tested(tree, here);
        // What a state finds does not come from before it.
        if all.access(state).is_some() {
            here.remove(&(state * PER_STATE + FOUND));
        }
    }
    loop {
        let mut grown = false;
        for edge in edges.iter().rev() {
            let mut needed = live_into(&live, &edge.to);
            let sources: Vec<Slot> = edge
                .moves
                .iter()
                .filter_map(|(to, from)| needed.remove(to).then_some(*from).flatten())
                .collect();
            needed.extend(sources);
            let found = edge.from * PER_STATE + FOUND;
            if all.access(edge.from).is_some() {
                needed.remove(&found);
            }
            let here = live.entry(edge.from).or_default();
            let before = here.len();
            here.extend(needed);
            grown |= here.len() > before;
        }
        if !grown {
            return live;
        }
    }
}

/// Slots that are needed there.
pub(super) fn live_into(live: &BTreeMap<usize, BTreeSet<Slot>>, to: &Target) -> BTreeSet<Slot> {
    match to {
        Target::State(state) => live.get(state).cloned().unwrap_or_default(),
        Target::Halt(Next::Node) => BTreeSet::from([RESULT]),
        Target::Halt(_) => BTreeSet::new(),
    }
}

/// A register for every slot that is live somewhere.
pub(super) fn allocate(
    outline: &Signature,
    edges: &[Edge],
    live: &BTreeMap<usize, BTreeSet<Slot>>,
    arguments: &[Slot],
) -> BTreeMap<Slot, usize> {
    let mut apart: BTreeSet<(Slot, Slot)> = BTreeSet::new();
    let mut all: BTreeSet<Slot> = live.values().flatten().copied().collect();
    for (start, operation) in outline.operations.iter().enumerate() {
        let slots: Vec<Slot> =
            (0..operation.arguments.len()).map(|place| start * PER_STATE + place).collect();
        all.extend(slots.iter().copied());
        for &a in &slots {
            apart.extend(slots.iter().filter(|&&b| a != b).map(|&b| (a, b)));
        }
    }
    let mut moves: BTreeMap<(Slot, Slot), usize> = BTreeMap::new();
    for edge in edges {
        let after = live_into(live, &edge.to);
        all.extend(after.iter().copied());
        let source = |slot: Slot| {
            let moved = edge.moves.iter().find(|(to, _)| *to == slot);
            moved.map_or(Some(slot), |(_, from)| *from)
        };
        for &a in &after {
            for &b in after.iter().filter(|&&b| b != a) {
                // The same node at this point, and so no reason to have two registers.
                if source(a).is_none() || source(a) != source(b) {
                    apart.insert((a, b));
                }
            }
            if let Some(from) = source(a).filter(|&from| from != a) {
                *moves.entry((a, from)).or_default() += 1;
            }
        }
    }
    // Slots joined by moves share a register where nothing keeps them apart.
    let mut class: BTreeMap<Slot, usize> = BTreeMap::new();
    let mut members: Vec<Vec<Slot>> = Vec::new();
    for slot in arguments.iter().copied().chain(all) {
        if let std::collections::btree_map::Entry::Vacant(entry) = class.entry(slot) {
            entry.insert(members.len());
            members.push(vec![slot]);
        }
    }
    let mut moves: Vec<_> = moves.into_iter().collect();
    moves.sort_by_key(|&(pair, times)| (std::cmp::Reverse(times), pair));
    let collide =
        |a: &[Slot], b: &[Slot]| a.iter().any(|&a| b.iter().any(|&b| apart.contains(&(a, b))));
    for ((to, from), _) in moves {
        let (Some(&a), Some(&b)) = (class.get(&to), class.get(&from)) else { continue };
        let (a, b) = (a.min(b), a.max(b));
        if a != b && !collide(&members[a], &members[b]) {
            let moved = std::mem::take(&mut members[b]);
            moved.iter().for_each(|&slot| {
                class.insert(slot, a);
            });
            members[a].extend(moved);
        }
    }
    let mut registers: Vec<Vec<Slot>> = Vec::new();
    let mut number = BTreeMap::new();
    for slots in members.into_iter().filter(|slots| !slots.is_empty()) {
        let free = registers.iter().position(|taken| !collide(taken, &slots));
        let place = free.unwrap_or_else(|| {
            registers.push(Vec::new());
            registers.len() - 1
        });
        slots.iter().for_each(|&slot| {
            number.insert(slot, place);
        });
        registers[place].extend(slots);
    }
    number
}
