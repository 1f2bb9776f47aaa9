//! Operations that a user wrote down: one `u,v` per line.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::{Error, Node, Operation, Result};

/// Reads operations on `nodes` nodes from a file: see [`read_operations`].
pub fn operations_from_csv(path: impl AsRef<Path>, nodes: usize) -> Result<Vec<Operation>> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|cause| Error::Io {
        verb: "read",
        path: path.to_path_buf(),
        cause,
    })?;
    read_operations(BufReader::new(file), path, nodes)
}

/// Reads operations on `nodes` nodes, one `u,v` per line; `name` is what errors call the source.
///
/// Blank lines and what follows a `#` are skipped, and so is a first line without numbers, the
/// header.
///
/// ```
/// use pgn_structures::{Operation, read_operations};
///
/// let text = "u,v\n0,1 # the first\n\n 2 , 0\n";
/// let operations = read_operations(text.as_bytes(), "example.csv".as_ref(), 3)?;
/// assert_eq!(operations, [Operation { u: 0, v: 1 }, Operation { u: 2, v: 0 }]);
///
/// let error = read_operations("0,1\n1,7\n".as_bytes(), "example.csv".as_ref(), 3).unwrap_err();
/// assert!(error.to_string().starts_with("example.csv: line 2: node 7 is out of range"));
/// # Ok::<(), pgn_structures::Error>(())
/// ```
pub fn read_operations(source: impl BufRead, name: &Path, nodes: usize) -> Result<Vec<Operation>> {
    let mut operations = Vec::new();
    let mut header_possible = true;
    for (index, line) in source.lines().enumerate() {
        let at = |trouble: String| Error::File {
            path: name.to_path_buf(),
            trouble: format!("line {}: {trouble}", index + 1),
        };
        let line = line.map_err(|cause| match cause.kind() {
            std::io::ErrorKind::InvalidData => at("it is not UTF-8 text".to_string()),
            _ => Error::Io { verb: "read", path: name.to_path_buf(), cause },
        })?;
        let line = line.trim_start_matches('\u{feff}');
        let line = line.split_once('#').map_or(line, |(before, _)| before).trim();
        if line.is_empty() {
            continue;
        }
        let header = std::mem::take(&mut header_possible) && !line.contains(is_number);
        if !header {
            operations.push(parse(line, nodes).map_err(at)?);
        }
    }
    Ok(operations)
}

/// A piece of a file as an error shows it: short, and without characters that a terminal would act
/// on.
///
/// ```
/// assert_eq!(pgn_structures::shown("\u{1b}[31mred"), r"\u{1b}[31mred");
/// assert_eq!(pgn_structures::shown(&"a".repeat(50)), "a".repeat(40) + "…");
/// ```
pub fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let mut shown: String = text.chars().take(MOST).flat_map(escaped).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}

fn escaped(character: char) -> impl Iterator<Item = char> {
    // Marks that reorder or hide text are not control characters.
    let hides = matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let plain = (!character.is_control() && !hides).then_some(character);
    let code = plain.is_none().then(|| character.escape_default());
    plain.into_iter().chain(code.into_iter().flatten())
}

fn is_number(character: char) -> bool {
    character.is_ascii_digit()
}

fn parse(line: &str, nodes: usize) -> std::result::Result<Operation, String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [u, v] = fields[..] else {
        return Err(format!("expected two nodes `u,v`, found `{}`", shown(line)));
    };
    let node = |field: &str| {
        field.parse::<Node>().map_err(|_| {
            format!("expected a node, a whole number below {nodes}, found `{}`", shown(field))
        })
    };
    let operation = Operation { u: node(u)?, v: node(v)? };
    operation.check(nodes).map_err(|error| error.to_string())?;
    Ok(operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_show_fields_shortened_and_without_terminal_escapes() {
        let long = "7".repeat(5_000_000);
        let lines = [format!("0,{long}\n"), long.clone(), "0,\u{1b}[2J\u{202e}1\n".to_owned()];
        let errors = lines.map(|text| {
            read_operations(text.as_bytes(), "a.csv".as_ref(), 3).unwrap_err().to_string()
        });
        let short = "7".repeat(40);
        assert_eq!(
            errors,
            [
                format!("a.csv: line 1: expected a node, a whole number below 3, found `{short}…`"),
                format!("a.csv: line 1: expected two nodes `u,v`, found `{short}…`"),
                "a.csv: line 1: expected a node, a whole number below 3, found \
                 `\\u{1b}[2J\\u{202e}1`"
                    .to_owned(),
            ]
        );
    }
}
