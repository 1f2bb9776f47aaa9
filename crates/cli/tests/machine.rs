//! `pgn` with learned machines: train, certify, compile, eval, rollout, verify.

mod common;

use common::{pgn, refused, stdout};
use pgn_structures::files::TensorReader;

const SMALL: &str = "--epochs 120 --test-nodes 20 --test-sequences 3";

#[test]
fn from_training_to_a_compiled_machine() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let train = format!("train --task dsu --model pgn-machine --out run {SMALL}");
    let text = stdout(folder, &train);
    assert!(text.contains("21 of 21 consistent views are right"), "{text}");

    let text = stdout(folder, "certify run");
    assert!(text.contains("certified and proved, 21 of 21 consistent views right"), "{text}");
    assert!(
        text.replace('\n', " ").contains("whatever operations are called on however many nodes"),
        "{text}"
    );
    let certificate: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("run/certificate.json")).unwrap())
            .unwrap();
    assert_eq!(certificate["certified"], true);
    assert_eq!(certificate["program"], "dsu");
    assert!(certificate["weights"].as_str().unwrap().starts_with("sha256:"));

    let proof: serde_json::Value =
        serde_json::from_str(&stdout(folder, "check run --json")).unwrap();
    assert_eq!((&proof["proved"], &proof["views"]), (&true.into(), &21.into()));
    assert!(proof["answers"].as_u64() > Some(10), "{proof}");
    // A proof of another machine, and a damaged one.
    stdout(folder, "certify run");
    let bytes = std::fs::read(folder.join("run/proof.safetensors")).unwrap();
    let mut other = bytes.clone();
    let last = other.len() - 1;
    other[last] ^= 0x80; // the sign of a weight
    std::fs::write(folder.join("run/proof.safetensors"), &other).unwrap();
    assert!(refused(folder, "check run").contains("is not the proof of the machine beside it"));

    // A refutation is drawn over several lines, and the file's text in it stays escaped.
    let file = TensorReader::from_bytes("proof".into(), bytes.clone()).unwrap();
    let mut proof: serde_json::Value =
        serde_json::from_str(file.metadata("proof").unwrap()).unwrap();
    proof["rows"].as_array_mut().unwrap().remove(3);
    let proof = proof.to_string().replace(r#""union""#, r#""un\u001b[31m\nerror: ion""#);
    std::fs::write(folder.join("table.json"), proof.replace("= union", "= same")).unwrap();
    let output = pgn(folder, "check table.json").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("error: not proved: ") && error.lines().count() > 4, "{error}");
    assert!(error.lines().skip(1).all(|line| line.starts_with("  ")), "{error}");
    assert!(!error.contains(r"\n") && !error.contains('\u{1b}'), "{error}");
    std::fs::write(folder.join("run/proof.safetensors"), bytes).unwrap();

    let tree: serde_json::Value =
        serde_json::from_str(&stdout(folder, "compile run --emit json")).unwrap();
    assert!(tree.is_object());

    stdout(folder, "generate --task dsu --nodes 20 --ops 30 --count 3 --out data.safetensors");
    let bytes = ["network", "memoised", "compiled"].map(|mode| {
        let out = format!("{mode}.safetensors");
        stdout(folder, &format!("rollout run --data data.safetensors --out {out} --mode {mode}"));
        std::fs::read(folder.join(out)).unwrap()
    });
    assert!(bytes[0] == bytes[1] && bytes[0] == bytes[2]);
    let report: serde_json::Value = serde_json::from_str(&stdout(
        folder,
        "eval run --data data.safetensors --mode compiled --json",
    ))
    .unwrap();
    assert_eq!(report["test"][0]["f1"], 1.0);
    assert_eq!(report["test"][0]["sequences_exact"], 1.0);
    assert!(
        stdout(folder, "verify run --depth 16").contains("all 21 consistent views are right, all ")
    );

    // A setting of the network that is changed under the same certificate.
    let config = std::fs::read_to_string(folder.join("run/config.toml")).unwrap();
    std::fs::write(folder.join("run/config.toml"), config.replace("rounds = 4", "rounds = 6"))
        .unwrap();
    // The run's checksums notice first; without them the network itself tells.
    assert!(refused(folder, "compile run").contains("config.toml"));
    std::fs::remove_file(folder.join("run/results.json")).unwrap();
    for command in ["compile run", "eval run --mode compiled"] {
        assert!(refused(folder, command).contains("differs from its program on"), "{command}");
    }
}

