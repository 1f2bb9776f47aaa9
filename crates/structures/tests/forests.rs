//! Depths of pointers; misspelt names; fields of CSV files in errors.

use pgn_structures::{Node, Task, closest, did_you_mean, forest::depths, read_operations};

#[test]
fn depths_agree_with_walking() {
    let mut rng = pgn_structures::Rng::new([7, 0, 0, 0]);
    for n in 1..60u32 {
        let pointers: Vec<Node> = (0..n).map(|_| rng.below(n)).collect();
        let on_cycle = |node: Node| {
            let mut next = pointers[node as usize];
            (0..n).any(|_| {
                let back = next == node;
                next = pointers[next as usize];
                back
            })
        };
        for node in 0..n {
            let (mut steps, mut next) = (0, node);
            while !on_cycle(next) {
                next = pointers[next as usize];
                steps += 1;
            }
            assert_eq!(depths(&pointers)[node as usize], steps);
        }
    }
}

#[test]
fn a_long_chain_is_deep() {
    let pointers: Vec<Node> = (0..100_000u32).map(|node| node.saturating_sub(1)).collect();
    assert_eq!(depths(&pointers)[99_999], 99_999);
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

#[test]
fn errors_show_fields_shortened_and_without_terminal_escapes() {
    let long = "7".repeat(60_000);
    let endless = format!("0,1\n{}", long.repeat(100));
    let lines = [format!("0,{long}\n"), long, endless, "0,\u{1b}[2J\u{202e}1\n".to_owned()];
    let errors = lines.map(|text| {
        let dsu = Task::named("dsu").unwrap();
        read_operations(text.as_bytes(), "a.csv".as_ref(), &dsu, 3).unwrap_err().to_string()
    });
    let short = "7".repeat(40);
    assert_eq!(
        errors,
        [
            format!("a.csv: line 1: expected a node, a whole number below 3, found `{short}…`"),
            format!("a.csv: line 1: expected two nodes `u,v`, found `{short}…`"),
            "a.csv: line 2: it is longer than 65536 bytes".to_owned(),
            "a.csv: line 1: expected a node, a whole number below 3, found \
             `\\u{1b}[2J\\u{202e}1`"
                .to_owned(),
        ]
    );
}
