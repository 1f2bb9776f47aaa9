//! `pgn analyse`, `pgn figures` and `pgn report`: what they write, and what they refuse.

mod common;

use std::{fs, path::Path};

use common::{SMALL, names, refused, stdout};
use pgn_lab::analysis::Analyses;

/// Small, but with a test size that the paper has too.
const WITH_20: &str = "--sequences 6 --validation-sequences 4 --nodes 8 --test-nodes 8,20 \
                       --test-sequences 3";

/// A grid of `gnn` and `pgn` on both tasks, hardly trained.
fn grid(here: &Path) {
    stdout(
        here,
        &format!("reproduce --out grid --models gnn,pgn --tasks dsu,lct --epochs 4 {WITH_20}"),
    );
}

#[test]
fn from_runs_to_analyses_figures_and_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    grid(here);

    let printed = stdout(here, "analyse grid --out made/analyses.json --threads 1");
    for words in [
        "DISJOINT-SET UNION\n",
        "\nshare of nodes: u and v ",
        "\ngnn: both ",
        "PGN amplifies the credit of relevant nodes (appendix D)\n  ",
    ] {
        assert!(printed.contains(words), "{words} in: {printed}");
    }
    assert!(!printed.contains("gnn: depth"), "a model without pointers has no depth");
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    let printed = stdout(here, "analyse grid --markdown");
    for words in [
        "## Disjoint-set union",
        "## Link/cut tree",
        "| | n = 8 | n = 20 |",
        "| share of nodes: u and v | 0.250 | 0.100 |",
        "| `gnn`: both |",
        "| `pgn`: steps with valid pointers |",
        "### PGN amplifies the credit of relevant nodes (appendix D): ",
    ] {
        assert!(printed.contains(words), "{words} in: {printed}");
    }
    assert!(!printed.contains("`gnn`: depth"), "a model without pointers has no depth");
    let path = here.join("made/analyses.json");
    let bytes = fs::read(&path).unwrap();
    let analyses = Analyses::load(&path).unwrap();
    assert_eq!(analyses.runs.len(), 4);
    // The same with other threads, on standard output, and for runs named one by one.
    let json = stdout(here, "analyse grid --threads 3 --json");
    assert_eq!(serde_json::from_str::<Analyses>(&json).unwrap(), analyses);
    let some = stdout(here, "analyse grid/lct grid/lct/pgn/seed-0 --models pgn --json");
    let some: Analyses = serde_json::from_str(&some).unwrap();
    assert_eq!(some.runs, analyses.of("lct", "pgn").cloned().collect::<Vec<_>>());
    let again = refused(here, "analyse grid --out made/analyses.json");
    assert!(again.ends_with("made/analyses.json already exists; use --force to overwrite it"));
    stdout(here, "analyse grid --out made/analyses.json --force");
    assert!(fs::read(&path).unwrap() == bytes);

    fs::copy(here.join("grid/runs.json"), here.join("made/runs.json")).unwrap();
    let told = stdout(here, "figures made --out pictures/here");
    let drawn = names(&here.join("pictures/here"));
    let expected = [
        "beyond",
        "chain",
        "credit-dsu",
        "credit-dsu-h",
        "credit-dsu-z",
        "credit-lct",
        "credit-lct-h",
        "credit-lct-z",
        "depth",
        "diameter",
        "f1",
        "validity",
    ];
    let mut files = expected.map(|name| format!("{name}.svg"));
    files.sort();
    assert_eq!(drawn, files);
    assert!(expected.iter().all(|name| told.contains(&format!("pictures/here/{name}.svg "))));
    stdout(here, "figures made --out again");
    for name in &drawn {
        let [a, b] =
            ["pictures/here", "again"].map(|dir| fs::read(here.join(dir).join(name)).unwrap());
        assert!(a == b, "{name} is not the same again");
        assert!(a.starts_with(b"<svg "));
    }

    let told = stdout(here, "report grid --out reports/all.html");
    assert!(told.starts_with("reports/all.html: 4 runs, "), "{told}");
    assert_eq!(names(&here.join("reports")), ["all.html"]);
    let html = fs::read_to_string(here.join("reports/all.html")).unwrap();
    stdout(here, "report grid --analyses made/analyses.json --out again.html --threads 1");
    assert!(fs::read_to_string(here.join("again.html")).unwrap() == html);
    for words in [
        "<td class=\"theirs\">0.895 ± 0.006</td>",
        "dsu/pgn/seed-0",
        "learning_rate = 0.005",
        "data-replay=\"3\"",
        "pgn train --config config.toml",
        "<title>Link/cut tree: where the answers come from</title>",
        "<title>Beyond counting</title>",
    ] {
        assert!(html.contains(words), "{words}");
    }
    // Nothing in it is loaded from elsewhere; a script draws a PNG through an image of its own.
    for words in [" src=", "href=\"http", "url(", "@import", "<link rel=\"stylesheet"] {
        assert!(!html.contains(words), "{words}");
    }
}

#[test]
fn one_run_whose_name_is_hostile() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --model pgn-nm --epochs 2 --out run {SMALL}"));
    let hostile = here.join("<img src=x onerror=alert(1)>");
    fs::rename(here.join("run"), &hostile).unwrap();
    stdout(here, "report . --out report.html");
    let html = fs::read_to_string(here.join("report.html")).unwrap();
    assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;") && !html.contains("<img"));
    assert!(html.contains("`pgn-nm`: steps") || html.contains("<code>pgn-nm</code>: steps"));
}

#[test]
fn what_cannot_be_done_is_said_in_a_sentence_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    stdout(here, &format!("train --model pgn --epochs 2 --out whole {SMALL}"));
    fs::create_dir(here.join("empty")).unwrap();
    for name in ["damaged", "without"] {
        fs::create_dir(here.join(name)).unwrap();
        for file in ["config.toml", "results.json", "model.safetensors", "metrics.jsonl"] {
            fs::copy(here.join("whole").join(file), here.join(name).join(file)).unwrap();
        }
    }
    fs::remove_file(here.join("without/model.safetensors")).unwrap();
    fs::write(here.join("damaged/model.safetensors"), b"nonsense").unwrap();
    fs::create_dir(here.join("bad")).unwrap();
    fs::write(here.join("bad/analyses.json"), "{\"runs\": [{}]}").unwrap();
    let before = names(here);
    for (arguments, words) in [
        ("analyse nowhere --out out", "nowhere"),
        ("analyse empty --out out", "empty has no finished run in it"),
        ("analyse whole empty --out out", "empty has no finished run in it"),
        ("analyse whole --models gnn --out out", "--models: no run of gnn"),
        ("analyse without --out out", "without/model.safetensors: there is no trained model here"),
        ("analyse whole damaged --out out", "damaged/model.safetensors"),
        ("analyse whole --threads 0 --out out", "--threads is 0"),
        ("figures empty --out out", "empty has no analyses.json in it; pgn analyse makes one"),
        ("figures bad --out out", "bad/analyses.json: it is damaged, or was changed by hand"),
        ("report empty --out out", "empty has no finished run in it"),
        ("report whole damaged --out out", "damaged/model.safetensors"),
        ("report whole --analyses bad/analyses.json --out out", "bad/analyses.json"),
        ("report whole --analyses nowhere --out out", "nowhere"),
        ("report whole --out empty", "empty"),
    ] {
        let sentence = refused(here, arguments);
        assert!(sentence.contains(words), "expected '{words}' in: {sentence}");
        assert_eq!(names(here), before, "{arguments}");
    }
}
