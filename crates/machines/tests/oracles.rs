//! Forest, splay tree and heap against what is known to be right.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use pgn_machines::{Machine, Outcome, Store, programs};
use pgn_structures::{Node, Rng, RootedForest, Visited};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn forest(seed: u64, nodes in 2usize..30) {
        let machine = Machine::new(programs::named("forest").unwrap()).unwrap();
        let mut rng = Rng::new([seed, 3, 0, 0]);
        let mut classical = RootedForest::with_nodes(nodes);
        let mut store = Store::new(machine.signature(), &vec![0.0; nodes]);
        for _ in 0..5 * nodes {
            let operation = pgn_structures::Operation::sample(nodes as Node, &mut rng);
            let (u, v) = (operation.u, operation.v);
            match rng.below(4) {
                0 => {
                    let root = classical.find_root(u).unwrap();
                    let outcome = machine.run_program(&mut store, 2, &[u]).unwrap();
                    prop_assert_eq!(outcome, Outcome::Node(Some(root)));
                }
                1 => {
                    classical.evert(u).unwrap();
                    let outcome = machine.run_program(&mut store, 1, &[u]).unwrap();
                    prop_assert_eq!(outcome, Outcome::Done);
                }
                _ => {
                    let mut visited = Visited::new(nodes);
                    let answer = classical.toggle_with(u, v, &mut visited).unwrap();
                    let outcome = machine.run_program(&mut store, 0, &[u, v]).unwrap();
                    prop_assert_eq!(outcome, Outcome::Answer(answer));
                    for node in 0..nodes as Node {
                        prop_assert_eq!(store.visited().contains(node), visited.contains(node));
                    }
                }
            }
            for node in 0..nodes as Node {
                let pointer = machine.program().node_pointer(&store, node);
                prop_assert_eq!(pointer, classical.pointer(node));
            }
        }
    }

    /// Few keys, so that many nodes have the same.
    #[test]
    fn splay_tree(seed: u64, nodes in 2u32..40, keys in 1u32..40) {
        let machine = Machine::new(programs::named("splay").unwrap()).unwrap();
        let mut rng = Rng::new([seed, 4, 0, 0]);
        let ranks: Vec<u32> = (0..nodes).map(|_| rng.below(keys)).collect();
        let mut store = Store::with_ranks(machine.signature(), ranks.clone());
        let mut set = BTreeSet::new();
        for _ in 0..300 {
            let x = 1 + rng.below(nodes - 1);
            let key = ranks[x as usize];
            let operation = rng.below(3) as usize;
            let inside = store.pointer(x, 0).is_some();
            let outcome = machine.run_program(&mut store, operation, &[0, x]).unwrap();
            match (operation, outcome) {
                (0, Outcome::Refused(_)) => prop_assert!(inside),
                (0, Outcome::Answer(new)) => prop_assert_eq!(new, set.insert(key)),
                (1, Outcome::Answer(found)) => prop_assert_eq!(found, set.contains(&key)),
                (2, Outcome::Node(removed)) => {
                    let removed = removed.map(|node| ranks[node as usize]);
                    prop_assert_eq!(removed, set.take(&key));
                }
                other => prop_assert!(false, "{:?}", other),
            }
            let mut inside = Vec::new();
            in_order(&store, store.pointer(0, 1), &mut inside);
            let inside: Vec<u32> = inside.iter().map(|&node| ranks[node as usize]).collect();
            prop_assert!(inside.iter().eq(&set), "{:?} {:?}", inside, set);
        }
    }

    #[test]
    fn heap(seed: u64, nodes in 3u32..60, keys in 1u32..60) {
        let machine = Machine::new(programs::named("heap").unwrap()).unwrap();
        let mut rng = Rng::new([seed, 5, 0, 0]);
        let ranks: Vec<u32> = (0..nodes).map(|_| rng.below(keys)).collect();
        let mut store = Store::with_ranks(machine.signature(), ranks.clone());
        let mut queues = [BinaryHeap::new(), BinaryHeap::new()];
        let mut held = vec![false; nodes as usize];
        for _ in 0..400 {
            let call = machine.program().sample(&store, &mut rng);
            let heap = call.arguments[0] as usize;
            let outcome = machine.run_program(&mut store, call.operation, &call.arguments).unwrap();
            match (call.operation, outcome) {
                (0, Outcome::Done) => {
                    let x = call.arguments[1] as usize;
                    prop_assert!(!std::mem::replace(&mut held[x], true));
                    queues[heap].push(Reverse(ranks[x]));
                }
                (0, Outcome::Refused(_)) => prop_assert!(held[call.arguments[1] as usize]),
                (1, Outcome::Node(least)) => {
                    let expected = queues[heap].pop();
                    prop_assert_eq!(least.map(|node| Reverse(ranks[node as usize])), expected);
                    if let Some(node) = least {
                        prop_assert!(std::mem::replace(&mut held[node as usize], false));
                    }
                }
                (2, Outcome::Done) => {
                    let other = std::mem::take(&mut queues[1 - heap]);
                    queues[heap].extend(other);
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}

fn in_order(store: &Store, node: Option<Node>, nodes: &mut Vec<Node>) {
    if let Some(node) = node {
        in_order(store, store.pointer(node, 1), nodes);
        nodes.push(node);
        in_order(store, store.pointer(node, 2), nodes);
    }
}
