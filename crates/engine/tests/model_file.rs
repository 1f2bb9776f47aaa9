//! `model.safetensors`: what is written can be read, by anyone; what does not fit is refused.

use std::{fs, path::Path};

use pgn_engine::{AttentionInput, Config, Model, Parameters};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};

fn config(name: &str) -> Config {
    Config { k: 8, ..Config::preset(name).unwrap() }
}

/// Tensors to make a file of: name, type, shape, bytes.
type Tensors = Vec<(String, Dtype, Vec<usize>, Vec<u8>)>;

fn tensors(bytes: &[u8]) -> Tensors {
    let file = SafeTensors::deserialize(bytes).unwrap();
    let own = |(name, view): (String, TensorView)| {
        (name, view.dtype(), view.shape().to_vec(), view.data().to_vec())
    };
    file.tensors().into_iter().map(own).collect()
}

fn file_of(tensors: &Tensors) -> Vec<u8> {
    let views = tensors.iter().map(|(name, dtype, shape, data)| {
        (name.clone(), TensorView::new(*dtype, shape.clone(), data).unwrap())
    });
    safetensors::serialize(views, None).unwrap()
}

fn refusal(config: &Config, bytes: &[u8]) -> String {
    let path = Path::new("runs/7/model.safetensors");
    let message = Parameters::from_bytes(config, bytes, path).unwrap_err().to_string();
    assert!(message.starts_with("runs/7/model.safetensors: "), "{message}");
    message
}

#[test]
fn round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let zh = Config { attention_input: AttentionInput::Zh, ..config("pgn") };
    for config in Config::PRESETS.iter().map(|name| config(name)).chain([zh]) {
        let model = Model::new(config.clone(), 5).unwrap();
        model.parameters().save(&path).unwrap();
        let read = Model::load(config.clone(), &path).unwrap();
        assert_eq!(read.parameters(), model.parameters());
        assert_eq!(fs::read(&path).unwrap(), model.parameters().to_bytes());
    }
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "no temporary files stay behind");
}

/// The contract: names, and shapes as PyTorch's `nn.Linear` has them.
#[test]
fn names_and_shapes() {
    let shapes = |config: &Config| -> Vec<(String, Vec<usize>)> {
        let bytes = Model::new(config.clone(), 0).unwrap().parameters().to_bytes();
        let mut list: Vec<_> = tensors(&bytes)
            .into_iter()
            .map(|(name, dtype, shape, _)| {
                assert_eq!(dtype, Dtype::F32);
                (name, shape)
            })
            .collect();
        list.sort();
        list
    };
    let named = |list: &[(&str, &[usize])]| -> Vec<(String, Vec<usize>)> {
        list.iter().map(|(name, shape)| (name.to_string(), shape.to_vec())).collect()
    };
    let k: usize = 8;
    let all: [(&str, &[usize]); 12] = [
        ("decoder.bias", &[1]),
        ("decoder.weight", &[1, 2 * k]),
        ("encoder.bias", &[k]),
        ("encoder.weight", &[k, 2 + k]),
        ("key.weight", &[k, k]),
        ("mask.bias", &[1]),
        ("mask.weight", &[1, 2 * k]),
        ("message.bias", &[k]),
        ("message.weight", &[k, 2 * k]),
        ("query.weight", &[k, k]),
        ("update.bias", &[k]),
        ("update.weight", &[k, 2 * k]),
    ];
    let without = |parts: &[&str]| -> Vec<(&str, &[usize])> {
        let used = |name: &str| !parts.iter().any(|part| name.starts_with(part));
        all.into_iter().filter(|(name, _)| used(name)).collect()
    };
    for (name, unused) in [
        ("pgn", &[][..]),
        ("pgn-asym", &[]),
        ("pgn-mo", &[]),
        ("supgnn", &[]),
        ("dgm", &["mask"]),
        ("gnn", &["mask", "query", "key"]),
        ("deepsets", &["mask", "query", "key"]),
        ("oracle-ptrs", &["mask", "query", "key"]),
        ("pgn-ptrs", &["mask", "query", "key"]),
    ] {
        assert_eq!(shapes(&config(name)), named(&without(unused)), "{name}");
    }
    let zh = Config { attention_input: AttentionInput::Zh, ..config("pgn") };
    assert!(shapes(&zh).contains(&("query.weight".to_owned(), vec![k, 2 * k])));
}

/// A file cut off anywhere, and bytes that are no file.
#[test]
fn truncated() {
    let config = config("pgn");
    let bytes = Model::new(config.clone(), 0).unwrap().parameters().to_bytes();
    for length in (0..bytes.len()).step_by(7).chain([1, 8, 9, bytes.len() - 1]) {
        let message = refusal(&config, &bytes[..length]);
        assert!(message.contains("not a readable safetensors file"), "{message}");
    }
    refusal(&config, &[0xff; 64]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let message = Model::load(config, &path).unwrap_err().to_string();
    assert!(message.contains("model.safetensors: cannot be read"), "{message}");
}

#[test]
fn of_another_model() {
    let pgn = config("pgn");
    let bytes = Model::new(pgn.clone(), 0).unwrap().parameters().to_bytes();

    let missing = refusal(&config("pgn"), &{
        let mut tensors = tensors(&bytes);
        tensors.retain(|(name, ..)| name != "update.bias");
        file_of(&tensors)
    });
    assert!(missing.contains("tensor 'update.bias' is missing"), "{missing}");

    let foreign = refusal(&config("dgm"), &bytes);
    assert!(foreign.contains("'mask.") && foreign.contains("not one of this model's"), "{foreign}");

    let wide = refusal(&Config { k: 16, ..pgn.clone() }, &bytes);
    assert!(wide.contains("is F32 [8, 10]; expected F32 [16, 18]"), "{wide}");

    let transposed = refusal(&pgn, &{
        let mut tensors = tensors(&bytes);
        let tensor = tensors.iter_mut().find(|(name, ..)| name == "message.weight").unwrap();
        tensor.2.reverse();
        file_of(&tensors)
    });
    assert!(transposed.contains("'message.weight' is F32 [16, 8]; expected F32 [8, 16]"));

    let double = refusal(&pgn, &{
        let mut tensors = tensors(&bytes);
        let tensor = tensors.iter_mut().find(|(name, ..)| name == "mask.bias").unwrap();
        (tensor.1, tensor.3) = (Dtype::F64, vec![0; 8]);
        file_of(&tensors)
    });
    assert!(double.contains("'mask.bias' is F64 [1]; expected F32 [1]"), "{double}");

    for bad in [f32::NAN, f32::INFINITY] {
        let message = refusal(&pgn, &{
            let mut tensors = tensors(&bytes);
            let tensor = tensors.iter_mut().find(|(name, ..)| name == "key.weight").unwrap();
            tensor.3[40..44].copy_from_slice(&bad.to_le_bytes());
            file_of(&tensors)
        });
        assert!(message.contains(&format!("'key.weight' holds {bad}")), "{message}");
    }

    let other = Parameters::zeros(&config("gnn"));
    assert!(Model::from_parameters(pgn, other).is_err());
}
