//! Lists of indices as text, `3,7,9-12`: what `sbatch --array` takes.

use std::fmt::Write;

/// The most that one list may hold.
const MOST: usize = 100_000;

/// The text of a list, ascending: neighbours are joined.
///
/// ```
/// assert_eq!(pgn_runs::indices::format(&[3, 7, 9, 10, 11, 12]), "3,7,9-12");
/// assert_eq!(pgn_runs::indices::format(&[]), "");
/// ```
pub fn format(indices: &[usize]) -> String {
    let mut text = String::new();
    let mut rest = indices;
    while let Some(&first) = rest.first() {
        let run = rest.iter().enumerate().take_while(|&(at, &index)| index == first + at).count();
        let comma = if text.is_empty() { "" } else { "," };
        let _ = match run {
            1 => write!(text, "{comma}{first}"),
            2 => write!(text, "{comma}{first},{}", first + 1),
            _ => write!(text, "{comma}{first}-{}", first + run - 1),
        };
        rest = &rest[run..];
    }
    text
}

/// Reads such a text. The order is kept; an index that is there twice is an error.
///
/// ```
/// assert_eq!(pgn_runs::indices::parse("3,7,9-12").unwrap(), [3, 7, 9, 10, 11, 12]);
/// assert!(pgn_runs::indices::parse("3,,4").is_err());
/// ```
pub fn parse(text: &str) -> Result<Vec<usize>, String> {
    let expected = || format!("'{text}' is no list of indices; expected one such as 3,7,9-12");
    let mut indices = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse::<usize>().ok()).flatten().ok_or_else(expected)
        };
        let (first, last) = (number(first.trim())?, number(last.trim())?);
        if first > last {
            return Err(expected());
        }
        if last - first >= MOST || indices.len() > MOST {
            return Err(format!("'{text}' holds more than {MOST} indices"));
        }
        indices.extend(first..=last);
    }
    let mut seen = std::collections::BTreeSet::new();
    match indices.iter().find(|&&index| !seen.insert(index)) {
        Some(index) => Err(format!("'{text}' holds {index} twice; expected each once")),
        None => Ok(indices),
    }
}
