//! Graphs from files: edge lists, DIMACS `.gr`, Matrix Market `.mtx` and CSV.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
};

use pgn_structures::{
    Node,
    files::{BadLine, Lines},
    shown,
};

use crate::{Edge, Error, Result};

mod csv;
mod dimacs;
mod edge_list;
mod matrix_market;

/// An undirected graph with weights. Parallel edges and loops are kept: they have numbers too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// How many nodes there are; they are numbered from 0.
    pub nodes: usize,
    /// The edges, in the order of the file. No weight is NaN.
    pub edges: Vec<Edge<f64>>,
}

/// How a file describes a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `u v` or `u v weight` per line, nodes from 0; `#` and `%` begin comments.
    EdgeList,
    /// DIMACS shortest paths (`p sp n m`, `a u v weight`) or colouring (`p edge n m`, `e u v`).
    Dimacs,
    /// Matrix Market coordinates: entry (i, j) is an edge.
    MatrixMarket,
    /// `u,v` or `u,v,weight` per line, after a line with the names of the columns; nodes may be
    /// any text.
    Csv,
}

impl Format {
    /// By the end of a file's name, in capitals or not: `.gr`, `.mtx`, `.mm`, `.csv`; everything
    /// else is an edge list.
    pub fn of(path: &Path) -> Format {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.unwrap_or_default().to_ascii_lowercase().as_str() {
            "gr" | "col" => Format::Dimacs,
            "mtx" | "mm" => Format::MatrixMarket,
            "csv" => Format::Csv,
            _ => Format::EdgeList,
        }
    }
}

impl Graph {
    /// Reads a file in the format of its name. A file that begins as Matrix Market does is one.
    pub fn read(path: &Path) -> Result<Graph> {
        let named = |trouble: String| Error::File { file: path.display().to_string(), trouble };
        let file = File::open(path).map_err(|error| named(error.to_string()))?;
        let mut reader = BufReader::new(file);
        let beginning = reader.fill_buf().map_err(|error| named(error.to_string()))?;
        let banner = beginning.get(..BANNER.len()).unwrap_or_default();
        let format = match banner.eq_ignore_ascii_case(BANNER) {
            true => Format::MatrixMarket,
            false => Format::of(path),
        };
        Graph::parse_lines(reader, format).map_err(|error| named(error.to_string()))
    }

    /// From the text of a file.
    ///
    /// ```
    /// use pgn_uses::graph::{Format, Graph};
    ///
    /// let graph = Graph::parse("# a path\n0 1 2.5\n1 2 0.5\n", Format::EdgeList)?;
    /// assert_eq!((graph.nodes, graph.edges.len()), (3, 2));
    /// assert_eq!(graph.edges[0].weight, 2.5);
    /// # Ok::<(), pgn_uses::Error>(())
    /// ```
    pub fn parse(text: &str, format: Format) -> Result<Graph> {
        Graph::parse_lines(text.as_bytes(), format)
    }

    fn parse_lines(reader: impl BufRead, format: Format) -> Result<Graph> {
        let lines = Lines::new(reader);
        let graph = match format {
            Format::EdgeList => edge_list::parse(lines),
            Format::Dimacs => dimacs::parse(lines),
            Format::MatrixMarket => matrix_market::parse(lines),
            Format::Csv => csv::parse(lines),
        }?;
        let (nodes, edges) = (graph.nodes, graph.edges.len());
        if nodes > FEW_NODES && nodes / NODES_PER_EDGE > edges {
            return Err(Error::Request(format!(
                "it has {nodes} nodes and {edges} edges; expected at most {NODES_PER_EDGE} nodes \
                 per edge beyond {FEW_NODES}: number the nodes without gaps"
            )));
        }
        let sum: f64 = graph.edges.iter().map(|edge| edge.weight.abs()).sum();
        if !sum.is_finite() {
            return Err(Error::Request("its weights add up to more than a float holds".into()));
        }
        Ok(graph)
    }

    /// The weight of some of its edges.
    pub fn weight(&self, edges: impl IntoIterator<Item = usize>) -> f64 {
        // Not `sum`, which gives −0 for no edges.
        edges.into_iter().fold(0.0, |sum, edge| sum + self.edges[edge].weight)
    }

    fn add(&mut self, u: Node, v: Node, weight: f64) {
        self.nodes = self.nodes.max(u.max(v) as usize + 1);
        self.edges.push(Edge { u, v, weight });
    }
}

/// The largest number of a node.
const MOST_NODES: usize = 1 << 30;
/// A graph may have so many nodes without edges, and beyond them so many per edge: a file of two
/// lines must not take gigabytes.
const FEW_NODES: usize = 1_000_000;
const NODES_PER_EDGE: usize = 100;
/// How Matrix Market files begin.
const BANNER: &[u8] = b"%%MatrixMarket";

/// Something wrong in a line, counted from 0.
impl From<BadLine> for Error {
    fn from(BadLine { line, cause }: BadLine) -> Self {
        wrong(line, cause.to_string())
    }
}

fn wrong(line: usize, trouble: impl Into<String>) -> Error {
    Error::Input { line: line + 1, trouble: trouble.into() }
}

/// A node with a number from `first` on; `nodes` of them if that is known.
fn node(line: usize, word: Option<&str>, first: usize, nodes: Option<usize>) -> Result<Node> {
    let most = nodes.map_or(MOST_NODES, |nodes| nodes + first).saturating_sub(1);
    let word = word.unwrap_or_default();
    match word.parse::<usize>() {
        Ok(number) if (first..=most).contains(&number) => Ok((number - first) as Node),
        _ => Err(wrong(
            line,
            format!("found `{}`; expected a node from {first} to {most}", shown(word)),
        )),
    }
}

fn weight(line: usize, word: Option<&str>) -> Result<f64> {
    let Some(word) = word else { return Ok(1.0) };
    match word.trim().parse::<f64>() {
        Ok(weight) if weight.is_finite() && is_rounded(word) => {
            let expected = "expected a whole number of at most 2^53, which is exact";
            Err(wrong(line, format!("found `{}`; {expected}", shown(word))))
        }
        Ok(weight) if weight.is_finite() => Ok(weight),
        _ => {
            Err(wrong(line, format!("found `{}`; expected a weight, a finite number", shown(word))))
        }
    }
}

/// Whether a whole number is more than a float holds exactly. With a point or an exponent it is
/// meant to be rounded.
fn is_rounded(word: &str) -> bool {
    let exact = |number: i64| number.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS;
    !word.contains(['.', 'e', 'E']) && !word.trim().parse().is_ok_and(exact)
}

fn count(line: usize, word: Option<&str>, what: &str) -> Result<usize> {
    let word = word.unwrap_or_default();
    match word.parse::<usize>() {
        Ok(count) if count <= MOST_NODES => Ok(count),
        _ => Err(wrong(line, format!("found `{}`; expected the number of {what}", shown(word)))),
    }
}

/// Nothing may follow on a line.
fn end(line: usize, word: Option<&str>) -> Result<()> {
    match word {
        None => Ok(()),
        Some(word) => {
            Err(wrong(line, format!("found `{}`; expected the end of the line", shown(word))))
        }
    }
}

/// As many edges as were announced.
fn announced(graph: Graph, edges: usize) -> Result<Graph> {
    if graph.edges.len() == edges {
        return Ok(graph);
    }
    let found = graph.edges.len();
    Err(Error::Request(format!("it has {found} edges; its header announces {edges}")))
}
