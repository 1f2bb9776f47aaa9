//! The checkers of pointers, drawn by hand and against slower ways of finding out.

use pgn_lab::analysis::{
    Chain,
    shape::{Comparison, Shape, components, cycles, diameter},
};
use pgn_structures::{Node, Rng, Task};

/// Who can be reached from whom, by trying everything.
fn reachable(pointers: &[Node]) -> Vec<Vec<bool>> {
    let n = pointers.len();
    let mut reach = vec![vec![false; n]; n];
    for i in 0..n {
        reach[i][i] = true;
        reach[i][pointers[i] as usize] = true;
        reach[pointers[i] as usize][i] = true;
    }
    for via in 0..n {
        for i in 0..n {
            for j in 0..n {
                reach[i][j] |= reach[i][via] && reach[via][j];
            }
        }
    }
    reach
}

/// All shortest paths (Floyd and Warshall).
fn longest_shortest_path(pointers: &[Node]) -> u32 {
    let n = pointers.len();
    let far = n as u32 + 1;
    let mut distance = vec![vec![far; n]; n];
    for i in 0..n {
        let to = pointers[i] as usize;
        (distance[i][to], distance[to][i]) = (1, 1);
    }
    (0..n).for_each(|i| distance[i][i] = 0);
    for via in 0..n {
        for i in 0..n {
            for j in 0..n {
                distance[i][j] = distance[i][j].min(distance[i][via] + distance[via][j]);
            }
        }
    }
    distance.into_iter().flatten().filter(|&steps| steps < far).max().unwrap_or(0)
}

/// Whether following pointers from every node ends.
fn every_find_ends(pointers: &[Node]) -> bool {
    (0..pointers.len()).all(|start| {
        let mut node = start;
        for _ in 0..pointers.len() {
            node = pointers[node] as usize;
        }
        pointers[node] as usize == node
    })
}

#[test]
fn any_pointers_agree_with_trying_everything() {
    let mut rng = Rng::new([11, 0, 0, 0]);
    let (mut with_cycles, mut without) = (0, 0);
    for round in 0..400u32 {
        let n = 1 + round % 12;
        let pointers: Vec<Node> = (0..n).map(|_| rng.below(n)).collect();
        let reach = reachable(&pointers);
        let found = components(&pointers);
        for i in 0..n as usize {
            let lowest = reach[i].iter().position(|&yes| yes).unwrap();
            assert_eq!(found[i] as usize, lowest, "{pointers:?}");
        }
        assert_eq!(diameter(&pointers), longest_shortest_path(&pointers), "{pointers:?}");
        assert_eq!(cycles(&pointers) == 0, every_find_ends(&pointers), "{pointers:?}");
        if cycles(&pointers) == 0 {
            without += 1
        } else {
            with_cycles += 1
        }
        let connected: usize = reach.iter().flatten().filter(|&&yes| yes).count();
        let other: Vec<Node> = (0..n).map(|_| rng.below(n)).collect();
        let comparison = Comparison::of(&pointers, &other);
        assert_eq!(comparison.pairs_in_model as usize, (connected - n as usize) / 2);
        let same = reach == reachable(&other);
        assert_eq!(comparison.same_components, same);
        assert_eq!(comparison.is_valid(), same && every_find_ends(&pointers));
    }
    assert!(with_cycles > 50 && without > 50, "both kinds were tried");
}

#[test]
fn shapes_by_hand() {
    // 4 → 3 → 2 → 1 → 0: as deep as it is wide.
    let chain = Shape::of(&[0, 0, 1, 2, 3]);
    assert_eq!(chain, Shape { depth: 4, total_depth: 10, diameter: 4 });
    // Two chains that meet: 2 → 1 → 0 ← 3 ← 4.
    let meeting = Shape::of(&[0, 0, 1, 0, 3]);
    assert_eq!(meeting, Shape { depth: 2, total_depth: 6, diameter: 4 });
    // Nobody points to anybody.
    assert_eq!(Shape::of(&[0, 1, 2]), Shape::default());
    // 0 → 1 → 0, and 3 → 2 → 1.
    assert_eq!(Shape::of(&[1, 0, 1, 2]), Shape { depth: 2, total_depth: 3, diameter: 3 });
    assert_eq!(Shape::of(&[]), Shape::default());
}

#[test]
fn validity_by_hand() {
    // Two sets, {0, 1, 2} and {3, 4}.
    let truth = [0, 0, 1, 3, 3];
    let compare = |model: [Node; 5]| Comparison::of(&model, &truth);
    let itself = compare(truth);
    assert!(itself.is_valid());
    assert_eq!((itself.pairs_in_both, itself.pairs_in_truth, itself.pairs_in_model), (4, 4, 4));
    assert!(compare([2, 2, 2, 4, 4]).is_valid(), "other roots, other depths, same sets");
    // A circle in one of the sets, of two and of three nodes.
    for model in [[0, 0, 1, 4, 3], [1, 2, 0, 3, 3]] {
        let circle = compare(model);
        assert!(circle.same_components && !circle.acyclic && !circle.is_valid());
    }
    // One node has gone over to the other set.
    let wrong = compare([0, 0, 3, 3, 3]);
    assert!(!wrong.same_components && wrong.acyclic && !wrong.is_valid());
    assert_eq!((wrong.pairs_in_both, wrong.pairs_in_truth, wrong.pairs_in_model), (2, 4, 4));
    // All in one set, and each on its own.
    let joined = compare([0, 0, 0, 0, 0]);
    assert!(!joined.is_valid());
    assert_eq!((joined.pairs_in_both, joined.pairs_in_model), (4, 10));
    let apart = compare([0, 1, 2, 3, 4]);
    assert!(!apart.is_valid());
    assert_eq!((apart.pairs_in_both, apart.pairs_in_model), (0, 0));
    // As many sets of the same sizes, but others.
    assert!(!compare([0, 3, 0, 3, 0]).same_components);
}

#[test]
fn the_truth_ends_as_one_chain() {
    let truth = Chain::truth(&Task::named("dsu").unwrap(), 9).unwrap();
    for t in 0..8 {
        let shape = Shape::of(truth.sequence(0).pointers_after(t));
        assert_eq!((shape.depth, shape.diameter), (t as u32 + 1, t as u32 + 1));
    }
    assert_eq!(truth.sequence(0).pointers_after(7), [1, 2, 3, 4, 5, 6, 7, 8, 8]);
    assert!(truth.answers.iter().all(|&answer| answer == 1));
}
