//! `pgn demo` on few nodes: everything it says and writes.

mod common;

use common::{names, pgn, refused, stdout};

#[test]
fn a_machine_is_trained_certified_and_run_next_to_the_papers_model() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let output = pgn(here, "demo --task dsu --nodes 500").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("Trained: a disjoint-set union from random weights"), "{text}");
    assert_eq!(lines[1], "Certified: right on all 40 views it can ever see, so exact for every n.");
    assert!(lines[2].starts_with("At n = 500: 0 of 450 answers wrong; the paper's pgn"), "{text}");
    assert!(text.contains("no mistake in 750 more operations"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80 || line.starts_with("Report")));
    assert!(text.ends_with("Next: pgn serve runs/demo\n"), "{text}");

    assert_eq!(names(&here.join("runs/demo")), ["machine", "report.html"]);
    assert!(here.join("runs/demo/machine/certificate.json").is_file());
    let html = std::fs::read_to_string(here.join("runs/demo/report.html")).unwrap();
    for words in ["A learned disjoint-set union", "By induction", "data-replay=\"1\""] {
        assert!(html.contains(words), "{words}");
    }

    // Again: nothing is trained, and the same comes out.
    let json: serde_json::Value =
        serde_json::from_str(&stdout(here, "demo --task dsu --nodes 500 --json")).unwrap();
    assert_eq!(json["certified"], true);
    assert_eq!(json["machine"]["wrong_pointers"], 0);
    assert_eq!(json["pgn"]["operations"], 450);
    assert!(json["pgn"]["wrong_pointers"].as_u64().unwrap() > 0);
    let sentence = refused(here, "demo --task lct");
    assert!(sentence.contains("task is \"dsu\" there and \"lct\" here"), "{sentence}");
}
