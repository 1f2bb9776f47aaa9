//! The judge's problems and the spanning forests of graphs without anything learned, with the
//! time that each takes: what learned structures are compared with.
//!
//! ```text
//! by_hand PROBLEM < input > output                     seconds on standard error, as JSON
//! by_hand --graph FILE [MODE,...]                      all ways to a forest, as JSON
//! ```

use std::io::{Read, Write};
use std::path::Path;
use std::time::Instant;

use pgn_lab::machine::{MachineRun, Mode};
use pgn_structures::{Dsu, LinkCutTree};
use pgn_uses::problems::spanning_forest;
use pgn_uses::{Edge, Graph, LearnedForest, OnlineForest, Problem, kruskal};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &words[..] {
        ["--graph", path] => graph(Path::new(path), "compiled"),
        ["--graph", path, modes] => graph(Path::new(path), modes),
        [problem] => {
            let problem: Problem = problem.parse()?;
            let mut input = Vec::new();
            let started = Instant::now();
            std::io::stdin().read_to_end(&mut input)?;
            let output = problem.solve_by_hand(&input)?;
            let seconds = started.elapsed().as_secs_f64();
            std::io::stdout().write_all(&output)?;
            eprintln!("{}", serde_json::json!({ "seconds": seconds }));
            Ok(())
        }
        _ => Err("expected PROBLEM or --graph FILE [MODE,...]".into()),
    }
}

/// Every way to the minimum spanning forest of a graph: weight, edges and seconds.
fn graph(path: &Path, modes: &str) -> Fallible<()> {
    let graph = Graph::read(path)?;
    let (nodes, edges) = (graph.nodes, &graph.edges[..]);
    let mut rows = Vec::new();
    let mut row = |way: &str, started: Instant, forest: Vec<usize>, operations: u64| {
        let seconds = started.elapsed().as_secs_f64();
        let count = forest.len();
        let weight = graph.weight(forest);
        rows.push(serde_json::json!({
            "way": way, "seconds": seconds, "weight": weight, "edges": count,
            "operations": operations,
        }));
    };
    let (dsu, lct) = (MachineRun::built_in("dsu")?, MachineRun::built_in("lct")?);
    for mode in modes.split(',').filter(|mode| !mode.is_empty()) {
        let mode: Mode = mode.parse()?;
        let started = Instant::now();
        let (forest, operations) = spanning_forest(&dsu, mode, nodes, edges)?;
        row(&format!("kruskal, learned, {}", mode.name()), started, forest, operations);
        if mode == Mode::Compiled {
            let started = Instant::now();
            let values = OnlineForest::<(), f64>::values(nodes);
            let mut online = OnlineForest::new(LearnedForest::new(&lct, mode, values)?, nodes);
            insert_all(&mut online, edges)?;
            let operations = online.forest().operations();
            row("online, learned, compiled", started, online.edges().to_vec(), operations);
        }
    }
    let started = Instant::now();
    row("kruskal, by hand", started, kruskal(&mut Dsu::with_seed(nodes, 0), edges)?, 0);
    let started = Instant::now();
    let by_hand = LinkCutTree::with_values(&OnlineForest::<(), f64>::values(nodes));
    let mut online = OnlineForest::new(by_hand, nodes);
    insert_all(&mut online, edges)?;
    row("online, by hand", started, online.edges().to_vec(), 0);
    let theirs = petgraph::graph::UnGraph::<(), (f64, usize)>::from_edges(
        (0..).zip(edges).map(|(index, edge)| (edge.u, edge.v, (edge.weight, index))),
    );
    let started = Instant::now();
    let forest = petgraph::algo::min_spanning_tree(&theirs)
        .filter_map(|element| match element {
            petgraph::data::Element::Edge { weight, .. } => Some(weight.1),
            petgraph::data::Element::Node { .. } => None,
        })
        .collect();
    row("petgraph", started, forest, 0);
    let document = serde_json::json!({ "nodes": nodes, "edges": edges.len(), "rows": rows });
    println!("{document}");
    Ok(())
}

fn insert_all<F: pgn_uses::DynamicForest<pgn_uses::Heaviest<f64>>>(
    online: &mut OnlineForest<F, f64>,
    edges: &[Edge<f64>],
) -> Fallible<()> {
    for &edge in edges {
        online.insert(edge)?;
    }
    Ok(())
}
