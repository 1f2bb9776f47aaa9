//! Generated cases of the four problems, and answers by brute force that share no code with the
//! learned structures.

use std::fmt::Write;

use pgn_structures::Rng;

/// A tree or a set of edges of some kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Random,
    Path,
    AlmostPath,
    Star,
}

pub const KINDS: [Kind; 4] = [Kind::Random, Kind::Path, Kind::AlmostPath, Kind::Star];

/// The edges of a tree, with its nodes in a random order.
pub fn tree(kind: Kind, nodes: u32, rng: &mut Rng) -> Vec<(u32, u32)> {
    let names = shuffled(nodes, rng);
    let parent = |node: u32, rng: &mut Rng| match kind {
        Kind::Random => rng.below(node),
        Kind::Path => node - 1,
        Kind::AlmostPath => node - 1 - rng.below(node.min(3)),
        Kind::Star => 0,
    };
    let mut edges: Vec<(u32, u32)> =
        (1..nodes).map(|node| (names[node as usize], names[parent(node, rng) as usize])).collect();
    for place in (1..edges.len()).rev() {
        edges.swap(place, rng.below(place as u32 + 1) as usize);
    }
    edges
}

pub fn shuffled(count: u32, rng: &mut Rng) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..count).collect();
    for place in (1..numbers.len()).rev() {
        numbers.swap(place, rng.below(place as u32 + 1) as usize);
    }
    numbers
}

/// An input of `unionfind`, and its output: a label per node, changed one by one.
pub fn unionfind(kind: Kind, nodes: u32, queries: u32, rng: &mut Rng) -> (String, String) {
    let mut text = format!("{nodes} {queries}\n");
    let mut answers = String::new();
    let mut labels: Vec<u32> = (0..nodes).collect();
    let edges = tree(kind, nodes, rng);
    for query in 0..queries {
        let ask = rng.below(2);
        let (u, v) = match edges.get(query as usize) {
            Some(&edge) if ask == 0 => edge,
            _ => (rng.below(nodes), rng.below(nodes)),
        };
        let _ = writeln!(text, "{ask} {u} {v}");
        let (from, to) = (labels[u as usize], labels[v as usize]);
        if ask == 1 {
            let _ = writeln!(answers, "{}", u8::from(from == to));
        } else {
            labels.iter_mut().filter(|label| **label == from).for_each(|label| *label = to);
        }
    }
    (text, answers)
}

/// An input of `dynamic_tree_vertex_add_path_sum`, and its output by depth-first search.
pub fn path_sum(kind: Kind, nodes: u32, queries: u32, rng: &mut Rng) -> (String, String) {
    let mut edges = tree(kind, nodes, rng);
    let mut values: Vec<i64> = (0..nodes).map(|_| i64::from(rng.below(1000))).collect();
    let words: Vec<String> = values.iter().map(i64::to_string).collect();
    let mut text = format!("{nodes} {queries}\n{}\n", words.join(" "));
    edges.iter().for_each(|(u, v)| {
        let _ = writeln!(text, "{u} {v}");
    });
    let mut answers = String::new();
    for _ in 0..queries {
        match rng.below(3) {
            0 if nodes > 1 => {
                let (u, v) = edges.swap_remove(rng.below(edges.len() as u32) as usize);
                let side: Vec<u32> =
                    (0..nodes).filter(|&node| path(&edges, nodes, u, node).is_some()).collect();
                let rest: Vec<u32> = (0..nodes).filter(|node| !side.contains(node)).collect();
                let w = side[rng.below(side.len() as u32) as usize];
                let x = rest[rng.below(rest.len() as u32) as usize];
                let (w, x) = if rng.below(2) == 0 { (w, x) } else { (x, w) };
                edges.push((w, x));
                let _ = writeln!(text, "0 {v} {u} {w} {x}");
            }
            1 => {
                let (node, x) = (rng.below(nodes), i64::from(rng.below(2000)) - 1000);
                values[node as usize] += x;
                let _ = writeln!(text, "1 {node} {x}");
            }
            _ => {
                let (u, v) = (rng.below(nodes), rng.below(nodes));
                let along = path(&edges, nodes, u, v).unwrap();
                let sum: i64 = along.iter().map(|&node| values[node as usize]).sum();
                let _ = writeln!(text, "2 {u} {v}");
                let _ = writeln!(answers, "{sum}");
            }
        }
    }
    (text, answers)
}

/// The nodes from u to v.
fn path(edges: &[(u32, u32)], nodes: u32, u: u32, v: u32) -> Option<Vec<u32>> {
    let mut from = vec![None; nodes as usize];
    from[u as usize] = Some(u);
    let mut open = vec![u];
    while let Some(node) = open.pop() {
        for &(a, b) in edges {
            for (a, b) in [(a, b), (b, a)] {
                if a == node && from[b as usize].is_none() {
                    from[b as usize] = Some(a);
                    open.push(b);
                }
            }
        }
    }
    let mut along = vec![v];
    while along[along.len() - 1] != u {
        along.push(from[along[along.len() - 1] as usize]?);
    }
    Some(along)
}

/// Weighted edges: those of a tree and others, all weights different.
pub fn graph(kind: Kind, nodes: u32, count: u32, rng: &mut Rng) -> Vec<(u32, u32, u32)> {
    let mut weights = shuffled(3 * count, rng);
    weights.truncate(count as usize);
    if rng.below(3) == 0 {
        // Every edge that closes a cycle replaces one.
        weights.sort_unstable_by_key(|&weight| std::cmp::Reverse(weight));
    }
    let edges = tree(kind, nodes, rng);
    (0..count as usize)
        .map(|index| {
            let any = (rng.below(nodes), rng.below(nodes));
            let (u, v) = *edges.get(index).unwrap_or(&any);
            (u, v, weights[index] + 1)
        })
        .collect()
}

pub fn graph_text(nodes: u32, edges: &[(u32, u32, u32)]) -> String {
    let mut text = format!("{nodes} {}\n", edges.len());
    for (u, v, w) in edges {
        let _ = writeln!(text, "{u} {v} {w}");
    }
    text
}

/// Which edges are in the minimum spanning forest of the first `count` edges: those that are not
/// the heaviest of a cycle, by search among lighter ones.
pub fn forest(nodes: u32, edges: &[(u32, u32, u32)]) -> Vec<usize> {
    (0..edges.len())
        .filter(|&index| {
            let (u, v, weight) = edges[index];
            let lighter: Vec<(u32, u32)> =
                edges.iter().filter(|edge| edge.2 < weight).map(|&(u, v, _)| (u, v)).collect();
            u != v && path(&lighter, nodes, u, v).is_none()
        })
        .collect()
}

/// The output of `incremental_minimum_spanning_forest`: what is in one forest and not in the next.
pub fn leaving(nodes: u32, edges: &[(u32, u32, u32)]) -> String {
    let mut before: Vec<usize> = Vec::new();
    let mut words = Vec::new();
    for count in 1..=edges.len() {
        let after = forest(nodes, &edges[..count]);
        let candidates = before.iter().copied().chain([count - 1]);
        let gone: Vec<usize> = candidates.filter(|edge| !after.contains(edge)).collect();
        assert!(gone.len() <= 1);
        words.push(gone.first().map_or("-1".to_owned(), usize::to_string));
        before = after;
    }
    words.join(" ") + "\n"
}
