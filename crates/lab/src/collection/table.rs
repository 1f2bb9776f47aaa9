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

impl Table {
    /// The table as aligned text under its title, in at most 80 columns unless a single column is
    /// wider: what does not fit beside the names goes below.
    pub fn text(&self) -> String {
        const WIDTH: usize = 80;
        let plain = |cell: &str| cell.replace('`', "");
        let wide = |cell: &str| plain(cell).chars().count();
        let names = self.rows.iter().filter_map(|row| row.first()).map(|name| wide(name)).max();
        let names = names.unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.chain(self.header.get(column)).map(|cell| wide(cell)).max().unwrap_or(0)
        };
        let mut text = format!("{}\n", plain(&self.title));
        let mut from = 1;
        while from < self.header.len() {
            let mut total = names;
            let fits = (from..self.header.len()).take_while(|&column| {
                total += 2 + width(column);
                total <= WIDTH
            });
            let to = from + fits.count().max(1);
            for row in std::iter::once(&self.header).chain(&self.rows) {
                let first = row.first().map_or(String::new(), |cell| plain(cell));
                let mut line = format!("{first:<names$}");
                for column in from..to {
                    let cell = row.get(column).map_or(String::new(), |cell| plain(cell));
                    let _ = write!(line, "  {cell:>width$}", width = width(column));
                }
                text += line.trim_end();
                text.push('\n');
            }
            text.push('\n');
            from = to;
        }
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
