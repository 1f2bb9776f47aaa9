//! Problems of the Library Checker (judge.yosupo.jp), in its formats, one a file.

use std::str::FromStr;

use pgn_lab::machine::{MachineRun, Mode};
use pgn_structures::{Dsu, LinkCutTree};

use crate::{Error, OnlineForest, Result};

mod incremental_minimum_spanning_forest;
mod minimum_spanning_tree;
mod path_sum;
mod unionfind;

pub use incremental_minimum_spanning_forest::online_forest;
pub use minimum_spanning_tree::spanning_forest;

/// A problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Problem {
    /// Merge sets, ask whether two nodes are in one.
    UnionFind,
    /// Replace edges of a tree, add to nodes, sum along paths.
    PathSum,
    /// A minimum spanning forest, edge by edge.
    IncrementalForest,
    /// A minimum spanning tree.
    SpanningTree,
}

/// An answer, and what it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// What is printed.
    pub output: Vec<u8>,
    /// Operations that the learned structure carried out.
    pub operations: u64,
}

impl Problem {
    /// All of them.
    pub const ALL: [Problem; 4] =
        [Problem::UnionFind, Problem::PathSum, Problem::IncrementalForest, Problem::SpanningTree];

    /// The name it has at the Library Checker.
    pub const fn name(self) -> &'static str {
        match self {
            Problem::UnionFind => "unionfind",
            Problem::PathSum => "dynamic_tree_vertex_add_path_sum",
            Problem::IncrementalForest => "incremental_minimum_spanning_forest",
            Problem::SpanningTree => "minimum_spanning_tree",
        }
    }

    /// The built-in machine that can do it.
    pub const fn machine(self) -> &'static str {
        match self {
            Problem::UnionFind | Problem::SpanningTree => "dsu",
            Problem::PathSum | Problem::IncrementalForest => "lct",
        }
    }

    /// Answers an input with a learned structure.
    ///
    /// ```
    /// use pgn_lab::machine::{MachineRun, Mode};
    /// use pgn_uses::Problem;
    ///
    /// let run = MachineRun::built_in("dsu")?;
    /// let input = b"3 3\n1 0 1\n0 0 1\n1 0 1\n";
    /// let solution = Problem::UnionFind.solve(&run, Mode::Compiled, input)?;
    /// assert_eq!(solution.output, b"0\n1\n");
    /// # Ok::<(), pgn_uses::Error>(())
    /// ```
    pub fn solve(self, run: &MachineRun, mode: Mode, input: &[u8]) -> Result<Solution> {
        match self {
            Problem::UnionFind => unionfind::solve(run, mode, input),
            Problem::PathSum => path_sum::solve(run, mode, input),
            Problem::IncrementalForest => {
                incremental_minimum_spanning_forest::solve(run, mode, input)
            }
            Problem::SpanningTree => minimum_spanning_tree::solve(run, mode, input),
        }
    }
}

impl Problem {
    /// Answers an input with the structures written by hand, which learned ones are compared with.
    pub fn solve_by_hand(self, input: &[u8]) -> Result<Vec<u8>> {
        let sets = |nodes: usize| Ok(Dsu::new(&crate::dsu::priorities(nodes)));
        match self {
            Problem::UnionFind => Ok(unionfind::answer(input, sets)?.0),
            Problem::SpanningTree => Ok(minimum_spanning_tree::answer(input, sets)?.0),
            Problem::PathSum => {
                let tree = |values: Vec<_>| Ok(LinkCutTree::with_values(&values));
                Ok(path_sum::answer(input, tree)?.0)
            }
            Problem::IncrementalForest => {
                let (nodes, edges) = incremental_minimum_spanning_forest::read(input)?;
                let forest = LinkCutTree::with_values(&OnlineForest::<(), u32>::values(nodes));
                let mut online = OnlineForest::new(forest, nodes);
                incremental_minimum_spanning_forest::answer(&mut online, &edges)
            }
        }
    }
}

impl FromStr for Problem {
    type Err = Error;

    fn from_str(name: &str) -> Result<Problem> {
        Problem::ALL.into_iter().find(|problem| problem.name() == name).ok_or_else(|| {
            let known = Problem::ALL.map(Problem::name).join(", ");
            Error::Request(format!("there is no problem '{name}'; expected one of {known}"))
        })
    }
}

/// Appends a number and what follows it.
fn print(output: &mut Vec<u8>, number: i64, end: u8) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        output.push(b'-');
    }
    output.extend_from_slice(&digits[at..]);
    output.push(end);
}

/// Appends numbers in one line.
fn print_line(output: &mut Vec<u8>, numbers: impl IntoIterator<Item = i64>) {
    let start = output.len();
    for number in numbers {
        print(output, number, b' ');
    }
    match output.last_mut() {
        Some(last) if *last == b' ' => *last = b'\n',
        _ => output.push(b'\n'),
    }
    debug_assert!(output.len() > start);
}

#[cfg(test)]
mod tests {
    use super::{print, print_line};

    #[test]
    fn numbers_are_printed_as_by_the_standard_library() {
        for number in [0, 7, -1, 10, -120, i64::MAX, i64::MIN, 999_999] {
            let mut output = Vec::new();
            print(&mut output, number, b'\n');
            assert_eq!(output, format!("{number}\n").into_bytes());
        }
        let mut output = b"1\n".to_vec();
        print_line(&mut output, [3, -1]);
        print_line(&mut output, []);
        assert_eq!(output, b"1\n3 -1\n\n");
    }
}
