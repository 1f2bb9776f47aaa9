//! `--search`: how pointers are searched for in rollouts over many nodes.

use pgn_engine::Search;

/// What the flag takes.
pub const HELP: &str = "How pointers are searched for at large n: full (every key), exact (an index \
                        with the same outcome) or auto (whichever is faster)";

/// Reads the flag.
pub fn parse(text: &str) -> Result<Search, String> {
    let all = [Search::Auto, Search::Full, Search::Exact];
    let found = all.into_iter().find(|search| search.to_string() == text);
    found.ok_or_else(|| format!("expected auto, full or exact, found '{text}'"))
}
