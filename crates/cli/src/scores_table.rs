//! Scores as a small table, one column per test set.

use std::fmt::Write;

use pgn_lab::TestScores;

/// Lines of text; what was not measured is left out.
pub fn render(sets: &[TestScores]) -> String {
    type Row = (&'static str, fn(&TestScores) -> Option<f64>);
    const ROWS: [Row; 17] = [
        ("F1", |s| Some(s.scores.f1)),
        ("precision", |s| Some(s.scores.precision)),
        ("recall", |s| Some(s.scores.recall)),
        ("accuracy", |s| Some(s.scores.accuracy)),
        ("pointer accuracy", |s| s.scores.pointer_accuracy),
        ("mask accuracy", |s| s.scores.mask_accuracy),
        ("sequences wholly right", |s| Some(s.scores.sequences_right)),
        ("sequences exact", |s| s.scores.sequences_exact),
        // Compiled machines do not count theirs.
        ("processor steps, mean", |s| {
            s.execution.as_ref().map(|e| e.mean_steps).filter(|steps| *steps > 0.0)
        }),
        ("accuracy of always 0", |s| Some(1.0 - s.scores.answers_1)),
        ("accuracy of always 1", |s| Some(s.scores.answers_1)),
        ("pointers all to self", |s| s.trivial.map(|rules| rules.point_to_self)),
        ("pointers never moved", |s| s.trivial.map(|rules| rules.keep_pointers)),
        ("masks never visited", |s| s.trivial.map(|rules| rules.never_visit)),
        ("F1 of always answering 1", |s| Some(s.scores.f1_always_1)),
        ("F1 of always answering 0", |s| Some(s.scores.f1_always_0)),
        ("F1 of counting", |s| s.counting_f1),
    ];
    // As many columns of 8 characters as fit beside the names in 80; more sets go below.
    const COLUMNS: usize = 6;
    let mut text = String::new();
    for sets in sets.chunks(COLUMNS) {
        let mut line = format!("{:<26}", "");
        for set in sets {
            let _ = write!(line, " {:>8}", format!("n={}", set.nodes));
        }
        let _ = writeln!(text, "{}", line.trim_end());
        let mut line = |name: &str, scores: &[Option<f64>]| {
            if scores.iter().all(Option::is_none) {
                return;
            }
            let _ = write!(text, "{name:<26}");
            for score in scores {
                let cell = score.map_or("-".to_owned(), |score| format!("{score:.3}"));
                let _ = write!(text, " {cell:>8}");
            }
            text.push('\n');
        };
        for (name, score) in ROWS {
            line(name, &sets.iter().map(score).collect::<Vec<_>>());
        }
    }
    text
}
