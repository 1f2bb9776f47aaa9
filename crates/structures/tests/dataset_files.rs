//! Data-set files: what is written is read, and what is damaged is refused by name.

use std::fs;
use std::path::PathBuf;

use pgn_structures::files::{TensorReader, TensorWriter};
use pgn_structures::{
    Dataset, Error, Operation, Sampling, Split, Task, operations_from_csv, read_operations,
};
use tempfile::TempDir;

fn sample() -> Dataset {
    let sampling = Sampling {
        nodes: 5,
        ops: 4,
        count: 3,
        // Larger than 2⁵³: metadata must not pass through a float.
        seed: u64::MAX - 1,
        split: Split::Validation,
    };
    Dataset::sample(&Task::named("lct").unwrap(), &sampling).unwrap()
}

fn dsu() -> Task {
    Task::named("dsu").unwrap()
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set.safetensors");
    (folder, path)
}

#[test]
fn round_trip() {
    let (folder, path) = place();
    let set = sample();
    set.save(&path).unwrap();
    assert_eq!(Dataset::load(&path).unwrap(), set);
    assert!(set.agrees_with(&Task::named("lct").unwrap()).unwrap());
    assert!(!set.agrees_with(&Task::named("dsu").unwrap()).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// The contract, read with the `safetensors` crate alone.
#[test]
fn the_file_is_what_other_programs_expect() {
    let (_folder, path) = place();
    let set = sample();
    set.save(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = header.metadata().as_ref().unwrap();
    for (key, value) in [
        ("format_version", "1"),
        ("task", "lct"),
        ("nodes", "5"),
        ("ops", "4"),
        ("seed", "18446744073709551614"),
        ("split", "validation"),
    ] {
        assert_eq!(metadata[key], value);
    }
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut found: Vec<_> = file
        .tensors()
        .into_iter()
        .map(|(name, tensor)| format!("{name} {} {:?}", tensor.dtype(), tensor.shape()))
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            "answers U8 [3, 4]",
            "masks U8 [3, 4, 5]",
            "operands U32 [3, 4, 2]",
            "pointers U32 [3, 4, 5]",
            "priorities F32 [3, 5]",
        ]
    );
    let operands = file.tensor("operands").unwrap().data();
    assert_eq!(operands[..4], set.operations[0].u.to_le_bytes());
    assert_eq!(operands[4..8], set.operations[0].v.to_le_bytes());
    // Tensors are aligned, so that others can map the file.
    let start = bytes.len() - file.tensors().iter().map(|(_, t)| t.data().len()).sum::<usize>();
    assert_eq!(start % 8, 0);
}

/// A valid file, and everything about it that can be damaged.
struct Parts {
    metadata: Vec<(&'static str, String)>,
    priorities: (Vec<usize>, Vec<f32>),
    operands: (Vec<usize>, Vec<u32>),
    answers: (Vec<usize>, Vec<u8>),
    masks: (Vec<usize>, Vec<u8>),
    pointers: (Vec<usize>, Vec<u32>),
}

impl Parts {
    fn new() -> Self {
        let set = sample();
        let pair = |key, value: &dyn ToString| (key, value.to_string());
        Parts {
            metadata: vec![
                pair("format_version", &1),
                pair("task", &"lct"),
                pair("nodes", &5),
                pair("ops", &4),
                pair("seed", &0),
                pair("split", &"train"),
            ],
            priorities: (vec![3, 5], set.priorities),
            operands: (vec![3, 4, 2], set.operations.iter().flat_map(|o| [o.u, o.v]).collect()),
            answers: (vec![3, 4], set.answers),
            masks: (vec![3, 4, 5], set.masks),
            pointers: (vec![3, 4, 5], set.pointers),
        }
    }

    fn set(&mut self, key: &str, value: &str) {
        self.metadata.iter_mut().find(|(k, _)| *k == key).unwrap().1 = value.into();
    }

    fn load(&self) -> Result<Dataset, Error> {
        let mut file = TensorWriter::new();
        self.metadata.iter().for_each(|(key, value)| file.metadata(key, value));
        file.f32("priorities", &self.priorities.0, &self.priorities.1);
        file.u32("operands", &self.operands.0, &self.operands.1);
        file.u8("answers", &self.answers.0, &self.answers.1);
        file.u8("masks", &self.masks.0, &self.masks.1);
        file.u32("pointers", &self.pointers.0, &self.pointers.1);
        let mut bytes = Vec::new();
        file.write(&mut bytes).unwrap();
        Dataset::read(&TensorReader::from_bytes("some.safetensors".into(), bytes)?)
    }
}

#[test]
fn damaged_contents_are_refused_with_a_sentence() {
    assert!(Parts::new().load().is_ok());

    type Damage = fn(&mut Parts);
    let cases: &[(Damage, &str)] = &[
        (|p| p.set("format_version", "5"), "format version 5, but this program knows only"),
        (|p| p.set("format_version", "3"), "its metadata has no `fields`"),
        (|p| p.set("format_version", "2"), "its metadata has no `fields`"),
        (|p| p.set("format_version", "0"), "format version 0"),
        (|p| p.set("format_version", "one"), "`format_version` = `one`, which is not a whole"),
        (|p| drop(p.metadata.remove(0)), "no `format_version`"),
        (|p| drop(p.metadata.remove(1)), "no `task`"),
        (|p| p.set("nodes", "-5"), "`nodes` = `-5`"),
        (|p| p.set("nodes", "1"), "nodes = 1"),
        (|p| p.set("ops", "0"), "ops = 0"),
        (|p| p.set("seed", "1e3"), "`seed` = `1e3`"),
        (|p| p.set("split", "weights"), "`split` = `weights`"),
        (|p| p.set("nodes", "6"), "shape [3, 5], expected [3, 6]"),
        (|p| p.set("ops", "5"), "`operands` has shape [3, 4, 2], expected [3, 5, 2]"),
        (|p| p.priorities.0 = vec![15], "`priorities` has shape [15]"),
        (|p| p.priorities = (vec![0, 5], vec![]), "count ≥ 1"),
        (|p| p.masks.0 = vec![3, 5, 4], "`masks` has shape [3, 5, 4], expected [3, 4, 5]"),
        (|p| p.answers.0 = vec![12], "`answers` has shape [12]"),
        (|p| p.pointers.0 = vec![12, 5], "`pointers` has shape [12, 5]"),
        (|p| p.priorities.1[7] = f32::NAN, "in sequence 1, the priority of node 2 is NaN"),
        (|p| p.priorities.1[0] = 1.0, "the priority of node 0 is 1, not in [0, 1)"),
        (|p| p.priorities.1[0] = -0.5, "the priority of node 0 is -0.5"),
        (|p| p.priorities.1[1] = p.priorities.1[3], "nodes 1 and 3 have the same priority"),
        (|p| p.pointers.1[27] = 5, "in sequence 1, step 1, node 2 points to 5"),
        (|p| p.pointers.1[59] = u32::MAX, "node 4 points to 4294967295"),
        (
            |p| p.pointers.1[..2].copy_from_slice(&[1, 0]),
            "step 0, the pointers form a cycle, 0 → 1",
        ),
        (
            |p| (p.pointers.1[56], p.pointers.1[57]) = (2, 1),
            "sequence 2, step 3, the pointers form",
        ),
        (|p| p.operands.1[8] = 9, "in sequence 1, step 0, node 9 is out of range"),
        (|p| p.operands.1[1] = p.operands.1[0], "in sequence 0, step 0, u and v are both"),
        (|p| p.answers.1[11] = 2, "in sequence 2, step 3, the answer is 2"),
        (|p| p.masks.1[6] = 255, "in sequence 0, step 1, the mask of node 1 is 255"),
    ];
    for (damage, sentence) in cases {
        let mut parts = Parts::new();
        damage(&mut parts);
        let error = parts.load().unwrap_err().to_string();
        assert!(error.starts_with("some.safetensors: "), "{error}");
        assert!(error.contains(sentence), "`{error}` does not say `{sentence}`");
        assert!(!error.contains('\n'), "{error}");
    }
}

/// A set with two further pointer fields and a bit, and its file.
fn with_fields() -> (TempDir, PathBuf, Dataset) {
    let (folder, path) = place();
    let set = sample().with_fields(&Task::named("lct").unwrap()).unwrap();
    set.save(&path).unwrap();
    (folder, path, set)
}

#[test]
fn further_fields_are_further_tensors() {
    let (_folder, path, set) = with_fields();
    assert_eq!(Dataset::load(&path).unwrap(), set);
    assert!(Dataset::load(&path).unwrap().agrees_with(&Task::named("lct").unwrap()).unwrap());

    let file = TensorReader::open(&path).unwrap();
    assert_eq!(file.metadata("format_version"), Some("2"));
    assert_eq!(file.metadata("fields"), Some("pointers.left,pointers.right,bits.flip"));
    let names = ["bits.flip", "pointers", "pointers.left", "pointers.right"];
    assert!(
        names.iter().all(|&name| file.shape(name) == Some(vec![3, 4, 5])),
        "{:?}",
        file.names()
    );
    assert_eq!(file.u32("pointers.left", &[3, 4, 5]).unwrap(), set.fields.pointer("left").unwrap());

    // What a version 1 file has is in there unchanged.
    let (_other, plain) = place();
    sample().save(&plain).unwrap();
    let old = Dataset::load(&plain).unwrap();
    assert_eq!(Dataset { fields: Default::default(), ..set.clone() }, old);
    let error = old.fields.pointer("left").unwrap_err().to_string();
    assert!(error.contains("Dataset::with_fields adds them"), "{error}");
    assert_eq!(old.with_fields(&Task::named("lct").unwrap()).unwrap(), set);

    // Wrong in one place is noticed.
    let mut wrong = set.clone();
    wrong.fields.bits[0].values[7] ^= 1;
    wrong.save(&path).unwrap();
    assert!(!Dataset::load(&path).unwrap().agrees_with(&Task::named("lct").unwrap()).unwrap());
}

#[test]
fn damaged_fields_are_refused_with_a_sentence() {
    type Damage = fn(&mut Vec<(String, Vec<usize>, Vec<u32>)>, &mut String);
    let set = with_fields().2;
    let cases: &[(Damage, &str)] = &[
        (|_, _| (), ""),
        (|t, _| drop(t.remove(1)), "it has no tensor `pointers.right`"),
        (|_, l| *l = "pointers.left,bits.flip".into(), "a tensor `pointers.right`, which is not"),
        (|_, l| *l = "pointers.left,pointers.left".into(), "the field `pointers.left` twice"),
        (|_, l| l.push_str(",values.size"), "`values.size`; expected pointers.<name> or bits.<"),
        (|_, l| l.push_str(",bits."), "it has no tensor `bits.`"),
        (|t, _| t[0].1 = vec![12, 5], "`pointers.left` has shape [12, 5], expected [3, 4, 5]"),
        (|t, _| t[2].1 = vec![60], "`bits.flip` has shape [60], expected [3, 4, 5]"),
        (|t, _| t[1].2[26] = 5, "in sequence 1, step 1, `pointers.right` of node 1 is 5, expected"),
        (|t, _| t[2].2[59] = 2, "in sequence 2, step 3, `bits.flip` of node 4 is 2, expected at"),
    ];
    for (damage, sentence) in cases {
        let mut tensors: Vec<_> = set
            .fields
            .pointers
            .iter()
            .collect::<Vec<_>>()
            .into_iter()
            .map(|field| (format!("pointers.{}", field.name), vec![3, 4, 5], field.values.clone()))
            .collect();
        let flips = set.fields.bit("flip").unwrap().iter().map(|&bit| bit.into()).collect();
        tensors.push(("bits.flip".to_owned(), vec![3, 4, 5], flips));
        let mut listed = "pointers.left,pointers.right,bits.flip".to_owned();
        damage(&mut tensors, &mut listed);

        let parts = Parts::new();
        let mut file = TensorWriter::new();
        parts.metadata[1..].iter().for_each(|(key, value)| file.metadata(key, value));
        file.metadata("format_version", 2);
        file.metadata("fields", listed);
        file.f32("priorities", &parts.priorities.0, &parts.priorities.1);
        file.u32("operands", &parts.operands.0, &parts.operands.1);
        file.u8("answers", &parts.answers.0, &parts.answers.1);
        file.u8("masks", &parts.masks.0, &parts.masks.1);
        file.u32("pointers", &parts.pointers.0, &parts.pointers.1);
        let bits: Vec<Vec<u8>> =
            tensors.iter().map(|(.., values)| values.iter().map(|&v| v as u8).collect()).collect();
        for ((name, shape, values), bits) in tensors.iter().zip(&bits) {
            match name.starts_with("bits.") {
                true => file.u8(name, shape, bits),
                false => file.u32(name, shape, values),
            }
        }
        let mut bytes = Vec::new();
        file.write(&mut bytes).unwrap();
        let file = TensorReader::from_bytes("some.safetensors".into(), bytes).unwrap();
        match Dataset::read(&file) {
            Ok(read) => assert!(sentence.is_empty() && read.fields == set.fields, "{sentence}"),
            Err(error) => {
                let error = error.to_string();
                assert!(!sentence.is_empty() && error.contains(sentence), "{error} ({sentence})");
                assert!(error.starts_with("some.safetensors: "), "{error}");
            }
        }
    }
}

#[test]
fn flipped_bits_of_fields_never_panic() {
    let (_folder, path, _) = with_fields();
    let bytes = fs::read(&path).unwrap();
    for position in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[position] ^= 1 << (position % 8);
        if let Ok(file) = TensorReader::from_bytes("some.safetensors".into(), damaged) {
            let _ = Dataset::read(&file);
        }
    }
}

#[test]
fn a_missing_split_is_no_trouble_and_extra_tensors_are_ignored() {
    let mut parts = Parts::new();
    parts.metadata.pop();
    assert_eq!(parts.load().unwrap().split, Split::Given);

    let (_folder, path) = place();
    let set = sample();
    let mut file = TensorWriter::new();
    for (key, value) in &Parts::new().metadata {
        file.metadata(key, value);
    }
    let parts = Parts::new();
    file.f32("priorities", &[3, 5], &parts.priorities.1);
    file.u32("operands", &[3, 4, 2], &parts.operands.1);
    file.u8("answers", &[3, 4], &parts.answers.1);
    file.u8("masks", &[3, 4, 5], &parts.masks.1);
    file.u32("pointers", &[3, 4, 5], &parts.pointers.1);
    file.f64("remarks", &[1], &[0.5]);
    file.save(&path).unwrap();
    assert_eq!(Dataset::load(&path).unwrap().pointers, set.pointers);
}

#[test]
fn wrong_types_and_missing_tensors_are_refused() {
    let parts = Parts::new();
    for wrong in ["priorities", "operands", "answers", "masks", "pointers"] {
        for missing in [false, true] {
            let mut file = TensorWriter::new();
            parts.metadata.iter().for_each(|(key, value)| file.metadata(key, value));
            let other: Vec<f64> = vec![0.0; 60];
            for (name, shape) in [
                ("priorities", vec![3, 5]),
                ("operands", vec![3, 4, 2]),
                ("answers", vec![3, 4]),
                ("masks", vec![3, 4, 5]),
                ("pointers", vec![3, 4, 5]),
            ] {
                let len = shape.iter().product();
                match name {
                    _ if name == wrong && missing => {}
                    _ if name == wrong => file.f64(name, &shape, &other[..len]),
                    "priorities" => file.f32(name, &shape, &parts.priorities.1),
                    "operands" => file.u32(name, &shape, &parts.operands.1),
                    "answers" => file.u8(name, &shape, &parts.answers.1),
                    "masks" => file.u8(name, &shape, &parts.masks.1),
                    _ => file.u32(name, &shape, &parts.pointers.1),
                }
            }
            let mut bytes = Vec::new();
            file.write(&mut bytes).unwrap();
            let file = TensorReader::from_bytes("some.safetensors".into(), bytes).unwrap();
            let error = Dataset::read(&file).unwrap_err().to_string();
            let sentence = match missing {
                true => format!("it has no tensor `{wrong}`"),
                false => format!("`{wrong}` has type F64"),
            };
            assert!(error.starts_with(&format!("some.safetensors: {sentence}")), "{error}");
        }
    }
}

/// Cut anywhere, or longer than it should be.
#[test]
fn no_other_length_is_accepted() {
    let (_folder, path) = place();
    sample().save(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let mut damaged: Vec<Vec<u8>> = (0..bytes.len()).map(|len| bytes[..len].to_vec()).collect();
    damaged.push([&bytes[..], b"\0"].concat());
    damaged.push([&bytes[..], &bytes[..]].concat());
    for contents in damaged {
        let len = contents.len();
        fs::write(&path, contents).unwrap();
        let error = Dataset::load(&path).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: ", path.display())), "{error}");
        assert!(error.contains("cut short"), "{len} bytes: {error}");
    }
}

/// No byte of the file, changed in any way, makes the reader panic.
#[test]
fn flipped_bits_never_panic() {
    let (_folder, path) = place();
    sample().save(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    for position in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1 << bit;
            if let Ok(file) = TensorReader::from_bytes("some.safetensors".into(), damaged) {
                let _ = Dataset::read(&file);
            }
        }
    }
}

#[test]
fn files_that_cannot_be_opened_are_named() {
    let (_folder, path) = place();
    let error = Dataset::load(&path).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot read {}: ", path.display())), "{error}");
}

fn csv(text: &str) -> Result<Vec<Operation>, String> {
    read_operations(text.as_bytes(), "mine.csv".as_ref(), &dsu(), 10)
        .map_err(|error| error.to_string())
}

#[test]
fn operations_from_text() {
    let expected = Ok(vec![Operation::new(0, 1), Operation::new(9, 0)]);
    assert_eq!(csv("0,1\n9,0\n"), expected);
    assert_eq!(csv("u,v\r\n0,1\r\n9,0"), expected);
    assert_eq!(csv("\u{feff}source, target\n# a comment\n\n 0 ,1 # another\n9,0\n"), expected);
    assert_eq!(csv("# nothing\n"), Ok(vec![]));
    for (text, sentence) in [
        ("0,1\nu,v\n", "mine.csv: line 2: expected a node, a whole number below 10, found `u`"),
        ("0,1\n\n3\n", "mine.csv: line 3: expected two nodes `u,v`, found `3`"),
        ("0,1,2\n", "mine.csv: line 1: expected two nodes `u,v`, found `0,1,2`"),
        ("0;1\n", "mine.csv: line 1: expected two nodes `u,v`, found `0;1`"),
        ("0,-1\n", "mine.csv: line 1: expected a node, a whole number below 10, found `-1`"),
        ("0,1.5\n", "mine.csv: line 1: expected a node, a whole number below 10, found `1.5`"),
        ("0,10\n", "mine.csv: line 1: node 10 is out of range: there are 10 nodes"),
        ("3,3\n", "mine.csv: line 1: u and v are both 3"),
    ] {
        let error = csv(text).unwrap_err();
        assert!(error.starts_with(sentence), "{error}");
    }
    let error =
        read_operations(&b"0,1\n\xff,2\n"[..], "mine.csv".as_ref(), &dsu(), 10).unwrap_err();
    assert_eq!(error.to_string(), "mine.csv: line 2: it is not UTF-8 text");
    let error = operations_from_csv("no/such.csv", &dsu(), 10).unwrap_err().to_string();
    assert!(error.starts_with("cannot read no/such.csv: "), "{error}");
}

#[test]
fn given_operations_are_checked() {
    let task = Task::named("dsu").unwrap();
    let operations = |pairs: &[(u32, u32)]| -> Vec<Operation> {
        pairs.iter().map(|&(u, v)| Operation::new(u, v)).collect()
    };
    let three = [0.1, 0.2, 0.3];
    let attempt = |nodes, priorities: &[f32], pairs: &[(u32, u32)]| {
        Dataset::from_operations(&task, nodes, priorities, &operations(pairs))
            .map_err(|error| error.to_string())
    };
    assert!(attempt(3, &three, &[(0, 1)]).is_ok());
    // Two sequences of one operation each.
    let two = attempt(3, &[three, three].concat(), &[(0, 1), (1, 2)]).unwrap();
    assert_eq!((two.count(), two.ops), (2, 1));
    for (nodes, priorities, pairs, sentence) in [
        (3, &three[..], &[(0, 1), (2, 2)][..], "operation 1 of sequence 0: u and v are both 2"),
        (3, &three, &[(0, 3)], "operation 0 of sequence 0: node 3 is out of range"),
        (3, &three, &[], "ops = 0"),
        (0, &[], &[(0, 1)], "nodes = 0"),
        (2, &three, &[(0, 1)], "3 priorities and 1 operations do not make sequences"),
        (3, &[0.1, 0.1, 0.2], &[(0, 1)], "nodes 0 and 1 have the same priority"),
        (3, &[0.1, f32::NAN, 0.2], &[(0, 1)], "the priority of node 1 is NaN"),
    ] {
        let error = attempt(nodes, priorities, pairs).unwrap_err();
        assert!(error.contains(sentence), "{error}");
    }
}
