//! Tables of numbers, before anyone decides how they are shown.

use std::fmt::Write;

/// A table as it is printed. Names of models and settings stand in backticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// One cell for each column; the first is empty.
    pub header: Vec<String>,
    /// The rows, as long as the header; the first cell is the row's name.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The table in Markdown, under its title.
    pub fn markdown(&self) -> String {
        let mut text = format!("### {}\n\n|", self.title);
        // The first cell is empty, and so needs no space around it.
        for name in self.header.iter().skip(1) {
            let _ = write!(text, " | {name}");
        }
        text.push_str(" |\n");
        for _ in &self.header {
            text.push_str("| --- ");
        }
        text.push_str("|\n");
        for row in &self.rows {
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
        text.push('\n');
        text
    }
}

/// What tables call a task: its title if it is built in, else its name.
pub fn title(task: &str) -> String {
    match pgn_structures::Task::named(task) {
        Ok(task) => task.title().to_owned(),
        Err(_) => task.to_owned(),
    }
}
