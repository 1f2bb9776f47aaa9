//! What a task is called, for people.

use serde::Serialize;

/// A data structure in words: what tables, figures, help texts and the page call it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TaskText {
    /// As a heading: "Disjoint-set union".
    pub title: String,
    /// What the operation is called: "query-union".
    pub operation: String,
    /// One line of help, without a full stop.
    pub summary: String,
    /// What the answers 0 and 1 mean.
    pub answers: [String; 2],
}

impl TaskText {
    /// All of it.
    pub fn new(title: &str, operation: &str, summary: &str, answers: [&str; 2]) -> Self {
        TaskText {
            title: title.to_owned(),
            operation: operation.to_owned(),
            summary: summary.to_owned(),
            answers: answers.map(str::to_owned),
        }
    }

    /// What can be said of a structure of which only the name is known.
    pub fn named(name: &str) -> Self {
        TaskText::new(name, name, "a data structure that is not built in", ["no", "yes"])
    }
}
