//! `--search`: how pointers are searched for in rollouts over many nodes.

use pgn_engine::{Lsh, Search};

/// What the flag takes.
pub const HELP: &str = "How pointers are searched for at large n: full (every key), exact (an index \
                        with the same outcome), auto (whichever is faster), lsh or \
                        lsh:TABLESxBITS (approximate)";

/// Reads the flag.
pub fn parse(text: &str) -> Result<Search, String> {
    let expected = || format!("expected auto, full, exact, lsh or lsh:8x8, found '{text}'");
    match (text, text.strip_prefix("lsh:").and_then(|numbers| numbers.split_once('x'))) {
        ("auto", _) => Ok(Search::Auto),
        ("full", _) => Ok(Search::Full),
        ("exact", _) => Ok(Search::Exact),
        ("lsh", _) => Ok(Search::Lsh(Lsh::default())),
        (_, Some((tables, bits))) => {
            let number = |text: &str| text.parse::<usize>().map_err(|_| expected());
            Ok(Search::Lsh(Lsh { tables: number(tables)?, bits: number(bits)? }))
        }
        _ => Err(expected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_search() {
        assert_eq!(parse("auto"), Ok(Search::default()));
        assert_eq!(parse("full"), Ok(Search::Full));
        assert_eq!(parse("lsh:4x12"), Ok(Search::Lsh(Lsh { tables: 4, bits: 12 })));
        for wrong in ["", "lsh:", "lsh:4", "lsh:4x", "lsh:ax8", "Full"] {
            assert!(parse(wrong).unwrap_err().contains("expected auto, full, exact"), "{wrong}");
        }
    }
}
