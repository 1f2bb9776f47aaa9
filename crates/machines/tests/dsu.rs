//! The program `dsu` against the classical structure.

use std::sync::Arc;

use pgn_machines::programs::dsu;
use pgn_machines::{Machine, Outcome, Store};
use pgn_structures::{Dsu, Node, Operation, Rng, Visited};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn same_pointers_answers_and_visited_nodes(seed: u64, nodes in 2usize..40) {
        let machine = Machine::new(Arc::new(dsu())).unwrap();
        let mut rng = Rng::new([seed, 0, 0, 0]);
        let priorities: Vec<f32> = (0..nodes).map(|_| rng.unit_f32()).collect();
        let mut classical = Dsu::new(&priorities);
        let mut by_view = Store::new(machine.signature(), &priorities);
        let mut plain = by_view.clone();
        let query_union = machine.operation("query_union").unwrap();
        for _ in 0..3 * nodes {
            let Operation { u, v, .. } = Operation::sample(nodes as Node, &mut rng);
            let mut visited = Visited::new(nodes);
            let answer = classical.query_union_with(u, v, &mut visited).unwrap();
            let mut policy = |view: &_| machine.action(view).unwrap();
            let outcome = machine.run(&mut by_view, query_union, &[u, v], &mut policy).unwrap();
            prop_assert_eq!(outcome, Outcome::Answer(answer));
            prop_assert_eq!(by_view.visited().nodes(), visited.nodes());
            let outcome = machine.run_program(&mut plain, query_union, &[u, v]).unwrap();
            prop_assert_eq!(outcome, Outcome::Answer(answer));
            prop_assert_eq!(plain.visited().nodes(), visited.nodes());
            prop_assert_eq!(plain.words(), by_view.words());
            for node in 0..nodes as Node {
                prop_assert_eq!(machine.program().node_pointer(&plain, node), classical.pointer(node));
            }
        }
    }
}
