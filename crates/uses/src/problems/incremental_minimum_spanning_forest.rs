//! `incremental_minimum_spanning_forest`: for each new edge, which edge leaves the forest.

use pgn_lab::{
    check_memory,
    machine::{MachineRun, Mode},
};

use super::{Solution, print_line};
use crate::{
    DynamicForest, Edge, Heaviest, Input, Inserted, LearnedForest, OnlineForest, Result, Weight,
};

/// The judge's N is at most 500,000 and M at most 1,000,000; more is fine.
const MOST: usize = 10_000_000;

pub(super) fn solve(run: &MachineRun, mode: Mode, input: &[u8]) -> Result<Solution> {
    let (nodes, edges) = read(input)?;
    online_forest(run, mode, nodes, &edges)
}

pub(super) fn read(input: &[u8]) -> Result<(usize, Vec<Edge<u32>>)> {
    let mut input = Input::new(input);
    let nodes = input.count("N", 1, MOST)?;
    let count = input.count("M", 0, MOST)?;
    let mut edges = Vec::with_capacity(count);
    for _ in 0..count {
        let (u, v) = (input.node("u", nodes)?, input.node("v", nodes)?);
        edges.push(Edge { u, v, weight: input.number("w", 0, i64::from(u32::MAX))? as u32 });
    }
    input.end()?;
    Ok((nodes, edges))
}

/// Adds edges of any weights, not NaN: per edge −1 if it joins two trees, else the edge
/// that is left out, which may be itself. Of equally heavy edges the earlier one stays.
pub fn online_forest<W: Weight>(
    run: &MachineRun,
    mode: Mode,
    nodes: usize,
    edges: &[Edge<W>],
) -> Result<Solution> {
    // Two nodes per node: its value, its key and at least a pointer each.
    let bytes = 2 * (size_of::<Heaviest<W>>() + 2 * size_of::<u32>());
    check_memory(nodes as f64 * bytes as f64, &format!("a spanning forest of {nodes} nodes"))?;
    let values = OnlineForest::<(), W>::values(nodes);
    let mut online = OnlineForest::new(LearnedForest::new(run, mode, values)?, nodes);
    let output = answer(&mut online, edges)?;
    Ok(Solution { output, operations: online.forest().operations() })
}

pub(super) fn answer<F: DynamicForest<Heaviest<W>>, W: Weight>(
    online: &mut OnlineForest<F, W>,
    edges: &[Edge<W>],
) -> Result<Vec<u8>> {
    let mut leaves = Vec::with_capacity(edges.len());
    for (index, &edge) in edges.iter().enumerate() {
        leaves.push(match online.insert(edge)? {
            Inserted::Joined => -1,
            Inserted::Replaced(other) => other as i64,
            Inserted::Rejected => index as i64,
        });
    }
    let mut output = Vec::new();
    print_line(&mut output, leaves);
    Ok(output)
}
