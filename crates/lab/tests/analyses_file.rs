//! A damaged analyses.json is refused, and so is one that was changed by hand.

use pgn_lab::analysis::Analyses;

#[test]
fn only_what_was_written_is_read() {
    let committed =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/paper/analyses.json");
    let mut analyses = Analyses::load(&committed).unwrap();
    analyses.runs.retain(|run| run.model == "pgn");
    analyses.runs.truncate(1);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("analyses.json");
    analyses.save(&path).unwrap();
    assert_eq!(Analyses::load(&path).unwrap(), analyses);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["runs"][0]["chains"][0]["pointers"]["model"][3][2] = 4_294_967_295_u32.into();
    let without = text.replace(&text[text.find(",\n  \"crc32c\"").unwrap()..], "\n}\n");
    serde_json::from_str::<serde_json::Value>(&without).unwrap();
    for spoilt in [value.to_string(), text.replacen("0.1", "9.1", 1), without, text[..99].into()] {
        std::fs::write(&path, spoilt).unwrap();
        let sentence = Analyses::load(&path).unwrap_err().to_string();
        assert!(sentence.contains("analyses.json: it is damaged, or was changed"), "{sentence}");
    }
}
