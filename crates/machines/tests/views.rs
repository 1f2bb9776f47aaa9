//! What certificates take for granted, on real runs.

use std::sync::Arc;

use pgn_machines::{Error, Machine, Memory, Program, Signature, Trial, View, programs};

/// Long random runs, from the smallest sizes to 1,000 nodes.
#[test]
fn invariants_hold_and_every_view_met_was_enumerated() {
    for name in programs::NAMES {
        let machine = Machine::new(programs::named(name).unwrap()).unwrap();
        let mut most = 0;
        for (sequences, nodes, operations) in
            [(100, 3, 40), (100, 5, 60), (20, 20, 200), (2, 100, 500), (1, 1000, 10_000)]
        {
            let trial = Trial { sequences, nodes, operations, seed: 7 };
            most = most.max(machine.test_assumptions(trial).unwrap());
        }
        let consistent = machine.consistent().len();
        assert!(most <= consistent);
        println!("{name}: {most} views met, {consistent} consistent");
    }
}

/// The link/cut tree with one more invariant.
struct Stricter(Arc<dyn Program>, fn(&View) -> bool);

impl Program for Stricter {
    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn step(&self, state: u8, memory: &mut dyn Memory) -> Option<u8> {
        self.0.step(state, memory)
    }

    fn invariants(&self) -> Vec<String> {
        self.0.invariants().into_iter().chain(["something more holds".to_string()]).collect()
    }

    fn holds(&self, invariant: usize, view: &View) -> bool {
        match invariant < self.0.invariants().len() {
            true => self.0.holds(invariant, view),
            false => (self.1)(view),
        }
    }
}

#[test]
fn a_wrong_invariant_is_caught() {
    let wrong: [fn(&View) -> bool; 3] = [
        |view| !view.bits.contains(&Some(true)),
        // That splay trees have no right children with a left sibling.
        |view| (0..view.nodes).all(|node| !(1..3).all(|side| is_node(view, node, side))),
        |view| view.registers.iter().all(|seen| *seen != pgn_machines::Seen::Node(3)),
    ];
    for holds in wrong {
        let program = Stricter(programs::named("lct").unwrap(), holds);
        let machine = Machine::new(Arc::new(program)).unwrap();
        let trial = Trial { sequences: 20, nodes: 8, operations: 60, seed: 1 };
        let error = machine.test_assumptions(trial).unwrap_err();
        assert!(matches!(&error, Error::Program(text) if text.contains("something more holds")));
    }
}

fn is_node(view: &View, node: u8, field: usize) -> bool {
    matches!(view.pointer(node, field), pgn_machines::Seen::Node(_))
}

/// Counts that the documentation gives; a change of a program must change its version too.
#[test]
fn the_number_of_consistent_views() {
    let counts = programs::NAMES.map(|name| {
        let machine = Machine::new(programs::named(name).unwrap()).unwrap();
        (machine.signature().version, machine.consistent().len())
    });
    assert_eq!(counts, [(1, 40), (2, 648), (1, 62), (1, 485), (2, 87)]);
}
