//! Data, predictions, scores and the leaderboard, from end to end.

use std::{collections::BTreeMap, fs, path::Path};

use pgn_benchmark::{
    Card, Data, Entry, Predictions, Predictor, Set, TASKS, make, readme, score, table,
};
use pgn_lab::Counting;
use pgn_structures::{Dataset, Family, Sampling, files::TensorWriter};

fn trouble<T>(result: pgn_benchmark::Result<T>) -> String {
    result.err().expect("it should be refused").to_string()
}

/// The bytes are the committed ones: `make` refuses any others.
#[test]
fn the_data_are_the_same_bytes_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    for task in TASKS.map(str::to_owned) {
        let (mut seen, inner) = (0, folder.path().join(&task));
        make(&inner, std::slice::from_ref(&task), false, |set| {
            assert!(set.checksum().is_some(), "{set}");
            seen += 1;
        })
        .unwrap();
        assert_eq!(seen, 8);
        fs::remove_dir_all(inner).unwrap();
    }
    make(folder.path(), &["ring".into()], true, |_| ()).unwrap();
    let listed = fs::read_to_string(folder.path().join("checksums.txt")).unwrap();
    assert!(listed.lines().count() == 8 && listed.contains("ring/test-10000.safetensors"));
    assert!(folder.path().join("ring/test-100.jsonl").exists());
    assert!(trouble(make(folder.path(), &["rings".into()], false, |_| ())).contains("`rings`"));
    assert_eq!(fs::read_to_string(folder.path().join("README.md")).unwrap(), readme().unwrap());

    // The paper's training sequences come first, and a full file is a data set like any other.
    let train = Dataset::load(folder.path().join("ring/train.safetensors")).unwrap();
    let task = Set::test("ring", 20).unwrap().task().unwrap();
    let paper = Dataset::sample(&task, &Sampling::paper(20)).unwrap();
    assert_eq!(train.operations[..paper.operations.len()], paper.operations);
    assert!(train.fields.pointer("previous").is_ok());
    Dataset::load(folder.path().join("ring/test-200.safetensors")).unwrap();
}

/// Sets without masks and pointers ask the same questions as those with them would.
#[test]
fn large_sets_are_what_a_full_one_would_be() {
    for task in ["kruskal", "heap"] {
        let data = Data::of(&Set::test(task, 1000).unwrap()).unwrap();
        assert!(data.sequences.pointers.is_empty() && data.sequences.count() == 10);
        let answers = data.sequences.answers.clone();
        let edges = data.sequences.edges.clone();
        let full = data.full().unwrap().sequences;
        assert_eq!((full.answers, full.edges), (answers, edges));
        assert_eq!(full.pointers.len(), 10 * 1500 * 1000);
    }
}

#[test]
fn rules_score_what_rules_score() {
    for task in ["dsu", "bst"] {
        let set = Set::test(task, 20).unwrap();
        let counting = Predictions::of(&Predictor::Counting, &set).unwrap().unwrap();
        let record = counting.score().unwrap();
        assert_eq!(Some(record.all.scores.f1), record.all.counting_f1);
        assert_eq!(record.families.len(), Family::ALL.len());
        // The random family is what `pgn eval` tests seed 0 on.
        let rule = Counting::of_seed(&set.task().unwrap(), 0).unwrap();
        let own = rule.test(&set.task().unwrap(), 0, 20, 30, 35).unwrap();
        assert_eq!(record.families["random"].scores, own);
    }
    let zero = Predictor::Always(false);
    let record = Predictions::of(&zero, &Set::test("forest", 1000).unwrap()).unwrap().unwrap();
    assert_eq!(record.score().unwrap().all.scores.f1, 0.0);
}

