//! A damaged analyses.json is refused.

use pgn_lab::analysis::Analyses;

/// The committed file, as JSON to be spoilt.
fn committed() -> serde_json::Value {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/paper/analyses.json");
    let text = std::fs::read_to_string(path).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let runs = value["runs"].as_array_mut().unwrap();
    runs.retain(|run| run["model"] == "pgn");
    runs.truncate(1);
    value
}

#[test]
fn what_figures_would_stumble_over_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("analyses.json");
    let load = |value: &serde_json::Value| {
        std::fs::write(&path, value.to_string()).unwrap();
        Analyses::load(&path)
    };
    load(&committed()).unwrap();
    let number = serde_json::Value::from(4_294_967_295_u32);
    let empty = serde_json::json!([]);
    for (place, value, words) in [
        ("/chains/0/pointers/model/3/2", &number, "a pointer to 4294967295"),
        ("/chains/0/pointers/truth/0", &empty, "a row of 0 pointers"),
        ("/chains/0/pointers/truth", &empty, "a chain's pointers has 0 steps"),
        ("/chains/1/steps/5/model_depth", &number, "a depth or diameter of 4294967295"),
        ("/chains/0/steps", &empty, "a chain has 0 steps"),
        ("/chains/0/nodes", &number, "a chain has 4294967295 nodes"),
        ("/credit/0/both/operated", &empty, "credit has 0 steps"),
        ("/credit/0/z/path/4", &number, "credit has the number 4294967295"),
        ("/pointers/0/along/model_depth/1", &number, "the number 4294967295"),
        ("/pointers/0/valid", &number, "the number 4294967295"),
        ("/beyond/0/where_1", &number, "the number 4294967295"),
    ] {
        let mut spoilt = committed();
        let spot = spoilt.pointer_mut(&format!("/runs/0{place}")).expect(place);
        *spot = value.clone();
        let sentence = load(&spoilt).unwrap_err().to_string();
        assert!(sentence.contains(words) && sentence.contains("analyses.json"), "{sentence}");
        assert!(!sentence.contains('\n'), "{sentence}");
    }
}
