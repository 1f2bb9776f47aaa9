//! Operations that a user wrote down: one `u,v` or `name,u,v` per line.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::{Error, Node, Operation, Result, Task};

/// Reads operations of `task` on `nodes` nodes from a file: see [`read_operations`].
pub fn operations_from_csv(
    path: impl AsRef<Path>,
    task: &Task,
    nodes: usize,
) -> Result<Vec<Operation>> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|cause| Error::Io {
        verb: "read",
        path: path.to_path_buf(),
        cause,
    })?;
    read_operations(BufReader::new(file), path, task, nodes)
}

/// Reads operations of `task` on `nodes` nodes, one `u,v` per line; `name` is what errors call the
/// source. Where a task has several kinds of operations, a line begins with the name of one:
/// `insert,0,5` or `pop_min,0`.
///
/// Blank lines and what follows a `#` are skipped, and so is a first line without numbers, the
/// header.
///
/// ```
/// use pgn_structures::{Operation, Task, read_operations};
///
/// let dsu = Task::named("dsu")?;
/// let text = "u,v\n0,1 # the first\n\n 2 , 0\n";
/// let operations = read_operations(text.as_bytes(), "example.csv".as_ref(), &dsu, 3)?;
/// assert_eq!(operations, [Operation::new(0, 1), Operation::new(2, 0)]);
///
/// let error =
///     read_operations("0,1\n1,7\n".as_bytes(), "example.csv".as_ref(), &dsu, 3).unwrap_err();
/// assert!(error.to_string().starts_with("example.csv: line 2: node 7 is out of range"));
/// # Ok::<(), pgn_structures::Error>(())
/// ```
pub fn read_operations(
    source: impl BufRead,
    name: &Path,
    task: &Task,
    nodes: usize,
) -> Result<Vec<Operation>> {
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
            operations.push(parse(line, task, nodes).map_err(at)?);
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

fn parse(line: &str, task: &Task, nodes: usize) -> std::result::Result<Operation, String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let (kind, [u, v]) = match (task.has_kinds(), &fields[..]) {
        (false, &[u, v]) => (0, [u, v]),
        (false, _) => return Err(format!("expected two nodes `u,v`, found `{}`", shown(line))),
        (true, fields) => {
            let given = fields.first().copied().unwrap_or_default();
            let kind = task.kinds().iter().position(|kind| kind.name == given);
            match (kind.map(|kind| (kind, task.kinds()[kind].operands)), fields) {
                (Some((kind, 1)), &[_, u]) => (kind as u8, [u, u]),
                (Some((kind, 2)), &[_, u, v]) => (kind as u8, [u, v]),
                _ => {
                    let form = |kind: &crate::OperationKind| match kind.operands {
                        1 => format!("`{},u`", kind.name),
                        _ => format!("`{},u,v`", kind.name),
                    };
                    let forms: Vec<String> = task.kinds().iter().map(form).collect();
                    let forms = forms.join(", ");
                    return Err(format!("expected one of {forms}; found `{}`", shown(line)));
                }
            }
        }
    };
    let node = |field: &str| {
        field.parse::<Node>().map_err(|_| {
            format!("expected a node, a whole number below {nodes}, found `{}`", shown(field))
        })
    };
    let operation = Operation::of_kind(kind, node(u)?, node(v)?);
    task.check(operation, nodes).map_err(|error| error.to_string())?;
    Ok(operation)
}
