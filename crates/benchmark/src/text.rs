//! Questions in words, for language models.

use serde::Serialize;

use crate::{Data, Result};

/// A question with its answer.
#[derive(Serialize)]
struct Line<'a> {
    task: &'a str,
    nodes: usize,
    family: &'a str,
    sequence: usize,
    question: String,
    answer: String,
}

/// A JSON object per sequence and line: a question in English and its answer, 0 or 1 for each
/// operation.
///
/// ```
/// use pgn_benchmark::{Data, Set, lines};
///
/// let text = lines(&Data::of(&Set::test("bst", 20)?)?)?;
/// assert_eq!(text.lines().count(), 5 * 35);
/// assert!(text.contains("1. insert("), "{text}");
/// # Ok::<(), pgn_lab::Error>(())
/// ```
pub fn lines(data: &Data) -> Result<String> {
    let task = data.set.task()?;
    let mut text = String::new();
    for (sequence, row) in data.rows().into_iter().enumerate() {
        let mut order: Vec<usize> = (0..row.nodes()).collect();
        order.sort_by(|&a, &b| row.priorities[a].total_cmp(&row.priorities[b]));
        let order: Vec<String> = order.iter().map(usize::to_string).collect();
        let operations: Vec<String> = (1..)
            .zip(row.operations)
            .map(|(number, operation)| {
                let kind = task.kinds().get(usize::from(operation.kind));
                let name = kind.map_or("", |kind| &kind.name);
                match kind.is_some_and(|kind| kind.operands == 1) {
                    true => format!("{number}. {name}({})", operation.u),
                    false => format!("{number}. {name}({}, {})", operation.u, operation.v),
                }
            })
            .collect();
        let [zero, one] = task.answers();
        let question = format!(
            "{}: {}. There are {} nodes, numbered from 0. In ascending order of their keys they are \
             {}.{} {} operations (u, v) follow, each carried out on what the ones before have left. \
             Answer each with 0 ({zero}) or 1 ({one}); give {} digits, separated by spaces.\n{}",
            task.title(),
            task.summary(),
            row.nodes(),
            order.join(" "),
            weights(&data.set.task, row.priorities),
            row.ops(),
            row.ops(),
            operations.join("\n"),
        );
        let answers: Vec<String> = row.answers.iter().map(u8::to_string).collect();
        let line = Line {
            task: task.name(),
            nodes: row.nodes(),
            family: data.family(sequence).name(),
            sequence,
            question,
            answer: answers.join(" "),
        };
        text += &serde_json::to_string(&line).map_err(|error| {
            pgn_lab::Error::request(format!("a question cannot be written as JSON: {error}"))
        })?;
        text.push('\n');
    }
    Ok(text)
}

/// The keys themselves, where distances between them count.
fn weights(task: &str, keys: &[f32]) -> String {
    if task != "msf" {
        return String::new();
    }
    let keys: Vec<String> = keys.iter().map(f32::to_string).collect();
    format!(" The keys of nodes 0, 1, … are {}.", keys.join(" "))
}
