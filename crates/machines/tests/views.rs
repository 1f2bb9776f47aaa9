//! Views that are met are consistent, and invariants hold of the whole memory.

use std::collections::{BTreeMap, HashMap};

use pgn_machines::{Machine, Store, programs};
use pgn_structures::Rng;

#[test]
fn every_view_met_is_among_the_consistent_ones() {
    for name in programs::NAMES {
        let machine = Machine::new(programs::named(name).unwrap()).unwrap();
        let consistent: HashMap<_, _> = machine.consistent().into_iter().collect();
        let mut by_state = BTreeMap::new();
        for view in consistent.keys() {
            let state = &machine.signature().states[usize::from(view.state)].name;
            let entry: &mut (usize, u8) = by_state.entry(state).or_default();
            *entry = (entry.0 + 1, entry.1.max(view.nodes));
        }
        println!("{name}: {} consistent {by_state:?}", consistent.len());
        let mut met = HashMap::new();
        for (sequences, nodes, operations) in [(60, 4, 40), (30, 20, 200), (1, 1000, 5000)] {
            for (view, action) in machine.sampled_traces(sequences, nodes, operations, 7).unwrap() {
                assert_eq!(
                    consistent.get(&view),
                    Some(&action),
                    "{name}\n{}",
                    view.picture(machine.signature())
                );
                met.insert(view, action);
            }
        }
        println!("{name}: {} met", met.len());
    }
}

#[test]
fn speed_of_the_program_itself() {
    let machine = Machine::new(programs::named("lct").unwrap()).unwrap();
    let mut rng = Rng::new([1, 2, 3, 4]);
    let keys: Vec<f32> = (0..1000).map(|_| rng.unit_f32()).collect();
    let mut store = Store::new(machine.signature(), &keys);
    for _ in 0..1000 {
        let call = machine.program().sample(&store, &mut rng);
        machine.run_program(&mut store, call.operation, &call.arguments).unwrap();
    }
}
