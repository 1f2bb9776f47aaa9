//! What was meant by a name that does not exist.

use strsim::osa_distance;

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
    let mistakes = known.into_iter().map(|name| (osa_distance(&given, name), name));
    let (mistakes, name) = mistakes.min_by_key(|(mistakes, _)| *mistakes)?;
    (mistakes <= 2 && 2 * mistakes < name.chars().count()).then_some(name)
}

/// ` (did you mean NAME?)`, or nothing: the end of a sentence about a name that does not exist.
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    closest(given, known).map_or(String::new(), |name| format!(" (did you mean {name}?)"))
}
