//! Edge lists: `u v` or `u v weight` per line.

use std::io::BufRead;

use super::{Graph, Lines, end, node, weight};
use crate::Result;

pub(super) fn parse(mut lines: Lines<impl BufRead>) -> Result<Graph> {
    let mut graph = Graph::default();
    while let Some((line, content)) = lines.next()? {
        let content = content.trim();
        if content.is_empty() || content.starts_with(['#', '%']) {
            continue;
        }
        let mut words = content.split_whitespace();
        let u = node(line, words.next(), 0, None)?;
        let v = node(line, words.next(), 0, None)?;
        let weight = weight(line, words.next())?;
        end(line, words.next())?;
        graph.add(u, v, weight);
    }
    Ok(graph)
}
