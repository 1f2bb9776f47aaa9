//! DIMACS: `c` comments, `p sp nodes arcs`, `a u v weight`, or `p edge nodes edges`, `e u v`.
//!
//! Road networks of the ninth implementation challenge have every edge as two arcs. Both are
//! kept, with numbers of their own; the second never enters a spanning forest.

use std::io::BufRead;

use pgn_structures::shown;

use super::{Graph, Lines, announced, count, end, node, weight, wrong};
use crate::{Error, Result};

pub(super) fn parse(mut lines: Lines<impl BufRead>) -> Result<Graph> {
    let mut graph = Graph::default();
    let mut header = None;
    while let Some((line, content)) = lines.next()? {
        let mut words = content.split_whitespace();
        match (words.next(), header) {
            (None | Some("c"), _) => {}
            (Some("p"), None) => {
                let Some("sp" | "edge" | "col") = words.next() else {
                    return Err(wrong(line, "expected `p sp` or `p edge`"));
                };
                let nodes = count(line, words.next(), "nodes")?;
                header = Some((nodes, count(line, words.next(), "edges")?));
                graph.nodes = nodes;
            }
            (Some("a" | "e"), Some((nodes, _))) => {
                let u = node(line, words.next(), 1, Some(nodes))?;
                let v = node(line, words.next(), 1, Some(nodes))?;
                let weight = weight(line, words.next())?;
                end(line, words.next())?;
                graph.add(u, v, weight);
            }
            (Some("a" | "e"), None) => {
                return Err(wrong(line, "an edge comes before the line that begins with `p`"));
            }
            (Some(word), _) => {
                let trouble = format!("found `{}`; expected a line of c, p, a or e", shown(word));
                return Err(wrong(line, trouble));
            }
        }
    }
    let Some((_, edges)) = header else {
        return Err(Error::Request("it has no line that begins with `p`".to_owned()));
    };
    announced(graph, edges)
}