/// The truth scores 1 everywhere, and one wrong pointer is seen.
#[test]
fn the_truth_is_exact() {
    let set = Set::test("lct", 20).unwrap();
    let truth = Data::of(&set).unwrap().sequences;
    let mut all = Predictions {
        set,
        seed: 3,
        seconds: Some(1.0),
        answers: truth.answers,
        masks: Some(truth.masks),
        pointers: Some(truth.pointers),
    };
    let record = all.score().unwrap();
    assert_eq!((record.all.scores.f1, record.all.scores.sequences_exact), (1.0, Some(1.0)));
    assert_eq!((record.all.scores.mask_accuracy, record.all.first_error), (Some(1.0), None));
    assert!(record.all.trivial.unwrap().keep_pointers < 1.0);
    let path = tempfile::tempdir().unwrap().keep().join("all.safetensors");
    all.save(&path).unwrap();
    assert_eq!(Predictions::load(&path).unwrap(), all);
    all.pointers.as_mut().unwrap()[7 * 20] ^= 1;
    let record = all.score().unwrap();
    assert_eq!(record.all.first_error, Some(7));
    assert!(record.families["random"].scores.sequences_exact < Some(1.0));
    assert_eq!(record.families["star"].scores.sequences_exact, Some(1.0));
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

/// A machine is exact at every size, without masks and pointers too.
#[test]
fn machines_make_no_mistake() {
    let machine = Predictor::open("dsu").unwrap();
    for nodes in [20, 1000] {
        let set = Set::test("dsu", nodes).unwrap();
        let record = Predictions::of(&machine, &set).unwrap().unwrap().score().unwrap();
        assert_eq!(record.all.first_error, None);
        assert_eq!(record.all.scores.sequences_exact, (nodes == 20).then_some(1.0));
    }
    assert!(Predictions::of(&machine, &Set::test("lct", 20).unwrap()).unwrap().is_none());
}

enum Values<'a> {
    U8(&'a [u8]),
    U32(&'a [u32]),
    F32(&'a [f32]),
}
use Values::{F32, U8, U32};

type Tensor<'a> = (&'a str, &'a [usize], Values<'a>);

fn write(path: &Path, metadata: &[(&str, &str)], tensors: &[Tensor<'_>]) {
    let mut file = TensorWriter::new();
    metadata.iter().for_each(|(key, value)| file.metadata(key, value));
    for (name, shape, values) in tensors {
        match values {
            U8(values) => file.u8(name, shape, values),
            U32(values) => file.u32(name, shape, values),
            F32(values) => file.f32(name, shape, values),
        }
    }
    file.save(path).unwrap();
}

#[test]
fn what_is_damaged_or_of_other_data_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.safetensors");
    let set = Set::test("dsu", 20).unwrap();
    let data = set.checksum().unwrap();
    let right = [("task", "dsu"), ("nodes", "20"), ("split", "test"), ("data", data)];
    let answers = vec![0_u8; 175 * 30];
    let (twos, nans) = (vec![2_u8; 175 * 30], vec![f32::NAN; 175 * 30]);
    let far = vec![20_u32; 175 * 30 * 20];
    let zeros: Tensor<'_> = ("answers", &[175, 30], U8(&answers));
    write(&path, &right, std::slice::from_ref(&zeros));
    assert_eq!(score(&path).unwrap().all.scores.f1, 0.0);

    for (key, value, expected) in [
        ("task", "dsuu", "the benchmark has no test set of `dsuu` with 20 nodes"),
        ("nodes", "21", "with 21 nodes"),
        ("nodes", "many", "which is not a whole number"),
        ("split", "train", "it is about data whose checksum is"),
        ("split", "tests", "which is not the name of a split"),
        ("data", "0", "it is about data whose checksum is 0; expected"),
        ("seed", "x", "which is not a whole number"),
    ] {
        let mut changed: BTreeMap<&str, &str> = right.into_iter().collect();
        changed.insert(key, value);
        let changed: Vec<(&str, &str)> = changed.into_iter().collect();
        write(&path, &changed, std::slice::from_ref(&zeros));
        let found = trouble(score(&path));
        assert!(found.contains(expected) && found.contains("p.safetensors"), "{found}");
    }
    write(&path, &right[..3], std::slice::from_ref(&zeros));
    assert!(trouble(score(&path)).contains("its metadata has no `data`"));
    let (logits, pointers) = (("query_logits", &[175_usize, 30][..], F32(&nans)), &[175, 30, 20]);
    let cases: [(&str, &[Tensor<'_>]); 7] = [
        ("neither of", &[]),
        ("`answers` has shape [30, 175]", &[("answers", &[30, 175], U8(&answers))]),
        ("a predicted answer is 2", &[("answers", &[175, 30], U8(&twos))]),
        ("has a NaN", &[("query_logits", &[175, 30], F32(&nans))]),
        ("has both of", &[("answers", &[175, 30], U8(&answers)), logits]),
        ("it has a tensor `answer`", &[("answer", &[175, 30], U8(&answers))]),
        (
            "a predicted pointer is 20; expected a node below 20",
            &[("answers", &[175, 30], U8(&answers)), ("pointers", pointers, U32(&far))],
        ),
    ];
    for (expected, tensors) in cases {
        write(&path, &right, tensors);
        let found = trouble(score(&path));
        assert!(found.contains(expected) && found.contains("p.safetensors"), "{found}");
    }
    fs::write(&path, "answers").unwrap();
    assert!(trouble(score(&path)).contains("is no safetensors file"));
    assert!(trouble(score(&folder.path().join("none"))).contains("cannot read"));
}

#[test]
fn the_leaderboard_groups_by_supervision() {
    let folder = tempfile::tempdir().unwrap();
    assert!(trouble(Entry::load_all(folder.path())).contains("no folder in it has a card.toml"));
    let entry = |name: &str, supervision: &str, predictor: &Predictor, seeds: u64| {
        let inner = folder.path().join(name);
        fs::create_dir(&inner).unwrap();
        let card = format!(
            "name = \"{name}\"\nsupervision = \"{supervision}\"\nclaim = \"tested\"\nbudget = \"none\"\ncode = \"here\"\n"
        );
        fs::write(inner.join("card.toml"), card).unwrap();
        let mut records = Vec::new();
        for nodes in [20, 50] {
            let set = Set::test("dsu", nodes).unwrap();
            for seed in 0..seeds {
                let found = Predictions::of(predictor, &set).unwrap().unwrap();
                records.push(Predictions { seed, seconds: None, ..found }.score().unwrap());
            }
        }
        fs::write(inner.join("scores.json"), serde_json::to_string(&records).unwrap()).unwrap();
    };
    entry("machine", "micro-steps", &Predictor::open("dsu").unwrap(), 1);
    entry("counts", "answers", &Predictor::Counting, 2);
    let entries = Entry::load_all(folder.path()).unwrap();
    let text = table(&entries, 50);
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
    assert!(text.find("**Answers**") < text.find("| counts |"));
    assert!(text.find("| counts |") < text.find("**Micro-steps with states**"));
    assert_eq!(line("| machine |"), "| machine | 1.000 |");
    let counting = line("| counting |").trim_start_matches("| counting |").trim_end_matches(" |");
    assert_eq!(line("| counts |"), format!("| counts |{counting} ± 0.000 |"));
    assert!(text.contains("| machine | 50 |") && text.contains("| counts | – |"), "{text}");
    assert!(text.contains("| machine | tested | dsu | 1 | 1.000 | none | 1.000 ("), "{text}");

    // Whoever claims to be proved is asked for it.
    let path = folder.path().join("machine/card.toml");
    let card = fs::read_to_string(&path).unwrap().replace("tested", "proved");
    fs::write(&path, &card).unwrap();
    assert!(trouble(Entry::load_all(folder.path())).contains("no proof in `proofs` is of dsu"));
    fs::write(&path, format!("{card}proofs = [\"heap\"]\n")).unwrap();
    assert!(trouble(Entry::load_all(folder.path())).contains("no proof in `proofs` is of dsu"));
    fs::write(&path, format!("{card}proofs = [\"mine\"]\n")).unwrap();
    assert!(trouble(Entry::load_all(folder.path())).contains("mine"));
    fs::write(&path, format!("{card}proofs = [\"dsu\"]\n")).unwrap();
    assert_eq!(
        table(&Entry::load_all(folder.path()).unwrap(), 50),
        text.replace("tested | dsu | 1 |", "proved | dsu | 1 |")
    );

    fs::write(folder.path().join("counts/card.toml"), "name = \"counts\"\n").unwrap();
    assert!(trouble(Entry::load_all(folder.path())).contains("missing field `supervision`"));
    let card =
        "name = \"x\"\nsupervision = \"all\"\nclaim = \"tested\"\nbudget = \"\"\ncode = \"\"\n";
    assert!(toml::from_str::<Card>(card).unwrap_err().message().contains("unknown variant `all`"));
}

/// The committed leaderboard is that of the committed entries.
#[test]
fn the_leaderboard_is_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/benchmark");
    let entries = Entry::load_all(&folder).unwrap();
    assert_eq!(fs::read_to_string(folder.join("README.md")).unwrap(), table(&entries, 200));
    let machine = entries.iter().find(|entry| entry.card.name == "pgn-machine").unwrap();
    assert!(machine.records.iter().all(|record| record.all.first_error.is_none()));
}
