//! CSV: a line with the names of the columns, then `u,v` or `u,v,weight`. Nodes are numbered in
//! the order in which they are first named.

use std::collections::HashMap;

use pgn_structures::Node;

use super::{Graph, end, weight, wrong};
use crate::Result;

pub(super) fn parse(text: &str) -> Result<Graph> {
    let mut graph = Graph::default();
    let mut numbers: HashMap<&str, Node> = HashMap::new();
    let mut number = |name| {
        let next = numbers.len() as Node;
        *numbers.entry(name).or_insert(next)
    };
    for (line, content) in text.lines().enumerate().skip(1) {
        if content.trim().is_empty() {
            continue;
        }
        let mut cells = content.split(',').map(str::trim);
        let (Some(u), Some(v)) = (cells.next(), cells.next()) else {
            return Err(wrong(line, "expected two nodes with a comma between them"));
        };
        if u.is_empty() || v.is_empty() || content.contains('"') {
            return Err(wrong(line, "expected names of nodes, without quotes"));
        }
        let weight = weight(line, cells.next())?;
        end(line, cells.next())?;
        let (u, v) = (number(u), number(v));
        graph.add(u, v, weight);
    }
    Ok(graph)
}
