//! Compiled trees do what the program does, to the last pointer.

use std::collections::BTreeMap;

use pgn_machines::{Compiled, Error, Machine, Memory, Store, programs};
use pgn_structures::Rng;

#[test]
fn runs_are_the_same_to_the_last_pointer() {
    for name in programs::NAMES {
        let machine = Machine::new(programs::named(name).unwrap()).unwrap();
        let compiled = Compiled::new(&machine, machine.consistent()).unwrap();
        let checked = Compiled::checked(&machine, machine.consistent()).unwrap();
        assert!(checked.tree().is_checked() && !compiled.tree().is_checked(), "{name}");
        println!("{name}: {} leaves, depth {}", compiled.tree().leaves(), compiled.tree().depth());
        let by_state: BTreeMap<_, _> = machine
            .signature()
            .states
            .iter()
            .zip(&compiled.tree().states)
            .filter_map(|(state, tree)| {
                let tree = tree.as_ref()?;
                Some((&state.name, (tree.leaves(), tree.depth())))
            })
            .collect();
        println!("{by_state:?}");
        for (nodes, operations, seed) in [(3, 50, 1), (5, 200, 2), (20, 1000, 3), (300, 3000, 4)] {
            let mut rng = Rng::new([seed, 5, 5, 5]);
            let keys: Vec<f32> = (0..nodes).map(|_| rng.unit_f32()).collect();
            let mut plain = Store::new(machine.signature(), &keys);
            let (mut fast, mut recording, mut by_view, mut looked) =
                (plain.clone(), plain.clone(), plain.clone(), plain.clone());
            for _ in 0..operations {
                let call = machine.program().sample(&plain, &mut rng);
                let (operation, nodes) = (call.operation, call.arguments.as_slice());
                let outcome = machine.run_program(&mut plain, operation, nodes).unwrap();
                assert_eq!(compiled.run(&mut fast, operation, nodes).unwrap(), outcome);
                let recorded = compiled.run_recording(&mut recording, operation, nodes).unwrap();
                assert_eq!(recorded, outcome);
                assert_eq!(checked.run(&mut looked, operation, nodes).unwrap(), outcome);
                let mut policy = |view: &_| machine.action(view).unwrap();
                let viewed = machine.run(&mut by_view, operation, nodes, &mut policy).unwrap();
                assert_eq!(viewed, outcome);
                assert_eq!(plain.words(), fast.words(), "{name}");
                assert_eq!(plain.words(), looked.words(), "{name}");
                assert_eq!(plain.words(), recording.words());
                assert_eq!(plain.words(), by_view.words());
                let sorted = |store: &Store| {
                    let mut nodes = store.visited().nodes().to_vec();
                    nodes.sort_unstable();
                    nodes
                };
                assert_eq!(sorted(&plain), sorted(&recording), "{name}");
                assert_eq!(sorted(&plain), sorted(&by_view), "{name}");
            }
        }
    }
}

/// Memories that no operation makes: wherever one of them shows a view that is not in the table,
/// checked code says so as the interpreter of views does, at the same micro-step.
#[test]
fn checked_code_stops_where_the_table_ends() {
    for name in programs::NAMES {
        let machine = Machine::new(programs::named(name).unwrap()).unwrap();
        let checked = Compiled::checked(&machine, machine.consistent()).unwrap();
        let signature = machine.signature();
        let mut rng = Rng::new([7, 1, 0, 0]);
        let (mut stopped, mut went_on) = (0, 0);
        for _ in 0..2000 {
            let mut store = Store::with_ranks(signature, (0..4).collect());
            for node in 0..4 {
                for field in 0..signature.pointers.len() {
                    let to = rng.below(8);
                    store.set_pointer(node, field, (to < 4).then_some(to));
                }
                for bit in 0..signature.bits.len() {
                    if rng.below(2) == 1 {
                        store.toggle(node, bit);
                    }
                }
            }
            let operation = rng.below(signature.operations.len() as u32) as usize;
            let count = signature.operations[operation].arguments.len();
            let arguments: Vec<u32> = (0..count).map(|_| rng.below(4)).collect();
            let mut by_view = store.clone();
            let mut policy = |view: &_| machine.action(view).unwrap();
            let truth = machine.run(&mut by_view, operation, &arguments, &mut policy);
            let found = checked.run(&mut store, operation, &arguments);
            match truth {
                // Which operation does not end is not known to compiled code.
                Err(Error::Endless { .. }) => {
                    assert!(matches!(found, Err(Error::Endless { .. })), "{name}");
                }
                truth => {
                    stopped += usize::from(truth.is_err());
                    went_on += usize::from(truth.is_ok());
                    assert_eq!(found, truth, "{name}");
                    assert_eq!(store.words(), by_view.words(), "{name}");
                }
            }
        }
        assert!(stopped > 100 && went_on > 0, "{name}: {stopped} stopped, {went_on} went on");
    }
}
