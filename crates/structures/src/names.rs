//! What was meant by a name that does not exist.

/// The known name that a user probably meant: the one with the fewest typing mistakes, if there
/// are at most two and fewer than half of its letters are wrong.
///
/// ```
/// use pgn_structures::closest;
/// assert_eq!(closest("lst", ["dsu", "lct"]), Some("lct"));
/// assert_eq!(closest("pgn_exact", ["pgn", "pgn-exact"]), Some("pgn-exact"));
/// assert_eq!(closest("transformer", ["dsu", "lct"]), None);
/// ```
pub fn closest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    let mistakes = known.into_iter().map(|name| (distance(&given, name), name));
    let (mistakes, name) = mistakes.min_by_key(|(mistakes, _)| *mistakes)?;
    (mistakes <= 2 && 2 * mistakes < name.chars().count()).then_some(name)
}

/// ` (did you mean NAME?)`, or nothing: the end of a sentence about a name that does not exist.
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    closest(given, known).map_or(String::new(), |name| format!(" (did you mean {name}?)"))
}

/// Letters inserted, left out, replaced, or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // rows[i][j]: between the first i letters of a and the first j of b.
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_counted() {
        let cases = [("", "", 0), ("", "abc", 3), ("lct", "lct", 0), ("ltc", "lct", 1)];
        for (a, b, mistakes) in cases {
            assert_eq!((distance(a, b), distance(b, a)), (mistakes, mistakes), "{a} {b}");
        }
        assert_eq!(distance("pgn_ecact", "pgn-exact"), 2);
    }

    #[test]
    fn only_a_name_that_is_close_is_suggested() {
        let models = ["gnn", "deepsets", "pgn", "pgn-nm", "pgn-machine"];
        let found = |given| closest(given, models);
        assert_eq!(found("gmm"), None, "two of three letters are wrong");
        assert_eq!(found("ggn"), Some("gnn"));
        assert_eq!(found("deepset"), Some("deepsets"));
        assert_eq!(found("PGN"), Some("pgn"));
        assert_eq!(found("pgnmachine"), Some("pgn-machine"));
        assert_eq!(closest("x", []), None);
        assert_eq!(did_you_mean("ltc", ["lct"]), " (did you mean lct?)");
        assert_eq!(did_you_mean("heap", ["lct"]), "");
    }
}
