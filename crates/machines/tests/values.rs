//! Aggregates of the learned link/cut tree against the classical one's.

use std::sync::Arc;

use pgn_machines::{
    Aggregates, Arithmetic, At, Compiled, Machine, Outcome, Store, certify, programs,
};
use pgn_structures::{LinkCutTree, Max, Min, Node, Rng, Sum};
use proptest::prelude::*;

fn machine() -> Machine {
    Machine::new(Arc::new(programs::lct())).unwrap()
}

/// The same operations on the classical tree, the program, the views and the compiled tree.
fn compare<A: Arithmetic + PartialEq + std::fmt::Debug>(
    seed: u64,
    nodes: usize,
    value: impl Fn(Node, i32) -> A,
) {
    let machine = machine();
    let compiled = Compiled::new(&machine, machine.consistent()).unwrap();
    let names: Vec<&str> =
        machine.signature().operations.iter().map(|operation| &*operation.name).collect();
    let mut rng = Rng::new([seed, 9, 0, 0]);
    let keys: Vec<f32> = (0..nodes).map(|_| rng.unit_f32()).collect();
    let start: Vec<A> = (0..nodes as Node).map(|node| value(node, 7 * node as i32 % 5)).collect();
    let mut classical = LinkCutTree::with_values(&start);
    let fresh = (Store::new(machine.signature(), &keys), Aggregates::new(start, value(0, 0)));
    let mut ours = [fresh.clone(), fresh.clone(), fresh];
    for _ in 0..12 * nodes {
        let (u, v) = (rng.below(nodes as Node), rng.below(nodes as Node));
        let x = value(u, rng.below(20) as i32 - 10);
        let name = ["link", "link", "cut", "evert", "path_aggregate", "add", "set_value"]
            [rng.below(7) as usize];
        let operation = names.iter().position(|known| *known == name).unwrap();
        let arguments =
            if matches!(name, "link" | "path_aggregate") { vec![u, v] } else { vec![u] };
        let expected = match name {
            "link" => classical.link(u, v).is_ok().then_some(None),
            "cut" => classical.cut(u).is_ok().then_some(None),
            "evert" => classical.evert(u).is_ok().then_some(None),
            "path_aggregate" => classical.path_aggregate(u, v).unwrap().map(Some),
            "add" => {
                let changed = classical.value(u).unwrap().plus(x);
                classical.set_value(u, changed).ok().map(|()| None)
            }
            _ => classical.set_value(u, x).ok().map(|()| None),
        };
        for (mode, (store, values)) in ours.iter_mut().enumerate() {
            values.set_operand(x);
            let outcome = match mode {
                0 => machine.run_program_with(store, values, operation, &arguments),
                1 => machine.run_with(store, values, operation, &arguments, &mut |view| {
                    machine.action(view).unwrap()
                }),
                _ => compiled.run_with(store, values, operation, &arguments),
            };
            let found = match outcome.unwrap() {
                Outcome::Done => Some(None),
                Outcome::Node(Some(end)) => Some(values.aggregate(end)),
                Outcome::Refused(_) => None,
                other => panic!("{other:?}"),
            };
            assert_eq!(found, expected, "{name} {arguments:?} in mode {mode}");
            for node in 0..nodes as Node {
                let pointer = machine.program().node_pointer(store, node);
                assert_eq!(pointer, classical.pointer(node), "{name} {arguments:?}, mode {mode}");
                assert_eq!(values.value(node), classical.value(node).ok());
            }
        }
    }
    assert!(ours[0].1 == ours[1].1 && ours[0].1 == ours[2].1, "aggregates differ");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sums(seed: u64, nodes in 2usize..30) {
        compare(seed, nodes, |_, x| Sum(i64::from(x)));
    }

    #[test]
    fn minima(seed: u64, nodes in 2usize..30) {
        compare(seed, nodes, |_, x| Min(x));
    }

    #[test]
    fn maxima_with_their_nodes(seed: u64, nodes in 2usize..30) {
        compare(seed, nodes, |node, x| Max(At { value: x, node }));
    }
}

/// Every pull is part of some action, and none can be left out.
#[test]
fn a_machine_that_forgets_a_pull_is_not_certified() {
    let machine = machine();
    let pull = machine.signature().marks.iter().position(|mark| mark == "pull").unwrap();
    let marks = machine.signature().marks.len();
    let right = certify(&machine, |view| machine.action(view).unwrap());
    assert!(right.certified);
    let states = ["first rotation", "rotation", "splayed", "cut off deeper", "join"];
    for state in states.into_iter().chain(["cut", "link", "change value"]) {
        let forgetful = certify(&machine, |view| {
            let mut action = machine.action(view).unwrap();
            if machine.signature().states[usize::from(view.state)].name == state {
                action.marks.iter_mut().skip(pull).step_by(marks).for_each(|mark| *mark = false);
            }
            action
        });
        assert!(!forgetful.certified, "{state}");
        assert!(forgetful.failures.iter().all(|failure| {
            failure.expected.contains("pull") && !failure.found.contains("pull")
        }));
    }
}

/// A step that pulls two nodes would depend on their order.
#[test]
fn a_program_may_pull_one_node_a_step() {
    use pgn_machines::{Definition, Halt, Memory, Signature};
    let signature = Signature::new("two")
        .pointers(&["next"])
        .values(&["next"])
        .registers(&["x", "y"])
        .states(&["start", "end"])
        .halt("end", Halt::Done)
        .operation("two", "start", &["x", "y"], &[]);
    let program = Definition::new(signature, |_, memory: &mut dyn Memory| {
        let (x, y) = (memory.register(0)?, memory.register(1)?);
        memory.pull(x);
        memory.pull(y);
        Some(1)
    });
    let error = Machine::new(Arc::new(program)).err().unwrap().to_string();
    assert!(error.contains("pulls 2 nodes; expected one"), "{error}");
}
