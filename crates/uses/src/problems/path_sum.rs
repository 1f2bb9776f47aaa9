//! `dynamic_tree_vertex_add_path_sum`: `0 u v w x` replaces edge u–v by w–x, `1 p x` adds x to
//! node p, `2 u v` asks for the sum of the nodes from u to v.

use pgn_lab::machine::{MachineRun, Mode};
use pgn_machines::Arithmetic;
use pgn_structures::{Aggregate, Node};

use super::{Solution, print};
use crate::{DynamicForest, Error, Input, LearnedForest, Result};

/// The judge's N and Q are at most 200,000; more is fine.
const MOST: usize = 10_000_000;
/// The judge's values are at most this; sums of 2 MOST of them fit.
const LARGEST: i64 = 1_000_000_000;

/// A sum, and of how many nodes: a path of two nodes is an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Total {
    sum: i64,
    nodes: u32,
}

impl Aggregate for Total {
    fn combine(self, other: Total) -> Total {
        Total { sum: self.sum + other.sum, nodes: self.nodes + other.nodes }
    }
}

impl Arithmetic for Total {
    fn plus(self, other: Total) -> Total {
        Total { sum: self.sum + other.sum, ..self }
    }
}

pub(super) fn solve(run: &MachineRun, mode: Mode, input: &[u8]) -> Result<Solution> {
    let (output, tree) = answer(input, |values| LearnedForest::new(run, mode, values))?;
    Ok(Solution { output, operations: tree.operations() })
}

pub(super) fn answer<F: DynamicForest<Total>>(
    input: &[u8],
    make: impl FnOnce(Vec<Total>) -> Result<F>,
) -> Result<(Vec<u8>, F)> {
    let mut input = Input::new(input);
    let nodes = input.count("N", 1, MOST)?;
    let queries = input.count("Q", 0, MOST)?;
    let mut values = Vec::with_capacity(nodes);
    for _ in 0..nodes {
        values.push(Total { sum: input.number("a", -LARGEST, LARGEST)?, nodes: 1 });
    }
    let mut tree = make(values)?;
    for _ in 1..nodes {
        let (u, v) = (input.node("u", nodes)?, input.node("v", nodes)?);
        connect(&mut tree, &input, u, v)?;
    }
    let mut output = Vec::new();
    for _ in 0..queries {
        match input.number("t", 0, 2)? {
            0 => {
                let (u, v) = (input.node("u", nodes)?, input.node("v", nodes)?);
                // u becomes the root, so that v hangs from it.
                if tree.path_aggregate(u, v)?.is_none_or(|total| total.nodes != 2) {
                    return Err(input.error(format!("there is no edge between {u} and {v}")));
                }
                tree.cut(v)?;
                let (w, x) = (input.node("w", nodes)?, input.node("x", nodes)?);
                connect(&mut tree, &input, w, x)?;
            }
            1 => {
                let node = input.node("p", nodes)?;
                let sum = input.number("x", -LARGEST, LARGEST)?;
                tree.add(node, Total { sum, nodes: 0 })?;
            }
            _ => {
                let (u, v) = (input.node("u", nodes)?, input.node("v", nodes)?);
                let Some(total) = tree.path_aggregate(u, v)? else {
                    return Err(input.error(format!("{u} and {v} are not connected")));
                };
                print(&mut output, total.sum, b'\n');
            }
        }
    }
    input.end()?;
    Ok((output, tree))
}

fn connect(
    tree: &mut impl DynamicForest<Total>,
    input: &Input<'_>,
    u: Node,
    v: Node,
) -> Result<()> {
    tree.evert(u)?;
    tree.link(u, v).map_err(|error| match error {
        Error::Request(_) | Error::Operation(_) => {
            input.error(format!("an edge between {u} and {v} would close a cycle"))
        }
        other => other,
    })
}
