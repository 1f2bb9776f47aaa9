//! The story of a rollout as text of at most 80 columns.

use std::fmt::Write;

use pgn_lab::story::Step;

/// The widest line.
const WIDTH: usize = 80;

/// Renders the steps; `colours` marks right and wrong answers with ANSI colours.
pub fn render(steps: &[Step], nodes: usize, colours: bool) -> String {
    let paint = |right: bool, text: String| match (colours, right) {
        (false, _) => text,
        (true, true) => format!("\x1b[32m{text}\x1b[0m"),
        (true, false) => format!("\x1b[31m{text}\x1b[0m"),
    };
    let digits = nodes.saturating_sub(1).to_string().len();
    let number = steps.len().to_string().len().max(4);
    let pair = 2 * digits + 4;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{:>number$}  {:<pair$}  {:<14}  {:<8}  pointers moved",
        "step", "u, v", "model", "truth"
    );
    let indent = number + 2 + pair + 2 + 14 + 2 + 8 + 2;
    for (index, step) in steps.iter().enumerate() {
        let [u, v] = step.operands;
        let right = step.is_right();
        let verdict = format!("{} {}", step.truth, if right { "right" } else { "WRONG" });
        let _ = write!(
            text,
            "{:>number$}  {:<pair$}  {:<14}  {}",
            index + 1,
            format!("({u}, {v})"),
            format!("says {} ({:.0} %)", step.answer, 100.0 * step.confidence),
            paint(right, format!("{verdict:<8}"))
        );
        let moved: Vec<String> =
            step.moved.iter().map(|m| format!("{}→{}", m.node, m.to)).collect();
        list(&mut text, "  ", &moved, (indent, indent));
        if !step.wrong.is_empty() {
            let wrong: Vec<String> = step
                .wrong
                .iter()
                .map(|w| format!("{}→{} (should be {})", w.node, w.to, w.truth))
                .collect();
            let head = format!("{:>number$}  {} of {nodes} pointers wrong: ", "", wrong.len());
            list(&mut text, &head, &wrong, (head.chars().count(), number + 4));
        }
    }
    let right = steps.iter().filter(|step| step.is_right()).count();
    let _ = write!(text, "\n{right} of {} answers right", steps.len());
    if let Some(first) = steps.iter().position(|step| !step.is_right()) {
        let _ = write!(text, "; the first wrong one at step {}", first + 1);
    }
    text.push_str(".\n");
    text
}

/// Appends items from `column` on, separated by commas and broken before the last column; a long
/// list is cut off after three lines.
fn list(text: &mut String, head: &str, items: &[String], (mut column, indent): (usize, usize)) {
    if items.is_empty() {
        while text.ends_with(' ') {
            text.pop();
        }
        text.push('\n');
        return;
    }
    text.push_str(head);
    let mut lines = 1;
    for (index, item) in items.iter().enumerate() {
        let last = index + 1 == items.len();
        let width = item.chars().count() + usize::from(!last);
        if index > 0 {
            let rest = format!("… and {} more", items.len() - index);
            if column + 1 + width > WIDTH {
                lines += 1;
                text.push('\n');
                let _ = write!(text, "{:indent$}", "");
                column = indent;
                if lines > 3 {
                    text.push_str(&rest);
                    break;
                }
            } else {
                text.push(' ');
                column += 1;
            }
        }
        text.push_str(item);
        if !last {
            text.push(',');
        }
        column += width;
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgn_engine::Move;
    use pgn_lab::story::Wrong;

    fn steps() -> Vec<Step> {
        let moved: Vec<Move> = (0..40).map(|node| Move { node, from: node, to: 99 }).collect();
        let wrong = (0..40).map(|node| Wrong { node, to: 99, truth: node }).collect();
        let calm = Step {
            operands: [3, 7],
            answer: 1,
            confidence: 0.981,
            truth: 1,
            moved: vec![Move { node: 3, from: 3, to: 7 }],
            wrong: Vec::new(),
        };
        let wild = Step { answer: 0, confidence: 0.5, moved, wrong, ..calm.clone() };
        vec![calm, wild]
    }

    #[test]
    fn fits_80_columns_and_says_what_happened() {
        let text = render(&steps(), 100, false);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!text.contains('\x1b'));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "   1  (3, 7)    says 1 (98 %)   1 right   3→7");
        assert!(lines[2].contains("1 WRONG"), "{text}");
        assert!(text.contains("40 of 100 pointers wrong: 0→99 (should be 0)"), "{text}");
        assert!(text.contains(" more"), "{text}");
        assert!(text.ends_with("1 of 2 answers right; the first wrong one at step 2.\n"));
    }

    #[test]
    fn colours_change_nothing_else() {
        let coloured = render(&steps(), 100, true);
        assert!(coloured.contains("\x1b[31m"));
        let bare = coloured.replace("\x1b[31m", "").replace("\x1b[32m", "").replace("\x1b[0m", "");
        assert_eq!(bare, render(&steps(), 100, false));
    }
}
