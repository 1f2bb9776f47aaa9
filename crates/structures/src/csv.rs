//! Operations that a user wrote down: one `u,v` or `name,u,v` per line.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::Path;

use crate::files::{BadLine, Lines};
use crate::sampling::draw_priorities;
use crate::{Dataset, Edge, Error, Node, Operation, Result, Sampling, Split, Task};

/// The most operations that a file may hold: more than a data set of them has room for.
const MOST_OPERATIONS: usize = 1 << 24;

/// Reads operations of `task` on `nodes` nodes from a file: see [`read_operations`].
pub fn operations_from_csv(
    path: impl AsRef<Path>,
    task: &Task,
    nodes: usize,
) -> Result<Vec<Operation>> {
    Ok(sequences_from_csv(path.as_ref(), task, nodes)?.concat())
}

fn sequences_from_csv(path: &Path, task: &Task, nodes: usize) -> Result<Vec<Vec<Operation>>> {
    let file = File::open(path).map_err(|cause| Error::Io {
        verb: "read",
        path: path.to_path_buf(),
        cause,
    })?;
    read_sequences(BufReader::new(file), path, task, nodes)
}

impl Dataset {
    /// Whether a file has the name of a CSV, which stands for the data set of its operations.
    pub fn is_csv(path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
    }

    /// The ground truth of operations in CSV files, as [`read_operations`] reads them; a blank line
    /// begins another sequence, and so does another file. Sequence i has the priorities of that
    /// sequence of [`Split::Given`]. Without `nodes`, there are as many as the operands need.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("mine.csv");
    /// use pgn_structures::{Dataset, Task};
    /// std::fs::write(&path, "0,1\n1,2\n\n2,3\n3,2\n").unwrap();
    /// let set = Dataset::from_csv(&[path], &Task::named("dsu")?, None, 0)?;
    /// assert_eq!((set.count(), set.ops, set.nodes), (2, 2, 4));
    /// assert_eq!(set.answers, [1, 1, 1, 0]);
    /// # Ok::<(), pgn_structures::Error>(())
    /// ```
    pub fn from_csv<P: AsRef<Path>>(
        paths: &[P],
        task: &Task,
        nodes: Option<usize>,
        seed: u64,
    ) -> Result<Dataset> {
        let sequences = read_all(paths, task, nodes)?;
        let ops = sequences[0].len();
        if let Some(index) = sequences.iter().position(|one| one.len() != ops) {
            let path = paths.last().map_or(Path::new(""), AsRef::as_ref).to_path_buf();
            let trouble = format!(
                "sequence {index} has {} operations and sequence 0 has {ops}; a data set needs \
                 sequences of one length (a blank line begins another one)",
                sequences[index].len(),
            );
            return Err(Error::File { path, trouble });
        }
        Ok(sets_of(&sequences, task, nodes, seed)?.remove(0))
    }

    /// [`Dataset::from_csv`] for sequences of any lengths: a set for each length, in the order in
    /// which they first occur, all on as many nodes. There is at least one.
    pub fn sets_from_csv<P: AsRef<Path>>(
        paths: &[P],
        task: &Task,
        nodes: Option<usize>,
        seed: u64,
    ) -> Result<Vec<Dataset>> {
        sets_of(&read_all(paths, task, nodes)?, task, nodes, seed)
    }
}

/// All sequences of some files; there is at least one.
fn read_all<P: AsRef<Path>>(
    paths: &[P],
    task: &Task,
    nodes: Option<usize>,
) -> Result<Vec<Vec<Operation>>> {
    let mut sequences: Vec<Vec<Operation>> = Vec::new();
    for path in paths {
        let path = path.as_ref();
        let read = sequences_from_csv(path, task, nodes.unwrap_or(Sampling::MAX_NODES))?;
        if read.is_empty() {
            let trouble = "no operations; expected a line `u,v` for each".into();
            return Err(Error::File { path: path.to_path_buf(), trouble });
        }
        sequences.extend(read);
    }
    if sequences.is_empty() {
        return Err(Error::Request("no files of operations".into()));
    }
    Ok(sequences)
}

/// A set for each length of sequence.
fn sets_of(
    sequences: &[Vec<Operation>],
    task: &Task,
    nodes: Option<usize>,
    seed: u64,
) -> Result<Vec<Dataset>> {
    let largest = sequences.iter().flatten().map(|operation| operation.u.max(operation.v)).max();
    let nodes = nodes.unwrap_or(largest.map_or(2, |node| (node as usize + 1).max(2)));
    if nodes > Sampling::MAX_NODES {
        return Err(Sampling::too_many_nodes(nodes));
    }
    let mut lengths: Vec<usize> = Vec::new();
    for length in sequences.iter().map(Vec::len) {
        if !lengths.contains(&length) {
            lengths.push(length);
        }
    }
    let set = |&length: &usize| {
        let chosen = (0..).zip(sequences).filter(|(_, one)| one.len() == length);
        let (indices, chosen): (Vec<u64>, Vec<&Vec<Operation>>) = chosen.unzip();
        let mut priorities = vec![0.0; chosen.len() * nodes];
        for (index, row) in indices.into_iter().zip(priorities.chunks_exact_mut(nodes)) {
            draw_priorities(&mut Split::Given.rng(seed, nodes, index), row);
        }
        let operations: Vec<_> = chosen.iter().flat_map(|one| one.iter().copied()).collect();
        let mut set = Dataset::from_operations(task, nodes, &priorities, &operations)?;
        set.seed = seed;
        if task.has_input_graph() {
            let graphs: Vec<_> = chosen.iter().map(|one| Edge::of_operations(one)).collect();
            // A file has as many edges in each graph.
            if graphs.iter().all(|graph| graph.len() == graphs[0].len()) {
                set.edges = graphs.concat();
            }
        }
        Ok(set)
    };
    lengths.iter().map(set).collect()
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
    Ok(read_sequences(source, name, task, nodes)?.concat())
}

/// [`read_operations`], apart where there are blank lines between them.
fn read_sequences(
    source: impl BufRead,
    name: &Path,
    task: &Task,
    nodes: usize,
) -> Result<Vec<Vec<Operation>>> {
    let mut sequences: Vec<Vec<Operation>> = Vec::new();
    let mut apart = true;
    let mut header_possible = true;
    let at = |line: usize, trouble: String| Error::File {
        path: name.to_path_buf(),
        trouble: format!("line {}: {trouble}", line + 1),
    };
    let mut lines = Lines::new(source);
    let mut left = MOST_OPERATIONS;
    let unread = |BadLine { line, cause }| match cause.kind() {
        ErrorKind::InvalidData => at(line, cause.to_string()),
        _ => Error::Io { verb: "read", path: name.to_path_buf(), cause },
    };
    while let Some((number, line)) = lines.next().map_err(unread)? {
        let line = line.trim_start_matches('\u{feff}');
        apart |= line.trim().is_empty();
        let line = line.split_once('#').map_or(line, |(before, _)| before).trim();
        if line.is_empty() {
            continue;
        }
        let header = std::mem::take(&mut header_possible) && !line.contains(is_number);
        if header {
            continue;
        }
        let operation = parse(line, task, nodes).map_err(|trouble| at(number, trouble))?;
        if left == 0 {
            return Err(at(number, format!("more than {MOST_OPERATIONS} operations")));
        }
        left -= 1;
        match sequences.last_mut().filter(|_| !apart) {
            Some(sequence) => sequence.push(operation),
            None => sequences.push(vec![operation]),
        }
        apart = false;
    }
    Ok(sequences)
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
