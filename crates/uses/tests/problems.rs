//! The four problems, with the committed machines, against brute force and against the structures
//! written by hand.

mod cases;

use cases::{KINDS, Kind, forest, graph, graph_text, leaving, path_sum, unionfind};
use pgn_lab::machine::{MachineRun, Mode};
use pgn_structures::{Dsu, LinkCutTree, Rng};
use pgn_uses::{Edge, OnlineForest, Problem, UnionFind, kruskal};

fn answer(problem: Problem, mode: Mode, input: &str) -> String {
    let run = MachineRun::built_in(problem.machine()).unwrap();
    let solution = problem.solve(&run, mode, input.as_bytes()).unwrap();
    String::from_utf8(solution.output).unwrap()
}

/// 60 cases of every kind and size, and for each a generator of its own.
fn small_cases(mut check: impl FnMut(Kind, u32, &mut Rng)) {
    for case in 0..60u64 {
        let mut rng = Rng::new([case, 16, 0, 0]);
        let nodes = 1 + rng.below(1 + case as u32 / 2);
        check(KINDS[case as usize % KINDS.len()], nodes, &mut rng);
    }
}

#[test]
fn unionfind_is_right() {
    let run = MachineRun::built_in("dsu").unwrap();
    small_cases(|kind, nodes, rng| {
        let (input, expected) = unionfind(kind, nodes, 4 * nodes, rng);
        let found = Problem::UnionFind.solve(&run, Mode::Compiled, input.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(found.output).unwrap(), expected, "{input}");
        assert_eq!(found.operations, u64::from(4 * nodes));
    });
}

#[test]
fn path_sums_are_right() {
    let run = MachineRun::built_in("lct").unwrap();
    small_cases(|kind, nodes, rng| {
        let (input, expected) = path_sum(kind, nodes, 3 * nodes, rng);
        let found = Problem::PathSum.solve(&run, Mode::Compiled, input.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(found.output).unwrap(), expected, "{input}");
    });
}

#[test]
fn incremental_forests_are_right() {
    let run = MachineRun::built_in("lct").unwrap();
    small_cases(|kind, nodes, rng| {
        let edges = graph(kind, nodes, 3 * nodes, rng);
        let input = graph_text(nodes, &edges);
        let found = Problem::IncrementalForest.solve(&run, Mode::Compiled, input.as_bytes());
        let found = String::from_utf8(found.unwrap().output).unwrap();
        assert_eq!(found, leaving(nodes, &edges), "{input}");
    });
}

#[test]
fn spanning_trees_are_right() {
    let run = MachineRun::built_in("dsu").unwrap();
    small_cases(|kind, nodes, rng| {
        let edges = graph(kind, nodes, 3 * nodes, rng);
        let input = graph_text(nodes, &edges);
        let found = Problem::SpanningTree.solve(&run, Mode::Compiled, input.as_bytes()).unwrap();
        let found = String::from_utf8(found.output).unwrap();
        let numbers: Vec<usize> =
            found.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let expected = forest(nodes, &edges);
        let weight: usize = expected.iter().map(|&edge| edges[edge].2 as usize).sum();
        let mut chosen = numbers[1..].to_vec();
        chosen.sort_unstable();
        assert_eq!((numbers[0], chosen), (weight, expected), "{input}");
    });
}

#[test]
fn all_modes_answer_alike() {
    let mut rng = Rng::new([7, 16, 0, 0]);
    let edges = graph(Kind::Random, 12, 30, &mut rng);
    let inputs = [
        unionfind(Kind::Random, 12, 40, &mut rng).0,
        path_sum(Kind::AlmostPath, 12, 40, &mut rng).0,
        graph_text(12, &edges),
        graph_text(12, &edges),
    ];
    for (problem, input) in Problem::ALL.into_iter().zip(inputs) {
        let compiled = answer(problem, Mode::Compiled, &input);
        assert!(!compiled.trim().is_empty());
        for mode in [Mode::Network, Mode::Memoised] {
            assert_eq!(answer(problem, mode, &input), compiled, "{}", problem.name());
        }
    }
}

