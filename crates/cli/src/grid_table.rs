//! F₁ of a grid's runs beside the paper's, in 80 columns.

use std::fmt::Write;

use pgn_lab::{Collection, Spread};
use pgn_paper::{
    numbers,
    tables::{self, BASELINES},
};

/// One small table for each task.
pub fn render(runs: &Collection) -> String {
    let mut text = String::new();
    for task in runs.tasks() {
        let sizes = runs.sizes();
        let groups = tables::in_order(runs, task);
        let names: Vec<String> = groups.iter().map(|group| group.name().replace('`', "")).collect();
        let wide = names.iter().map(String::len).max().unwrap_or(0).max(12);
        let _ = write!(text, "\n{:<wide$}", format!("F1, {task}"));
        for n in &sizes {
            let _ = write!(text, " {:>7}", format!("n={n}"));
            if in_paper(task, *n) {
                let _ = write!(text, " {:>7}", "paper");
            }
        }
        text.push('\n');
        for (group, name) in groups.iter().zip(&names) {
            let _ = write!(text, "{name:<wide$}");
            for &n in &sizes {
                let f1 = group.spread(n, |scores| Some(scores.f1));
                let _ = write!(text, " {:>7}", cell(f1));
                if in_paper(task, n) {
                    let _ = write!(text, " {:>7}", cell(numbers().f1(task, group.model, n)));
                }
            }
            text.push('\n');
        }
        for (name, f1) in BASELINES {
            let _ = write!(text, "{name:<wide$}");
            for &n in &sizes {
                let _ = write!(text, " {:>7}", cell(f1(runs, task, n)));
                if in_paper(task, n) {
                    let _ = write!(text, " {:>7}", "");
                }
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
    }
    text
}

fn cell(spread: Option<Spread>) -> String {
    spread.map_or("-".to_owned(), |spread| format!("{:.3}", spread.mean))
}

/// Whether the paper has any number for this test set.
fn in_paper(task: &str, n: usize) -> bool {
    pgn_engine::Config::PRESETS.iter().any(|model| numbers().f1(task, model, n).is_some())
}
