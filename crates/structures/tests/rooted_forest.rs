//! The rooted forest and operand-ordered linking against structures that share no code with them.

use pgn_structures::{
    Curriculum, Dataset, Dsu, LinkCutTree, Linking, Node, Operation, OwnedTransition,
    PointerStructure, Rng, RootedForest, Sampling, Split, Task, Visited, forest, random_forest,
};
use proptest::prelude::*;

fn operations(n: u32) -> impl Strategy<Value = Vec<Operation>> {
    let pair = (0..n, 0..n - 1).prop_map(|(u, v)| Operation::new(u, v + u32::from(v >= u)));
    prop::collection::vec(pair, 1..200)
}

proptest! {
    /// The forest is given operands in the order query-toggle swaps them into; what is left must
    /// be the same trees, so all answers agree.
    #[test]
    fn the_forest_answers_as_the_link_cut_tree(
        operations in operations(12),
        seed in any::<u64>(),
    ) {
        let mut rng = Rng::new([seed, 0, 0, 0]);
        let priorities: Vec<f32> = (0..12).map(|_| rng.unit_f32()).collect();
        let mut tree = LinkCutTree::new(&priorities);
        let mut forest = RootedForest::with_nodes(12);
        for Operation { u, v, .. } in operations {
            let swap = priorities[u as usize] < priorities[v as usize];
            let (first, second) = if swap { (v, u) } else { (u, v) };
            prop_assert_eq!(tree.query_toggle(u, v)?, forest.toggle(first, second)?);
            for node in 0..12 {
                prop_assert_eq!(tree.find_root(node)?, forest.find_root(node)?);
            }
        }
    }

    /// Linking by operands or by priority: the same sets, so the same answers.
    #[test]
    fn linking_by_operands_changes_no_answer(operations in operations(15)) {
        let priorities: Vec<f32> = (0..15).map(|i| (i * 7 % 15) as f32 / 15.0).collect();
        let mut by_priority = Dsu::new(&priorities);
        let mut by_operands = Dsu::linking(Linking::Operands);
        by_operands.reset(&priorities);
        for Operation { u, v, .. } in operations {
            let under = (by_operands.find(u)?, by_operands.find(v)?);
            prop_assert_eq!(by_priority.query_union(u, v)?, by_operands.query_union(u, v)?);
            prop_assert_eq!(by_operands.pointer(under.0), under.1);
        }
    }

    /// A pointer only moves on a visited node, and only to a visited node: what candidate sets of
    /// visited nodes rely on.
    #[test]
    fn pointers_move_only_among_visited_nodes(
        seed in any::<u64>(),
        task in prop::sample::select(vec!["dsu", "dsu-ordered", "forest"]),
    ) {
        let task = Task::named(task)?;
        for index in 0..20 {
            let one = Curriculum::of_size(13).sample(&task, seed, 0, index)?;
            let one = one.get();
            let Operation { u, v, .. } = one.operation;
            prop_assert_eq!((one.mask[u as usize], one.mask[v as usize]), (0, 0));
            for (node, (&before, &after)) in one.before.iter().zip(one.after).enumerate() {
                if before != after {
                    prop_assert_eq!(one.mask[node], 0);
                    prop_assert_eq!(one.mask[after as usize], 0);
                }
            }
        }
    }
}

/// Everting and cutting done on plain edge lists instead of pointers.
#[test]
fn toggles_agree_with_edge_lists() {
    let n = 9;
    let mut rng = Rng::new([3, 0, 0, 0]);
    let mut forest = RootedForest::with_nodes(n);
    let mut edges: Vec<(Node, Node)> = Vec::new();
    let path = |edges: &[(Node, Node)], u: Node, v: Node| -> Option<Vec<Node>> {
        let mut from = vec![None; n];
        from[u as usize] = Some(u);
        let mut queue = vec![u];
        while let Some(node) = queue.pop() {
            for &(a, b) in edges {
                for (a, b) in [(a, b), (b, a)] {
                    if a == node && from[b as usize].is_none() {
                        from[b as usize] = Some(a);
                        queue.push(b);
                    }
                }
            }
        }
        let (mut path, mut node) = (vec![v], v);
        while node != u {
            node = from[node as usize]?;
            path.push(node);
        }
        Some(path)
    };
    for _ in 0..3000 {
        let Operation { u, v, .. } = Operation::sample(n as Node, &mut rng);
        let before = path(&edges, u, v);
        let answer = forest.toggle(u, v).unwrap();
        assert_eq!(answer, before.is_some());
        match before {
            // v first, then its parent when u is the root.
            Some(path) => {
                edges.retain(|&(a, b)| (a, b) != (path[0], path[1]) && (b, a) != (path[0], path[1]))
            }
            None => edges.push((u, v)),
        }
        let pointing = (0..n as Node).filter(|&node| forest.pointer(node) != node);
        let mut now: Vec<_> = pointing.map(|node| (node, forest.pointer(node))).collect();
        let ordered = |&(a, b): &(Node, Node)| (a.min(b), a.max(b));
        let mut expected: Vec<_> = edges.iter().map(ordered).collect();
        now.iter_mut().for_each(|edge| *edge = ordered(edge));
        now.sort_unstable();
        expected.sort_unstable();
        assert_eq!(now, expected);
    }
}

