//! Which program points there are: nodes of the tree of all traces, merged into states.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    Access, Event, Found,
    trace::Trace,
    trees::{FOUND, PER_STATE, Slot, Trees, fit},
};

/// What leads from a state to the next: an access. If program points are told, it is made at one;
/// if not, what the state before it found tells some of them apart.
type Step = (u64, Access);

/// States of traces. State o is where operation o starts; every other one is "just after" an
/// access, which is the same for all that was merged into it.
#[derive(Clone, Debug)]
pub(super) struct Automaton {
    /// The state each node of the tree was merged into, itself unless merged.
    parent: Vec<usize>,
    steps: Vec<HashMap<Step, usize>>,
    access: Vec<Option<Access>>,
    /// Functions with the places where they are called. If there are several, they are a field of
    /// the controller, which says where to go on afterwards; these functions come first.
    pub functions: Vec<(String, Vec<String>)>,
    /// Slots that are kept when a function is called from a place, with those that they are copies
    /// of: what it, or what it calls, found before.
    pub saved: BTreeMap<Call, Vec<(Slot, Slot)>>,
    /// The slot that each slot is a copy of, or is.
    pub origins: Vec<Slot>,
}

/// A function, and the place where it is called.
pub(super) type Call = (usize, u8);

impl Automaton {
    /// The tree of all traces: two are at the same node if they made the same accesses so far.
    /// With program points told, all that is just after one of them is one state.
    pub fn of(traces: &[Trace], operations: usize, told: bool) -> Automaton {
        let mut all = Automaton {
            parent: (0..operations).collect(),
            steps: vec![HashMap::new(); operations],
            access: vec![None; operations],
            functions: if told { functions(traces) } else { Vec::new() },
            saved: BTreeMap::new(),
            origins: Vec::new(),
        };
        let mut within: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); all.functions.len()];
        let mut points: HashMap<Step, usize> = HashMap::new();
        for trace in traces {
            let mut state = trace.operation;
            for (step, event) in steps(trace, told).zip(&trace.events) {
                state = match all.steps[state].get(&step) {
                    Some(&next) => next,
                    None => {
                        let known = points.get(&step).copied().filter(|_| told);
                        let next = known.unwrap_or_else(|| all.add(event.access));
                        points.insert(step, next);
                        all.steps[state].insert(step, next);
                        next
                    }
                };
                for (function, states) in within.iter_mut().enumerate() {
                    if event.calls.iter().any(|call| call.0 == all.functions[function].0) {
                        states.insert(state);
                    }
                }
            }
        }
        all.origins = (0..all.len() * PER_STATE).collect();
        // The nodes of the first access in a function stand for its arguments.
        all.origins.resize(all.entry(all.functions.len(), 0), 0);
        for (function, states) in within.into_iter().take(all.controls()).enumerate() {
            let slots: Vec<Slot> =
                states.iter().flat_map(|one| one * PER_STATE..(one + 1) * PER_STATE).collect();
            for place in 0..all.functions[function].1.len() {
                let copies = slots.iter().zip(all.origins.len()..).map(|(&from, to)| (to, from));
                all.saved.insert((function, place as u8), copies.collect());
                all.origins.extend(&slots);
            }
        }
        all
    }

    fn add(&mut self, access: Access) -> usize {
        self.parent.push(self.parent.len());
        self.steps.push(HashMap::new());
        self.access.push(Some(access));
        self.parent.len() - 1
    }

    /// How many nodes there are, merged ones included.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// The access that a state is just after; none where an operation starts.
    pub fn access(&self, state: usize) -> Option<Access> {
        self.access[state]
    }

    /// How many functions are called from several places.
    pub fn controls(&self) -> usize {
        self.functions.iter().filter(|one| one.1.len() > 1).count()
    }

    /// The slot of the first or second node of the first access in a function.
    pub fn entry(&self, function: usize, place: usize) -> Slot {
        self.len() * PER_STATE + 2 * function + place
    }

    /// Whether a slot holds the outcome of a test.
    pub fn is_flag(&self, slot: Slot) -> bool {
        let origin = self.origins.get(slot).copied().unwrap_or(0);
        let access = self.access(origin / PER_STATE);
        origin % PER_STATE == FOUND && matches!(access, Some(Access::Bit(_) | Access::Less))
    }

    /// The slots that are copied when a function is entered, with those that they are copies of.
    pub fn saves(&self, calls: &[Call]) -> impl Iterator<Item = (Slot, Slot)> {
        calls.iter().filter_map(|call| self.saved.get(call)).flatten().copied()
    }

    /// The functions that are entered from one access to the next, and where they are called.
    pub fn entered(&self, before: Option<&Event>, event: &Event) -> Vec<Call> {
        let before = before.map_or(&[][..], |event| &event.calls);
        let same = event.calls.iter().zip(before).take_while(|(a, b)| a == b).count();
        let number = |call: &(String, String)| {
            let function = self.functions.iter().position(|one| one.0 == call.0)?;
            let place = self.functions[function].1.binary_search(&call.1).ok()?;
            Some((function, place as u8))
        };
        event.calls[same..].iter().filter_map(number).collect()
    }

    fn find(&self, mut state: usize) -> usize {
        while self.parent[state] != state {
            state = self.parent[state];
        }
        state
    }

    /// The states a trace goes through, after each of its accesses.
    pub fn path(&self, trace: &Trace, told: bool) -> Vec<usize> {
        let mut state = self.find(trace.operation);
        let mut next = |step: Step| {
            state = self.find(self.steps[state][&step]);
            state
        };
        steps(trace, told).map(&mut next).collect()
    }

    /// With two states merged into the lower one, and so what follows them; none if they are just
    /// after different accesses.
    fn merged(&self, a: usize, b: usize, red: &[usize]) -> Option<Automaton> {
        let mut all = self.clone();
        let mut open = vec![(a, b)];
        while let Some((a, b)) = open.pop() {
            let (mut a, mut b) = (all.find(a), all.find(b));
            if a == b {
                continue;
            }
            if all.access[a] != all.access[b] || all.access[a].is_none() {
                return None;
            }
            if red.contains(&b) {
                std::mem::swap(&mut a, &mut b);
            }
            all.parent[b] = a;
            for (step, next) in std::mem::take(&mut all.steps[b]) {
                match all.steps[a].get(&step) {
                    Some(&known) => open.push((known, next)),
                    None => {
                        all.steps[a].insert(step, next);
                    }
                }
            }
        }
        Some(all)
    }

    /// Merges states, nearest to the start first, as long as the trees of those that were looked at
    /// explain what follows with no more leaves than before: red and blue states of grammatical
    /// inference. `progress` is told how many states are settled, and how many are next.
    pub fn merge(&mut self, traces: &[Trace], told: bool, progress: &mut dyn FnMut(usize, usize)) {
        let starts = traces.iter().map(|trace| trace.operation).max().map_or(0, |last| last + 1);
        let mut red: Vec<usize> = (0..starts).collect();
        loop {
            let mut blue: Vec<usize> = Vec::new();
            for &state in &red {
                let mut next: Vec<_> = self.steps[state].iter().collect();
                next.sort_unstable();
                for (_, &next) in next {
                    let next = self.find(next);
                    if !red.contains(&next) && !blue.contains(&next) {
                        blue.push(next);
                    }
                }
            }
            let Some(&state) = blue.first() else { return };
            progress(red.len(), blue.len());
            let cost = |all: &Automaton, states: &[usize]| {
                fit(all, traces, told, Some(states)).map(|trees| trees.cost())
            };
            let with_it: Vec<usize> = red.iter().copied().chain([state]).collect();
            let base = cost(self, &with_it);
            let mut best: Option<(usize, Automaton)> = None;
            for &other in red.iter().filter(|&&other| self.access[other] == self.access[state]) {
                let Some(merged) = self.merged(other, state, &red) else { continue };
                // Settled states stay apart.
                if red.iter().any(|&one| merged.find(one) != one) {
                    continue;
                }
                let Some(found) = cost(&merged, &red) else { continue };
                let better = best.as_ref().is_none_or(|(least, _)| found < *least);
                if better && base.is_none_or(|base| found <= base) {
                    best = Some((found, merged));
                }
            }
            match best {
                Some((_, merged)) => *self = merged,
                None => red.push(state),
            }
        }
    }

    /// The trees of all states, if they can be explained.
    pub fn trees(&self, traces: &[Trace], told: bool) -> Option<Trees> {
        fit(self, traces, told, None)
    }
}

fn functions(traces: &[Trace]) -> Vec<(String, Vec<String>)> {
    let mut places: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (function, place) in traces.iter().flat_map(|one| &one.events).flat_map(|one| &*one.calls) {
        places.entry(function).or_default().insert(place);
    }
    let owned = |places: BTreeSet<&str>| places.into_iter().map(str::to_owned).collect();
    let mut all: Vec<(String, Vec<String>)> =
        places.into_iter().map(|(name, places)| (name.to_owned(), owned(places))).collect();
    all.sort_by_key(|one| one.1.len() == 1);
    all
}

fn steps(trace: &Trace, told: bool) -> impl Iterator<Item = Step> {
    let found = |event: &Event| match event.found {
        Found::Nothing => 0,
        Found::Pointer(node) => 1 + u64::from(node.is_some()),
        Found::Flag(flag) => 3 + u64::from(flag),
    };
    let before = std::iter::once(0).chain(trace.events.iter().map(found));
    let step = move |(event, before): (&Event, u64)| {
        (if told { event.site } else { before }, event.access)
    };
    trace.events.iter().zip(before).map(step)
}
