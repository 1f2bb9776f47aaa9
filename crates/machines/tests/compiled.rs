//! Compiled trees do what the program does, to the last pointer.

use std::collections::BTreeMap;

use pgn_machines::{Compiled, Machine, Store, programs};
use pgn_structures::Rng;

#[test]
fn runs_are_the_same_to_the_last_pointer() {
    for name in programs::NAMES {
        let machine = Machine::new(programs::named(name).unwrap()).unwrap();
        let compiled = Compiled::new(&machine, machine.consistent()).unwrap();
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
            let (mut fast, mut recording, mut by_view) =
                (plain.clone(), plain.clone(), plain.clone());
            for _ in 0..operations {
                let call = machine.program().sample(&plain, &mut rng);
                let (operation, nodes) = (call.operation, call.arguments.as_slice());
                let outcome = machine.run_program(&mut plain, operation, nodes).unwrap();
                assert_eq!(compiled.run(&mut fast, operation, nodes).unwrap(), outcome);
                let recorded = compiled.run_recording(&mut recording, operation, nodes).unwrap();
                assert_eq!(recorded, outcome);
                let mut policy = |view: &_| machine.action(view).unwrap();
                let viewed = machine.run(&mut by_view, operation, nodes, &mut policy).unwrap();
                assert_eq!(viewed, outcome);
                assert_eq!(plain.words(), fast.words(), "{name}");
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
