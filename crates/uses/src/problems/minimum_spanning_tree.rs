//! `minimum_spanning_tree`: its weight, and its edges.

use pgn_lab::{
    check_memory,
    machine::{MachineRun, Mode},
};

use super::{Solution, print, print_line};
use crate::{Edge, Input, LearnedDsu, Result, UnionFind, kruskal};

/// The judge's N and M are at most 500,000; more is fine.
const MOST: usize = 10_000_000;
/// The judge's weights are at most this; sums of MOST of them fit.
const LARGEST: i64 = 1_000_000_000;

pub(super) fn solve(run: &MachineRun, mode: Mode, input: &[u8]) -> Result<Solution> {
    let (output, sets) = answer(input, |nodes| LearnedDsu::new(run, mode, nodes))?;
    Ok(Solution { output, operations: sets.operations() })
}

pub(super) fn answer<S: UnionFind>(
    input: &[u8],
    make: impl FnOnce(usize) -> Result<S>,
) -> Result<(Vec<u8>, S)> {
    let mut input = Input::new(input);
    let nodes = input.count("N", 1, MOST)?;
    let count = input.count("M", 0, MOST)?;
    let mut edges = Vec::with_capacity(count);
    for _ in 0..count {
        let (u, v) = (input.node("a", nodes)?, input.node("b", nodes)?);
        edges.push(Edge { u, v, weight: input.number("c", -LARGEST, LARGEST)? });
    }
    input.end()?;
    let mut sets = make(nodes)?;
    let forest = kruskal(&mut sets, &edges)?;
    let mut output = Vec::new();
    print(&mut output, forest.iter().map(|&index| edges[index].weight).sum(), b'\n');
    print_line(&mut output, forest.into_iter().map(|index| index as i64));
    Ok((output, sets))
}

/// The edges of a minimum spanning forest, and how many operations it took.
pub fn spanning_forest<W: PartialOrd>(
    run: &MachineRun,
    mode: Mode,
    nodes: usize,
    edges: &[Edge<W>],
) -> Result<(Vec<usize>, u64)> {
    // A priority, a key and at least a pointer each.
    let bytes = nodes as f64 * 3.0 * size_of::<u32>() as f64;
    check_memory(bytes, &format!("a spanning forest of {nodes} nodes"))?;
    let mut sets = LearnedDsu::new(run, mode, nodes)?;
    let forest = kruskal(&mut sets, edges)?;
    Ok((forest, sets.operations()))
}
