//! `pgn demo` on few nodes: everything it says and writes.

mod common;

use common::{names, pgn, refused, stdout};

#[test]
fn a_machine_is_trained_certified_and_compared_with_model_and_baselines() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let output = pgn(here, "demo --task dsu --nodes 1200").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("Trained: a disjoint-set union from random weights"), "{text}");
    assert_eq!(
        lines[2..4],
        ["Proved, for every n: it equals the program on all 21 views that the", "clauses allow."]
    );
    let row = |name: &str| -> Vec<&str> {
        let line = lines.iter().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().collect()
    };
    assert_eq!(row("learned machine, compiled"), ["0", "0"]);
    // What never changes its answer is wrong where the other one is right.
    let [zero, one] = ["always 0", "always 1"]
        .map(|name| row(name)[1].replace(",", "").parse::<usize>().unwrap());
    assert_eq!(zero + one, 1800);
    assert_eq!(row("the paper's pgn")[1..], ["not", "run"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80 || line.starts_with("Report")));
    assert!(text.ends_with("Next: pgn serve runs/demo\n"), "{text}");

    assert_eq!(names(&here.join("runs/demo")), ["machine", "report.html"]);
    assert!(here.join("runs/demo/machine/certificate.json").is_file());
    let html = std::fs::read_to_string(here.join("runs/demo/report.html")).unwrap();
    for words in
        ["A learned disjoint-set union", "Proved: whatever operations", "data-replay=\"1\""]
    {
        assert!(html.contains(words), "{words}");
    }

    // Again: nothing is trained, and the same comes out.
    let json: serde_json::Value =
        serde_json::from_str(&stdout(here, "demo --task dsu --nodes 1200 --json")).unwrap();
    assert_eq!(json["certified"], true);
    let [small, large] = json["tests"].as_array().unwrap().as_slice() else { panic!("{json}") };
    assert_eq!((&small["nodes"], &large["nodes"]), (&1000.into(), &1200.into()));
    assert_eq!(large["machine"]["wrong_pointers"], 0);
    assert!(small["pgn"]["wrong_pointers"].as_u64().unwrap() > 0);
    // Nothing that is learned is worth showing if a constant does as well.
    let wrong = |name: &str| small[name]["wrong_answers"].as_u64().unwrap();
    assert!(wrong("counting") < wrong("always_0").min(wrong("always_1")));
    let sentence = refused(here, "demo --task lct");
    assert!(sentence.contains("task is \"dsu\" there and \"lct\" here"), "{sentence}");
}
