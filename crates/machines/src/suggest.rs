//! Candidates for clauses: what held whenever somebody looked.

use std::collections::{BTreeSet, HashSet};

use crate::interpret::{begin, outcome, steps_allowed};
use crate::{Clauses, Error, Exploration, Program, Result, Seen, Signature, Trial, View};

/// Clauses of a few simple forms that hold in random runs of a program, whatever it declares: an
/// order of nodes, how fields of nodes relate, and per state how registers and their fields do.
/// Most of them are not inductive: the checker of proofs tells which are. A list for every order of
/// nodes that there may be.
pub fn candidates(program: &dyn Program, trial: Trial) -> Result<Vec<Vec<String>>> {
    let seen = memories(program, trial)?;
    let is_order = |one: &String| one.starts_with("acyclic ") || one.starts_with("tree ");
    let orders = match program.clauses().into_iter().find(is_order) {
        Some(declared) => vec![Some(declared)],
        None => orders(program.signature(), &seen),
    };
    orders.into_iter().map(|order| with_order(program, &seen, order)).collect()
}

/// Those of some clauses that hold in random runs.
pub fn that_hold(
    program: &dyn Program,
    mut clauses: Vec<String>,
    trial: Trial,
) -> Result<Vec<String>> {
    let parse = |clauses: &[String]| Clauses::parse(program.signature(), clauses);
    let mut parsed = parse(&clauses).map_err(Error::Program)?;
    for view in memories(program, trial)? {
        while let Some(violated) = parsed.violated(&view).map(str::to_owned) {
            clauses.retain(|clause| *clause != violated);
            // Without an order, what speaks of it is no clause.
            parsed = parse(&clauses).or_else(|_| {
                clauses.retain(|clause| parse(std::slice::from_ref(clause)).is_ok());
                parse(&clauses).map_err(Error::Program)
            })?;
        }
    }
    Ok(clauses)
}

/// Orders of nodes in memories: along a field, or several that make trees together. None comes last.
fn orders(signature: &Signature, seen: &[View]) -> Vec<Option<String>> {
    let fields = signature.pointers.len();
    let mut sets: Vec<usize> = (1..1usize << fields.min(4)).collect();
    sets.sort_by_key(|set| std::cmp::Reverse(set.count_ones()));
    let order = |set: &usize| {
        let chosen = (0..fields).filter(|field| set >> field & 1 == 1);
        let names: Vec<&str> = chosen.map(|field| &*signature.pointers[field]).collect();
        format!("{} {}", if names.len() > 1 { "tree" } else { "acyclic" }, names.join(", "))
    };
    let holds = |order: &String| {
        let parsed = Clauses::parse(signature, std::slice::from_ref(order)).ok();
        parsed.is_some_and(|parsed| seen.iter().all(|view| parsed.violated(view).is_none()))
    };
    let mut found: Vec<_> = sets.iter().map(order).filter(holds).map(Some).collect();
    found.push(None);
    found
}

fn with_order(program: &dyn Program, seen: &[View], order: Option<String>) -> Result<Vec<String>> {
    let signature = program.signature();
    let holds = |clauses: &[&str]| {
        let texts: Vec<String> = clauses.iter().map(|text| text.to_string()).collect();
        let parsed = Clauses::parse(signature, &texts).ok();
        parsed.is_some_and(|parsed| seen.iter().all(|view| parsed.violated(view).is_none()))
    };
    let with_order = |clause: &String| match &order {
        Some(order) => holds(&[order, clause]),
        None => holds(&[clause]),
    };
    let memory = about_memory(signature).into_iter().filter(with_order);
    let mut all: Vec<String> = order.iter().cloned().chain(memory).collect();
    for (state, declared) in (0..).zip(&signature.states) {
        let here: Vec<&View> = seen.iter().filter(|view| view.state == state).collect();
        if declared.halt.is_some() || here.is_empty() {
            continue;
        }
        let controls = (0..signature.controls.len()).map(|control| {
            let values: BTreeSet<u8> =
                here.iter().filter_map(|view| view.controls[control]).collect();
            (control, values)
        });
        let controls: Vec<_> = controls.collect();
        let quoted = |control: usize, value: u8| {
            format!("\"{}\"", signature.controls[control].values[usize::from(value)])
        };
        let mut found = Vec::new();
        for (control, values) in &controls {
            let values: Vec<String> = values.iter().map(|value| quoted(*control, *value)).collect();
            if values.len() < signature.controls[*control].values.len() {
                let name = &signature.controls[*control].name;
                found.push(format!("{}: {name} = {}", declared.name, values.join(" | ")));
            }
        }
        // A fact, or where it does not hold always: where a field of the controller has one value,
        // or a register is nil, or is not.
        type Case<'c> = (String, Box<dyn Fn(&View) -> bool + 'c>);
        let mut cases: Vec<Case<'_>> = vec![(String::new(), Box::new(|_| true))];
        for (control, values) in controls.iter().filter(|(_, values)| values.len() > 1) {
            for &value in values {
                let name = &signature.controls[*control].name;
                let holds = move |view: &View| view.controls[*control] == Some(value);
                cases.push((format!("{name} = {}", quoted(*control, value)), Box::new(holds)));
            }
        }
        for (register, name) in signature
            .registers
            .iter()
            .enumerate()
            .filter(|(register, _)| program.needs(state, *register))
        {
            let nil = move |view: &View| view.registers[register] == Seen::Nil;
            if here.iter().any(|view| nil(view)) && here.iter().any(|view| !nil(view)) {
                cases.push((format!("{name} = nil"), Box::new(nil)));
                cases.push((format!("{name} != nil"), Box::new(move |view| !nil(view))));
            }
        }
        for fact in
            about_registers(signature, order.is_some(), &|register| program.needs(state, register))
        {
            let texts = order.iter().cloned().chain([format!("{}: {fact}", declared.name)]);
            let parsed = Clauses::parse(signature, &texts.collect::<Vec<_>>());
            let parsed = parsed.map_err(Error::Program)?;
            let held: Vec<bool> = here.iter().map(|view| parsed.violated(view).is_none()).collect();
            let relevant =
                |case: &Case<'_>| here.iter().zip(&held).all(|(view, held)| *held || !case.1(view));
            let plain = |case: &&Case<'_>| !fact.contains("->") || !case.0.contains("nil");
            let fitting = cases.iter().filter(plain).filter(|case| relevant(case));
            let most = if relevant(&cases[0]) { 1 } else { cases.len() };
            found.extend(fitting.take(most).map(|(case, _)| match &**case {
                "" => format!("{}: {fact}", declared.name),
                case if fact.contains("->") => format!("{}: {case} and {fact}", declared.name),
                case => format!("{}: {case} -> {fact}", declared.name),
            }));
        }
        all.extend(found);
    }
    Ok(all)
}