#[test]
fn an_untrained_machine_is_refused_a_certificate_and_its_views_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let train = "train --task heap --model pgn-machine --epochs 1 --out run";
    stdout(folder, train);
    let output = pgn(folder, "certify run").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("NOT CERTIFIED") && text.contains("Wrong here:"), "{text}");
    assert!(text.contains("program: ") && text.contains("network: "), "{text}");
    assert!(refused(folder, "compile run").contains("differs from its program on"));
}

#[test]
fn built_in_machines_need_no_directory() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["dsu", "lct", "forest", "splay", "heap"] {
        assert!(stdout(folder, &format!("certify {name}")).contains(": certified and proved, "));
        assert!(stdout(folder, &format!("check {name}")).contains(": proved in "));
    }
    // What emitted Rust claims is what was proved.
    let one_line = |text: String| text.replace("\n//!", "");
    let source = one_line(stdout(folder, "compile forest --emit rust"));
    assert!(source.contains("Proved: whatever operations") && source.contains("`yes: split v`"));
    assert!(stdout(folder, "eval lct --nodes 20 --count 2").contains("sequences exact"));
    assert!(stdout(folder, "eval splay --nodes 20 --count 2").contains("sequences exact"));
    assert!(refused(folder, "certify nothing").contains("built-in"));
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
}

#[test]
fn judge_answers_and_names_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run =
        |line: &str, input: &str| pgn(folder, line).write_stdin(input.to_owned()).output().unwrap();
    let sets = "4 3\n0 0 1\n1 0 1\n1 0 2\n";
    for mode in ["network", "compiled"] {
        let done = run(&format!("judge unionfind dsu --mode {mode} --stats"), sets);
        assert_eq!(String::from_utf8_lossy(&done.stdout), "1\n0\n");
        let stats: serde_json::Value = serde_json::from_slice(&done.stderr).unwrap();
        assert_eq!(stats["operations"], 3);
    }
    let done = run("judge minimum_spanning_tree dsu", "3 3\n0 1 5\n1 2 3\n2 0 4\n");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "7\n1 2\n");
    let done = run("judge incremental_minimum_spanning_forest lct", "3 3\n0 1 5\n1 2 3\n2 0 4\n");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "-1 -1 0\n");
    let done = run("judge dynamic_tree_vertex_add_path_sum lct", "2 2\n1 2\n0 1\n1 0 5\n2 0 1\n");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "8\n");

    std::fs::write(folder.join("g.gr"), "p sp 3 3\na 1 2 5\na 2 3 3\na 3 1 4\n").unwrap();
    let done = run("judge minimum_spanning_tree dsu --graph g.gr", "");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "7\n1 2\n");
    let done = run("judge unionfind dsu --graph g.gr", "");
    assert!(String::from_utf8_lossy(&done.stderr).contains("--graph is for minimum_spanning_tree"));

    let done = run("judge unionfind dsu", "4 1\n0 0 9\n");
    assert_eq!(done.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&done.stderr),
        "error: line 2: found `9`; expected v, a whole number from 0 to 3\n"
    );
    assert_eq!(run("judge sorting dsu", "").status.code(), Some(2));
    let done = run("judge unionfind lct", sets);
    assert!(String::from_utf8_lossy(&done.stderr).contains("is no disjoint-set union"));
}

#[test]
fn a_refutation_is_json_too() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    stdout(folder, "train --task dsu --model pgn-machine --epochs 200 --out run");
    stdout(folder, "certify run");
    let bytes = std::fs::read(folder.join("run/proof.safetensors")).unwrap();
    let size = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + size]).unwrap();
    let text = header["__metadata__"]["proof"].as_str().unwrap();
    let without = text.replace("union -> not u ~ v", "union -> u ~ v");
    assert_ne!(text, without);
    std::fs::write(folder.join("table.json"), without).unwrap();
    let output = pgn(folder, "check table.json --json").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["proved"], &found["part"]), (&false.into(), &"induction".into()));
    assert_eq!(found["clause"], "yes: goal = union -> u ~ v");
    assert!(found["view"].as_str().unwrap().starts_with("link:"), "{found}");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: not proved: induction: "));
}
