//! `unionfind`: `0 u v` merges two sets, `1 u v` asks whether two nodes are in one.

use pgn_lab::machine::{MachineRun, Mode};

use super::{Solution, print};
use crate::{Input, LearnedDsu, Result, UnionFind};

/// The judge's N and Q are at most 200,000; more is fine.
const MOST: usize = 10_000_000;

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
    let queries = input.count("Q", 0, MOST)?;
    let mut sets = make(nodes)?;
    let mut output = Vec::new();
    for _ in 0..queries {
        let kind = input.number("t", 0, 1)?;
        let (u, v) = (input.node("u", nodes)?, input.node("v", nodes)?);
        if kind == 0 {
            sets.unite(u, v)?;
        } else {
            print(&mut output, i64::from(sets.same(u, v)?), b'\n');
        }
    }
    input.end()?;
    Ok((output, sets))
}
