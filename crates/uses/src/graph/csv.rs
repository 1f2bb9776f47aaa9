//! CSV: a line with the names of the columns, then `u,v` or `u,v,weight`. Nodes are numbered in
//! the order in which they are first named.

use std::{collections::HashMap, io::BufRead};

use pgn_structures::{Node, shown};

use super::{Graph, Lines, end, weight, wrong};
use crate::Result;

pub(super) fn parse(mut lines: Lines<impl BufRead>) -> Result<Graph> {
    let header = match lines.next()? {
        None => return Ok(Graph::default()),
        Some((_, header)) => header.to_owned(),
    };
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    let is_number = |name: Option<&&str>| name.is_some_and(|name| name.parse::<f64>().is_ok());
    let no_header = || {
        let expected = "expected the names of the columns, as in u,v,weight";
        Err(wrong(0, format!("found `{}`, an edge; {expected}", shown(&header))))
    };
    if is_number(names.get(2)) || is_number(names.first()) && is_number(names.get(1)) {
        return no_header();
    }
    let mut graph = Graph::default();
    let mut numbers: HashMap<String, Node> = HashMap::new();
    while let Some((line, content)) = lines.next()? {
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
        let mut number = |name: &str| match numbers.get(name) {
            Some(&number) => number,
            None => {
                let next = numbers.len() as Node;
                numbers.insert(name.to_owned(), next);
                next
            }
        };
        let (u, v) = (number(u), number(v));
        graph.add(u, v, weight);
    }
    // A column that is called as a node is.
    match names.iter().take(2).any(|name| numbers.contains_key(*name)) {
        true => no_header(),
        false => Ok(graph),
    }
}
