//! `--test-layers`: how often the processor is applied to an operation at test.

use pgn_engine::TestLayers;

/// Reads `nodes:20` or `depth:3`.
pub fn parse(text: &str) -> Result<TestLayers, String> {
    let wrong = || format!("expected nodes:N or depth:D, such as nodes:20, found '{text}'");
    let (by, base) = text.split_once(':').ok_or_else(wrong)?;
    let base = base.parse().map_err(|_| wrong())?;
    match by {
        "nodes" => Ok(TestLayers::Nodes(base)),
        "depth" => Ok(TestLayers::Depth(base)),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_for_layers() {
        assert_eq!(parse("nodes:20"), Ok(TestLayers::Nodes(20)));
        assert_eq!(parse("depth:2"), Ok(TestLayers::Depth(2)));
        for wrong in ["", "20", "nodes", "nodes:", "nodes:x", "size:20", "depth:-1"] {
            assert!(parse(wrong).unwrap_err().contains("expected nodes:N or depth:D"), "{wrong}");
        }
    }
}
