//! Kruskal's algorithm against Prim's, which knows no disjoint sets; and input graphs in files.

use pgn_structures::{Dataset, Edge, Sampling, SequenceStream, Split, Task};

fn sampled(nodes: usize, seed: u64) -> Dataset {
    let task = Task::named("kruskal").unwrap();
    let sampling = Sampling { count: 5, seed, split: Split::Test, ..Sampling::paper(nodes) };
    Dataset::sample(&task, &sampling).unwrap()
}

/// The edges of the minimum spanning forest, by Prim's algorithm from every node that is left.
fn prim(nodes: usize, edges: &[Edge]) -> Vec<(u32, u32)> {
    let mut reached = vec![false; nodes];
    let mut forest = Vec::new();
    for start in 0..nodes {
        reached[start] = true;
        let leaves =
            |reached: &[bool], edge: &Edge| reached[edge.u as usize] != reached[edge.v as usize];
        // Only the tree that grows from `start` is left by an edge: all others are complete.
        while let Some(lightest) = edges
            .iter()
            .filter(|edge| leaves(&reached, edge))
            .min_by(|a, b| a.weight.total_cmp(&b.weight))
        {
            reached[lightest.u as usize] = true;
            reached[lightest.v as usize] = true;
            forest.push((lightest.u, lightest.v));
        }
    }
    forest.sort_unstable();
    forest
}

#[test]
fn answers_make_up_the_minimum_spanning_forest() {
    for nodes in [2, 3, 7, 20, 60] {
        for seed in 0..20 {
            for one in sampled(nodes, seed).sequences() {
                let taken =
                    one.operations.iter().zip(one.answers).filter(|(_, answer)| **answer == 1);
                let mut taken: Vec<(u32, u32)> = taken.map(|(edge, _)| (edge.u, edge.v)).collect();
                taken.sort_unstable();
                assert_eq!(taken, prim(nodes, one.edges), "{nodes} nodes, seed {seed}");
            }
        }
    }
}

#[test]
fn operations_are_the_edges_in_order_of_weight() {
    for one in sampled(20, 1).sequences() {
        assert_eq!(one.edges.len(), 30);
        let mut edges = one.edges.to_vec();
        edges.sort_by(|a, b| a.weight.total_cmp(&b.weight));
        assert!(edges.windows(2).all(|pair| pair[0].weight < pair[1].weight));
        let pairs = one.operations.iter().map(|operation| (operation.u, operation.v));
        assert!(edges.iter().map(|edge| (edge.u, edge.v)).eq(pairs));
        let mut ends: Vec<_> =
            edges.iter().map(|edge| (edge.u.min(edge.v), edge.u.max(edge.v))).collect();
        ends.sort_unstable();
        ends.dedup();
        assert_eq!(ends.len(), 30, "no edge is there twice");
    }
    assert_ne!(sampled(20, 1).edges, sampled(20, 2).edges);
}

#[test]
fn one_operation_at_a_time() {
    let task = Task::named("kruskal").unwrap();
    let sampling = Sampling { count: 3, ..Sampling::paper(12) };
    let set = Dataset::sample(&task, &sampling).unwrap();
    for (index, one) in set.sequences().enumerate() {
        let mut stream = SequenceStream::new(&task, &sampling, index as u64).unwrap();
        for (&operation, &answer) in one.operations.iter().zip(one.answers) {
            assert_eq!(stream.advance().unwrap(), (operation, answer == 1));
        }
    }
}

#[test]
fn graphs_are_kept_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set.safetensors");
    let set = sampled(9, 3);
    set.save(&path).unwrap();
    let read = Dataset::load(&path).unwrap();
    assert_eq!(read, set);
    assert!(read.agrees_with(&Task::named("kruskal").unwrap()).unwrap());
    let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
    assert!(text.contains("\"format_version\":\"3\""), "graphs have a version of their own");

    let mut wrong = set.clone();
    wrong.edges[4].v = 9;
    assert!(wrong.check().unwrap_err().to_string().contains("an edge of an input graph"));
    wrong.edges[4] = Edge { weight: f32::NAN, ..set.edges[4] };
    assert!(wrong.check().unwrap_err().to_string().contains("has the weight NaN"));
}
