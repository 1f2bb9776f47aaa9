//! The program `lct` against the classical link/cut tree: every field, answer and visited node.

use pgn_machines::{Machine, Outcome, Store, programs};
use pgn_structures::{LinkCutTree, Node, OperationError, PointerStructure, Rng, Visited};
use proptest::prelude::*;

/// `up`, `left`, `right` and `flip` of every node, nil as the node itself.
fn fields_of(tree: &LinkCutTree, nodes: usize) -> Vec<Vec<Node>> {
    let mut rows = vec![vec![0; nodes]; 3];
    for (field, row) in rows.iter_mut().enumerate() {
        tree.pointer_field(field, row).unwrap();
    }
    let mut bits = vec![0; nodes];
    tree.bit_field(0, &mut bits).unwrap();
    rows.push(bits.into_iter().map(Node::from).collect());
    rows
}

fn fields_in(store: &Store, nodes: usize) -> Vec<Vec<Node>> {
    let nodes = 0..nodes as Node;
    let pointers = |field| nodes.clone().map(|n| store.pointer(n, field).unwrap_or(n)).collect();
    let mut rows: Vec<Vec<Node>> = (0..3).map(pointers).collect();
    rows.push(nodes.map(|node| Node::from(store.bit(node, 0))).collect());
    rows
}

fn outcome_of(result: Result<Outcome, OperationError>) -> Outcome {
    result.unwrap_or_else(|error| {
        Outcome::Refused(
            match error {
                OperationError::NotARoot { .. } => "u is not the root of its tree",
                OperationError::AlreadyConnected { .. } => "u and v are already connected",
                OperationError::IsARoot { .. } => "u is the root of its tree",
                OperationError::SameNode { .. } => "u and v are the same node",
                _ => "",
            }
            .to_string(),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn query_toggle_is_the_same_in_every_field(seed: u64, nodes in 2usize..60) {
        let machine = Machine::new(programs::named("lct").unwrap()).unwrap();
        let toggle = machine.operation("query_toggle").unwrap();
        let mut rng = Rng::new([seed, 1, 0, 0]);
        let priorities: Vec<f32> = (0..nodes).map(|_| rng.unit_f32()).collect();
        let mut classical = LinkCutTree::new(&priorities);
        let mut store = Store::new(machine.signature(), &priorities);
        for _ in 0..4 * nodes {
            let operation = pgn_structures::Operation::sample(nodes as Node, &mut rng);
            let (u, v) = (operation.u, operation.v);
            let mut visited = Visited::new(nodes);
            let answer = classical.query_toggle_with(u, v, &mut visited).unwrap();
            let outcome = machine.run_program(&mut store, toggle, &[u, v]).unwrap();
            prop_assert_eq!(outcome, Outcome::Answer(answer));
            prop_assert_eq!(fields_in(&store, nodes), fields_of(&classical, nodes));
            for node in 0..nodes as Node {
                prop_assert_eq!(store.visited().contains(node), visited.contains(node));
                prop_assert_eq!(machine.program().node_pointer(&store, node),
                    classical.pointer(node));
            }
        }
    }

    #[test]
    fn all_operations_are_the_same_in_every_field(seed: u64, nodes in 2usize..25) {
        let machine = Machine::new(programs::named("lct").unwrap()).unwrap();
        let mut rng = Rng::new([seed, 2, 0, 0]);
        let priorities: Vec<f32> = (0..nodes).map(|_| rng.unit_f32()).collect();
        let mut classical = LinkCutTree::new(&priorities);
        let mut store = Store::new(machine.signature(), &priorities);
        for _ in 0..10 * nodes {
            let (u, v) = (rng.below(nodes as Node), rng.below(nodes as Node));
            let operation = rng.below(6) as usize;
            let (result, arguments) = match operation {
                0 => (classical.query_toggle(u, v).map(Outcome::Answer), vec![u, v]),
                1 => (classical.link(u, v).map(|()| Outcome::Done), vec![u, v]),
                2 => (classical.cut(u).map(|()| Outcome::Done), vec![u]),
                3 => (classical.connected(u, v).map(Outcome::Answer), vec![u, v]),
                4 => (classical.find_root(u).map(|root| Outcome::Node(Some(root))), vec![u]),
                _ => (classical.evert(u).map(|()| Outcome::Done), vec![u]),
            };
            let outcome = machine.run_program(&mut store, operation, &arguments).unwrap();
            prop_assert_eq!(outcome, outcome_of(result));
            prop_assert_eq!(fields_in(&store, nodes), fields_of(&classical, nodes));
        }
    }
}

/// Chains: the worst case for splay trees, and for anything that counts steps.
#[test]
fn a_long_chain() {
    let nodes = 20_000;
    let machine = Machine::new(programs::named("lct").unwrap()).unwrap();
    let operation = |name: &str| machine.operation(name).unwrap();
    let mut classical = LinkCutTree::new(&vec![0.5; nodes]);
    let mut store = Store::new(machine.signature(), &vec![0.5; nodes]);
    for node in 1..nodes as Node {
        classical.link(node - 1, node).unwrap();
        let arguments = [node - 1, node];
        machine.run_program(&mut store, operation("link"), &arguments).unwrap();
    }
    for u in [0, 7, nodes as Node - 1, 100] {
        classical.evert(u).unwrap();
        machine.run_program(&mut store, operation("evert"), &[u]).unwrap();
        assert!(fields_in(&store, nodes) == fields_of(&classical, nodes));
    }
}