#[test]
fn visited_nodes_are_both_paths_to_a_root() {
    let mut rng = Rng::new([5, 0, 0, 0]);
    for _ in 0..500 {
        let pointers = random_forest(11, 1.0, &mut rng);
        let Operation { u, v, .. } = Operation::sample(11, &mut rng);
        let mut expected = [u, v].to_vec();
        for mut node in [u, v] {
            while pointers[node as usize] != node {
                node = pointers[node as usize];
                expected.push(node);
            }
        }
        expected.sort_unstable();
        expected.dedup();
        for mut structure in
            [Task::named("forest").unwrap().make(), Task::named("dsu-ordered").unwrap().make()]
        {
            structure.reset(&[0.0; 11]);
            assert!(structure.start_from(&pointers));
            let mut visited = Visited::new(11);
            structure.apply(Operation::new(u, v), &mut visited).unwrap();
            let mut nodes = visited.nodes().to_vec();
            nodes.sort_unstable();
            assert_eq!(nodes, expected);
        }
    }
}

#[test]
fn random_forests_are_forests_and_deep_when_asked() {
    let mut rng = Rng::new([1, 0, 0, 0]);
    let mut deepest = |depth: f64| -> f64 {
        let of_one = |rng: &mut Rng| {
            let pointers = random_forest(20, depth, rng);
            let depths = forest::depths(&pointers);
            // On a cycle a node has depth 0 without pointing to itself.
            for (node, (&depth, &pointer)) in (0..).zip(depths.iter().zip(&pointers)) {
                assert_eq!(depth == 0, pointer == node);
            }
            f64::from(depths.into_iter().max().unwrap())
        };
        (0..400).map(|_| of_one(&mut rng)).sum::<f64>() / 400.0
    };
    let (shallow, deep) = (deepest(0.0), deepest(1.0));
    assert!(shallow < 5.0, "{shallow}");
    assert!(deep > 8.0, "{deep}");
}

#[test]
fn transitions_depend_on_their_key_alone() {
    let task = Task::named("forest").unwrap();
    let curriculum = Curriculum { nodes: vec![5, 20], ..Curriculum::of_size(20) };
    let draw = |seed, step, index| curriculum.sample(&task, seed, step, index).unwrap();
    assert_eq!(draw(1, 2, 3), draw(1, 2, 3));
    assert_ne!(draw(1, 2, 3), draw(1, 2, 4));
    assert_ne!(draw(1, 2, 3), draw(1, 3, 3));
    assert_ne!(draw(1, 2, 3), draw(2, 2, 3));
    let sizes: Vec<usize> = (0..40).map(|index| draw(1, 0, index).get().before.len()).collect();
    assert!(sizes.contains(&5) && sizes.contains(&20));
}

/// A transition is what a sequence has at that place.
#[test]
fn transitions_agree_with_sequences() {
    for name in ["forest", "dsu-ordered"] {
        let task = Task::named(name).unwrap();
        let sampling = Sampling { count: 3, split: Split::Test, ..Sampling::paper(20) };
        let set = Dataset::sample(&task, &sampling).unwrap();
        for sequence in set.sequences() {
            for t in 1..sequence.ops() {
                let before = sequence.pointers_after(t - 1);
                let one =
                    OwnedTransition::of(&task, sequence.priorities, before, sequence.operations[t])
                        .unwrap();
                assert_eq!(one.get().answer, sequence.answers[t]);
                assert_eq!(one.get().mask, sequence.mask(t));
                assert_eq!(one.get().after, sequence.pointers_after(t));
            }
        }
    }
}

#[test]
fn a_link_cut_tree_cannot_start_from_pointers() {
    let task = Task::named("lct").unwrap();
    let error = OwnedTransition::of(&task, &[0.0; 2], &[0, 1], Operation::new(0, 1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the structure `lct` has hidden state: `pgn-exact` cannot learn it; use `dsu`, `dsu-ordered` \
         or `forest`"
    );
}
