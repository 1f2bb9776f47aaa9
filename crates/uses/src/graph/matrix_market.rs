//! Matrix Market: sparse matrices as coordinates. Entry (i, j) is an edge between i and j.

use std::io::BufRead;

use pgn_structures::shown;

use super::{Graph, Lines, announced, count, end, node, weight, wrong};
use crate::{Error, Result};

pub(super) fn parse(mut lines: Lines<impl BufRead>) -> Result<Graph> {
    let banner = lines.next()?.map_or("", |(_, banner)| banner).to_ascii_lowercase();
    let mut words = banner.split_whitespace();
    let (Some("%%matrixmarket"), Some("matrix"), Some("coordinate")) =
        (words.next(), words.next(), words.next())
    else {
        return Err(wrong(0, "expected `%%MatrixMarket matrix coordinate …`"));
    };
    let pattern = match words.next() {
        Some("pattern") => true,
        Some("real" | "integer" | "double") => false,
        other => {
            let found = other.unwrap_or_default();
            let expected = "expected real, integer or pattern";
            return Err(wrong(0, format!("entries are `{}`; {expected}", shown(found))));
        }
    };
    let mut graph = Graph::default();
    let mut size = None;
    while let Some((line, content)) = lines.next()? {
        let content = content.trim();
        if content.is_empty() || content.starts_with('%') {
            continue;
        }
        let mut words = content.split_whitespace();
        let Some((nodes, _)) = size else {
            let rows = count(line, words.next(), "rows")?;
            let columns = count(line, words.next(), "columns")?;
            if rows != columns {
                let trouble = format!("the matrix is {rows} × {columns}; expected a square one");
                return Err(wrong(line, trouble));
            }
            size = Some((rows, count(line, words.next(), "entries")?));
            graph.nodes = rows;
            continue;
        };
        let u = node(line, words.next(), 1, Some(nodes))?;
        let v = node(line, words.next(), 1, Some(nodes))?;
        let weight = match (pattern, words.next()) {
            (false, None) => return Err(wrong(line, "the entry has no value")),
            (_, word) => weight(line, word)?,
        };
        end(line, words.next())?;
        graph.add(u, v, weight);
    }
    let Some((_, edges)) = size else {
        return Err(Error::Request("it has no line with the size of the matrix".to_owned()));
    };
    announced(graph, edges)
}
