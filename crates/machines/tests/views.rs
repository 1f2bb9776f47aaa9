//! What certificates take for granted, on real runs.

use std::sync::Arc;

use pgn_machines::{Error, Machine, Memory, Program, Signature, Trial, programs};

/// Long random runs, from the smallest sizes to 1,000 nodes.
#[test]
fn clauses_hold_and_every_view_met_was_enumerated() {
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

/// The link/cut tree with one more clause.
struct Stricter(Arc<dyn Program>, &'static str);

impl Program for Stricter {
    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn step(&self, state: u8, memory: &mut dyn Memory) -> Option<u8> {
        self.0.step(state, memory)
    }

    fn clauses(&self) -> Vec<String> {
        self.0.clauses().into_iter().chain([self.1.to_owned()]).collect()
    }
}

#[test]
fn a_wrong_clause_is_caught() {
    let wrong =
        ["p.flip = 0", "p.left = q -> p.right = nil", "splay: u = s", "not p reaches q or p = q"];
    for clause in wrong {
        let program = Stricter(programs::named("lct").unwrap(), clause);
        let machine = Machine::new(Arc::new(program)).unwrap();
        let trial = Trial { sequences: 20, nodes: 8, operations: 60, seed: 1 };
        let error = machine.test_assumptions(trial).unwrap_err();
        assert!(matches!(&error, Error::Program(text) if text.contains(clause)), "{error}");
    }
}

#[test]
fn clauses_that_are_not_understood() {
    for (clause, why) in [
        ("climb: nonsense", "ends too early"),
        ("nowhere: u != nil", "no state `nowhere`"),
        ("u.down = nil", "no pointer field `down`"),
        ("return = never", "no value `never`"),
        ("u = nil nil", "`nil` was not expected"),
        ("acyclic left", "one order"),
    ] {
        let program = Stricter(programs::named("lct").unwrap(), clause);
        let error = Machine::new(Arc::new(program)).err().unwrap().to_string();
        assert!(error.contains(clause) && error.contains(why), "{error}");
    }
}

/// Counts that the documentation gives; a change of a program must change its version too.
#[test]
fn the_number_of_consistent_views() {
    let counts = programs::NAMES.map(|name| {
        let machine = Machine::new(programs::named(name).unwrap()).unwrap();
        (machine.signature().version, machine.consistent().len())
    });
    assert_eq!(counts, [(4, 21), (4, 445), (4, 23), (4, 192), (4, 36)]);
}