/// As large as the judge's, against the structures written by hand and petgraph.
#[test]
fn large_cases_are_right() {
    use petgraph::unionfind::UnionFind as Petgraph;
    let mut rng = Rng::new([8, 16, 0, 0]);
    let nodes = 200_000;
    let mut text = format!("{nodes} {nodes}\n");
    let (mut expected, mut sets) = (String::new(), Petgraph::new(nodes as usize));
    for _ in 0..nodes {
        let (kind, u, v) = (rng.below(2), rng.below(nodes), rng.below(nodes));
        text += &format!("{kind} {u} {v}\n");
        match kind {
            0 => {
                sets.union(u as usize, v as usize);
            }
            _ => expected += if sets.equiv(u as usize, v as usize) { "1\n" } else { "0\n" },
        }
    }
    assert!(answer(Problem::UnionFind, Mode::Compiled, &text) == expected);

    let nodes = 30_000;
    let edges = graph(Kind::AlmostPath, nodes, 90_000, &mut rng);
    let input = graph_text(nodes, &edges);
    let edges: Vec<Edge<u32>> = edges.iter().map(|&(u, v, weight)| Edge { u, v, weight }).collect();
    let by_hand = LinkCutTree::with_values(&OnlineForest::<(), u32>::values(nodes as usize));
    let mut online = OnlineForest::new(by_hand, nodes as usize);
    let leaves: Vec<String> = edges
        .iter()
        .enumerate()
        .map(|(index, &edge)| match online.insert(edge).unwrap() {
            pgn_uses::Inserted::Joined => "-1".to_owned(),
            pgn_uses::Inserted::Replaced(other) => other.to_string(),
            pgn_uses::Inserted::Rejected => index.to_string(),
        })
        .collect();
    let found = answer(Problem::IncrementalForest, Mode::Compiled, &input);
    assert!(found.trim_end() == leaves.join(" "));

    // What is left is the minimum spanning forest, whichever way it is found.
    let mut by_kruskal = kruskal(&mut Dsu::with_seed(nodes as usize, 1), &edges).unwrap();
    let mut left = online.edges().to_vec();
    by_kruskal.sort_unstable();
    left.sort_unstable();
    assert!(by_kruskal == left);
    let found = answer(Problem::SpanningTree, Mode::Compiled, &input);
    let weight: u64 = left.iter().map(|&edge| u64::from(edges[edge].weight)).sum();
    assert_eq!(found.lines().next().unwrap(), weight.to_string());
    let mut chosen: Vec<usize> =
        found.lines().nth(1).unwrap().split(' ').map(|word| word.parse().unwrap()).collect();
    chosen.sort_unstable();
    assert!(chosen == left);
    assert!(UnionFind::same(&mut Dsu::with_seed(2, 1), 1, 1).unwrap());
}

#[test]
fn wrong_input_is_named_with_its_line() {
    let wrong = [
        (Problem::UnionFind, "", "line 1: the input ends here; expected N, a whole number from 1"),
        (
            Problem::UnionFind,
            "3 1\n2 0 1\n",
            "line 2: found `2`; expected t, a whole number from 0",
        ),
        (
            Problem::UnionFind,
            "3 1\n0 0 3\n",
            "line 2: found `3`; expected v, a whole number from 0",
        ),
        (Problem::UnionFind, "3 1\n0 0 1\n\n7", "line 4: found `7`; expected the end of the input"),
        (Problem::PathSum, "3 0\n1 2 3\n0 1\n1 0\n", "line 4: an edge between 1 and 0 would close"),
        (
            Problem::PathSum,
            "2 1\n1 2\n0 1\n0 0 0 0 1\n",
            "line 4: there is no edge between 0 and 0",
        ),
        (Problem::PathSum, "2 1\n1 x\n", "line 2: found `x`; expected a, a whole number from"),
        (Problem::IncrementalForest, "2 1\n0 1 -1\n", "line 2: found `-1`; expected w, a whole"),
        (Problem::IncrementalForest, "2 2\n0 1 1\n", "line 3: the input ends here; expected u"),
        (
            Problem::SpanningTree,
            "2 1\n0 1 1.5\n",
            "line 2: found `1.5`; expected c, a whole number",
        ),
    ];
    for (problem, input, message) in wrong {
        let run = MachineRun::built_in(problem.machine()).unwrap();
        let error = problem.solve(&run, Mode::Compiled, input.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let dsu = MachineRun::built_in("dsu").unwrap();
    let error = Problem::PathSum.solve(&dsu, Mode::Compiled, b"1 0\n0\n").unwrap_err().to_string();
    assert!(error.contains("is no link/cut tree with values"), "{error}");
}
