//! Calls that would break a structure are refused with a sentence, whoever executes the program.

use pgn_machines::{Compiled, Error, Machine, Outcome, Seen, Signature, Store, programs};
use pgn_structures::{Node, Rng};

/// Carries out a call with the program, with views and actions, and compiled; all must agree.
struct Thrice {
    machine: Machine,
    compiled: Compiled,
    stores: [Store; 3],
}

impl Thrice {
    fn new(name: &str, keys: &[f32]) -> Self {
        let machine = Machine::new(programs::named(name).unwrap()).unwrap();
        let compiled = Compiled::new(&machine, machine.consistent()).unwrap();
        let store = Store::new(machine.signature(), keys);
        Thrice { machine, compiled, stores: [store.clone(), store.clone(), store] }
    }

    fn call(&mut self, operation: usize, arguments: &[Node]) -> Outcome {
        let Thrice { machine, compiled, stores: [first, second, third] } = self;
        let outcome = machine.run_program(first, operation, arguments).unwrap();
        let mut policy = |view: &_| machine.action(view).unwrap();
        assert_eq!(machine.run(second, operation, arguments, &mut policy).unwrap(), outcome);
        assert_eq!(compiled.run_recording(third, operation, arguments).unwrap(), outcome);
        for other in [second, third] {
            assert_eq!(other.words(), first.words());
            assert_eq!(other.visited().nodes().len(), first.visited().nodes().len());
        }
        outcome
    }

    fn named(&mut self, operation: &str, arguments: &[Node]) -> Outcome {
        self.call(self.machine.operation(operation).unwrap(), arguments)
    }
}

fn refused(outcome: Outcome) -> String {
    match outcome {
        Outcome::Refused(reason) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn calls_that_would_break_a_heap() {
    let mut heap = Thrice::new("heap", &[0.5, 0.1, 0.3, 0.4]);
    assert_eq!(refused(heap.named("insert", &[0, 0])), "heap and x are the same node");
    assert_eq!(heap.named("insert", &[0, 1]), Outcome::Done);
    assert_eq!(refused(heap.named("insert", &[1, 0])), "heap is itself in a heap");
    assert_eq!(refused(heap.named("insert", &[2, 0])), "x is a heap with nodes in it");
    assert_eq!(refused(heap.named("insert", &[2, 1])), "x is in a heap already");
    assert_eq!(refused(heap.named("pop_min", &[1])), "heap is itself in a heap");
    assert_eq!(refused(heap.named("meld", &[0, 1])), "x is in a heap");
    assert_eq!(refused(heap.named("meld", &[2, 2])), "heap and x are the same node");
    assert_eq!(heap.named("pop_min", &[0]), Outcome::Node(Some(1)));
    assert_eq!(heap.named("insert", &[1, 0]), Outcome::Done); // roles may change
}

#[test]
fn calls_that_would_break_a_splay_tree() {
    let mut splay = Thrice::new("splay", &[0.5, 0.1, 0.3, 0.4]);
    assert_eq!(splay.named("insert", &[0, 3]), Outcome::Answer(true));
    assert_eq!(refused(splay.named("insert", &[1, 3])), "x is in a tree already");
    assert_eq!(refused(splay.named("insert", &[1, 1])), "tree and x are the same node");
    assert_eq!(refused(splay.named("insert", &[1, 0])), "x is a tree with nodes in it");
    assert_eq!(refused(splay.named("contains", &[3, 2])), "tree is itself in a tree");
    assert_eq!(splay.named("remove", &[0, 3]), Outcome::Node(Some(3)));
    assert_eq!(splay.named("insert", &[1, 3]), Outcome::Answer(true));
}

/// Any calls at all, on few nodes with few keys: every one ends, and the clauses hold after it.
#[test]
fn no_sequence_of_calls_breaks_a_structure() {
    for name in programs::NAMES {
        for seed in 0..60 {
            let mut rng = Rng::new([seed, 9, 0, 0]);
            let nodes = 2 + rng.below(6);
            let keys: Vec<f32> = (0..nodes).map(|_| rng.below(4) as f32).collect();
            let mut all = Thrice::new(name, &keys);
            let signature = all.machine.signature().clone();
            for _ in 0..150 {
                let operation = rng.below(signature.operations.len() as u32) as usize;
                let count = signature.operations[operation].arguments.len();
                let arguments: Vec<Node> = (0..count).map(|_| rng.below(nodes)).collect();
                all.call(operation, &arguments);
                let halted = signature.states.iter().position(|state| state.halt.is_some());
                let mut whole = all.stores[0].whole(&signature, halted.unwrap() as u8).unwrap();
                // What clauses say of answers is about the state in which this call ended.
                whole.registers.fill(Seen::Unread);
                whole.controls.fill(None);
                assert_eq!(all.machine.clauses().violated(&whole), None, "{name}");
            }
        }
    }
}

#[test]
fn conditions_that_are_not_understood_are_reported() {
    let signature = |condition: &str| {
        Signature::new("list")
            .pointers(&["next"])
            .bits(&["held"])
            .registers(&["a", "b", "other"])
            .states(&["walk"])
            .operation("append", "walk", &["a", "b"], &[])
            .requires(condition, "why not")
    };
    for fine in ["a != b", "b.next = nil", "a.held=1"] {
        assert_eq!(signature(fine).check(), Ok(()), "{fine}");
    }
    for wrong in ["a == b", "a != other", "a.next = b", "a.held = nil", "c.next = nil", "", "a"] {
        let error = signature(wrong).check().unwrap_err();
        assert!(error.contains("a condition of operation `append` (\"why not\")"), "{error}");
    }
    let store = Store::new(&signature("a != b"), &[0.0, 1.0]);
    assert_eq!(signature("a != b").refusal(&store, 0, &[1, 1]), Some("why not"));
    assert_eq!(signature("b.next = nil").refusal(&store, 0, &[1, 1]), None);
}

#[test]
fn a_refused_call_cannot_be_begun() {
    let machine = Machine::new(programs::named("forest").unwrap()).unwrap();
    let mut store = Store::new(machine.signature(), &[0.0; 3]);
    let error = machine.begin(&mut store, 0, &[2, 2]).unwrap_err();
    assert_eq!(error, Error::Refused("u and v are the same node".into()));
}
