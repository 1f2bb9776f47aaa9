//! Which slots have to be kept from one state to the next, and in which registers.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    blocks::{Edge, NEW, RESULT, Target},
    trees::{Next, PER_STATE, Slot},
};
use crate::Signature;

/// Slots that each state reads, or one after it does before they are written again.
pub(super) fn live(edges: &[Edge]) -> BTreeMap<usize, BTreeSet<Slot>> {
    let mut live: BTreeMap<usize, BTreeSet<Slot>> = BTreeMap::new();
    loop {
        let mut grown = false;
        for edge in edges.iter().rev() {
            let before = |slot| edge.moves.get(&slot).copied().unwrap_or(Some(slot));
            let after = live_into(&live, &edge.to).into_iter().filter_map(before);
            let needed: Vec<Slot> = after.filter(|&from| from < NEW).collect();
            let here = live.entry(edge.from).or_default();
            let count = here.len();
            here.extend(needed.into_iter().chain(edge.needs.iter().copied()));
            grown |= here.len() > count;
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
    is_flag: &dyn Fn(&Slot) -> bool,
) -> BTreeMap<Slot, usize> {
    let mut apart: BTreeSet<(Slot, Slot)> = BTreeSet::new();
    let mut all: BTreeSet<Slot> =
        live.values().flatten().filter(|slot| !is_flag(slot)).copied().collect();
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
        let mut after = live_into(live, &edge.to);
        after.retain(|slot| !is_flag(slot));
        all.extend(after.iter().copied());
        let source = |slot: Slot| edge.moves.get(&slot).copied().unwrap_or(Some(slot));
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