/// More different memories than these are not looked at.
const MEMORIES: usize = 20_000;

/// Different memories before micro-steps.
fn memories(program: &dyn Program, trial: Trial) -> Result<Vec<View>> {
    let signature = program.signature();
    let mut seen = HashSet::new();
    for sequence in 0..trial.sequences {
        let nodes = 1 + sequence as usize % trial.nodes;
        let mut explored = Exploration::new(program, nodes, trial.seed, sequence);
        for _ in 0..trial.operations {
            if seen.len() > MEMORIES {
                break;
            }
            let call = explored.call();
            let store = &mut explored.store;
            let mut state = match begin(program, store, call.operation, &call.arguments) {
                Err(Error::Refused(_)) => continue,
                started => started?,
            };
            for _ in 0..steps_allowed(store) {
                seen.extend(store.whole(signature, state));
                if outcome(program, store, state).is_some() {
                    break;
                }
                let Some(next) = program.step(state, store) else { break };
                store.settle(&mut ());
                state = next;
            }
        }
    }
    let mut seen: Vec<View> = seen.into_iter().collect();
    seen.sort_unstable();
    // What registers hold after the end of an operation says nothing.
    for view in &mut seen {
        if signature.states[usize::from(view.state)].halt.is_some() {
            view.registers.fill(Seen::Unread);
            view.controls.fill(None);
        }
    }
    Ok(seen)
}

/// What needs an order is left out where there is none: it is then no clause.
fn about_memory(signature: &Signature) -> Vec<String> {
    let mut all = Vec::new();
    // Below a leaf is nothing; what is free, or a root, is alone or on top.
    let leaf = signature.pointers.iter().map(|field| format!("p.{field} = nil"));
    all.push(format!("{} and p reaches q -> p = q", leaf.collect::<Vec<_>>().join(" and ")));
    for bit in &signature.bits {
        for set in 0..2 {
            all.push(format!("p.{bit} = {set} and p reaches q -> p = q"));
            all.push(format!("p.{bit} = {set} and q reaches p -> p = q"));
        }
    }
    for one in &signature.pointers {
        all.push(format!("p.{one} = c and q.{one} = c -> p = q"));
        all.push(format!("p reaches q -> p = q or q.{one} != nil"));
        for other in signature.pointers.iter().filter(|other| *other != one) {
            for third in signature.pointers.iter().filter(|third| *third > other && *third != one) {
                all.push(format!("p.{one} = c -> c.{other} = p or c.{third} = p"));
            }
            all.push(format!("p.{one} = c -> c.{other} = p"));
            all.push(format!("p.{one} = nil -> p.{other} = nil"));
            if one < other {
                all.push(format!("p.{one} = c -> p.{other} != c"));
                all.push(format!("p.{one} = c -> q.{other} != c"));
            }
        }
        for bit in &signature.bits {
            for set in 0..2 {
                all.push(format!("p.{bit} = {set} -> p.{one} = nil"));
                all.push(format!("p.{bit} = {set} -> p.{one} != nil"));
                all.push(format!("p.{one} = c -> c.{bit} = {set}"));
            }
        }
    }
    all
}

fn about_registers(
    signature: &Signature,
    ordered: bool,
    needed: &dyn Fn(usize) -> bool,
) -> Vec<String> {
    let mut all = Vec::new();
    for (at, a) in signature.registers.iter().enumerate().filter(|(at, _)| needed(*at)) {
        all.extend([format!("{a} = nil"), format!("{a} != nil")]);
        for field in &signature.pointers {
            all.extend([format!("{a}.{field} = nil"), format!("{a}.{field} != nil")]);
            for next in &signature.pointers {
                let then = format!("{a}.{field} = p -> p.{next}");
                all.extend([format!("{then} = nil"), format!("{then} != nil")]);
            }
        }
        for bit in &signature.bits {
            all.extend([format!("{a}.{bit} = 0"), format!("{a}.{bit} = 1")]);
        }
        for (place, b) in signature
            .registers
            .iter()
            .enumerate()
            .filter(|(place, _)| *place != at && needed(*place))
        {
            if at < place {
                all.extend([format!("{a} = {b}"), format!("{a} != {b}")]);
            }
            for field in &signature.pointers {
                all.extend([format!("{a}.{field} = {b}"), format!("{a}.{field} != {b}")]);
            }
            if ordered {
                all.extend([format!("{a} reaches {b}"), format!("not {a} reaches {b}")]);
                if at < place {
                    all.push(format!("not {a} reaches p or not {b} reaches p"));
                }
            }
        }
    }
    all
}
