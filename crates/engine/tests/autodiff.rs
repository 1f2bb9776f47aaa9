//! The engine against an independent implementation in PyTorch (float64, autograd): losses, every
//! gradient, the weights after ten steps of Adam, and free rollouts.
//!
//! The fixtures are written by `bench/peers/write_fixtures.py`, which shares no code with this
//! project's Rust, structures included.

use std::{fs, path::PathBuf};

use pgn_engine::{Config, Example, Forcing, Model, Parameters, SimdLevel, Trainer, TrainerOptions};
use pgn_structures::{Dataset, Operation, Split};
use safetensors::{SafeTensors, tensor::TensorView};

fn fixtures() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 28, "two tasks for each of 14 models, found {}", paths.len());
    paths
}

fn f32s(view: &TensorView) -> Vec<f32> {
    view.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

fn f64s(view: &TensorView) -> Vec<f64> {
    view.data().as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}

fn u32s(view: &TensorView) -> Vec<u32> {
    view.data().as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

/// The model of a fixture, and how likely it is teacher-forced: a preset, or one of the settings of
/// training that no preset has.
fn model(name: &str) -> (Config, f32) {
    let preset = |name: &str| Config::preset(name).unwrap();
    match name {
        "pgn-own" => (Config { forcing: Forcing::Own, ..preset("pgn") }, 0.0),
        "pgn-own-mixed" => (Config { forcing: Forcing::Own, ..preset("pgn") }, 0.5),
        "pgn-free-mixed" => (preset("pgn-free"), 0.5),
        _ => (preset(name), 0.0),
    }
}

/// A fixture, opened: its model with its weights, and its batch.
struct Fixture<'a> {
    name: String,
    options: TrainerOptions,
    file: SafeTensors<'a>,
    model: Model,
    data: Dataset,
}

impl<'a> Fixture<'a> {
    fn open(path: &std::path::Path, bytes: &'a [u8]) -> Fixture<'a> {
        let file = SafeTensors::deserialize(bytes).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let (named, task) = name.rsplit_once('-').unwrap();
        let priorities = file.tensor("priorities").unwrap();
        let operands = file.tensor("operands").unwrap();
        let data = Dataset {
            task: task.to_owned(),
            seed: 0,
            split: Split::Given,
            nodes: priorities.shape()[1],
            ops: operands.shape()[1],
            priorities: f32s(&priorities),
            operations: u32s(&operands)
                .as_chunks::<2>()
                .0
                .iter()
                .map(|&[u, v]| Operation { u, v })
                .collect(),
            answers: file.tensor("answers").unwrap().data().to_vec(),
            masks: file.tensor("masks").unwrap().data().to_vec(),
            pointers: u32s(&file.tensor("pointers").unwrap()),
            fields: Default::default(),
            edges: Vec::new(),
        };
        let k = file.tensor("weights.encoder.bias").unwrap().shape()[0];
        let (config, teacher_probability) = model(named);
        let config = Config { k, ..config };
        let options = TrainerOptions { teacher_probability, ..TrainerOptions::default() };
        let mut parameters = Parameters::zeros(&config);
        let names: Vec<&str> = parameters.tensors().iter().map(|tensor| tensor.name).collect();
        let in_file = file.names().iter().filter(|name| name.starts_with("weights.")).count();
        assert_eq!(names.len(), in_file, "{name}: the same tensors");
        for tensor in names {
            let view = file.tensor(&format!("weights.{tensor}")).unwrap();
            parameters.get_mut(tensor).unwrap().copy_from_slice(&f32s(&view));
        }
        let model = Model::from_parameters(config, parameters).unwrap();
        Fixture { name, options, file, model, data }
    }

    fn examples(&self) -> Vec<Example<'_>> {
        let of = |sequence| Example::oracle(self.model.config(), sequence);
        self.data.sequences().map(of).collect()
    }

    fn scalar(&self, name: &str) -> f64 {
        f64s(&self.file.tensor(name).unwrap())[0]
    }

    /// Every element within `tolerance`, absolutely and relative to the tensor's largest.
    fn assert_close(&self, name: &str, ours: &[f32], tolerance: f64) {
        let theirs = f64s(&self.file.tensor(name).unwrap());
        assert_eq!(ours.len(), theirs.len(), "{}: {name}", self.name);
        let size = theirs.iter().fold(1e-3f64, |size, value| size.max(value.abs()));
        for (i, (&ours, &theirs)) in ours.iter().zip(&theirs).enumerate() {
            let off = (f64::from(ours) - theirs).abs();
            assert!(off <= tolerance * size, "{}: {name}[{i}] is {ours}, not {theirs}", self.name);
        }
    }
}

fn for_each_fixture(check: impl Fn(Fixture)) {
    for path in fixtures() {
        let bytes = fs::read(&path).unwrap();
        check(Fixture::open(&path, &bytes));
    }
}

#[test]
fn losses_and_gradients() {
    for_each_fixture(|fixture| {
        for level in [SimdLevel::best(), SimdLevel::portable()] {
            let model = fixture.model.clone().on_level(level);
            let trainer = Trainer::new(model, fixture.options).unwrap();
            let batch = fixture.examples();
            let (losses, gradients) = trainer.gradients(&batch).unwrap();
            for (name, ours) in [
                ("loss.query", losses.query),
                ("loss.pointers", losses.pointers),
                ("loss.masks", losses.masks),
                ("loss.total", losses.total),
            ] {
                let theirs = fixture.scalar(name);
                let off = (ours - theirs).abs();
                assert!(off < 1e-5, "{}: {name} is {ours}, not {theirs}", fixture.name);
            }
            for tensor in gradients.tensors() {
                let ours = gradients.get(tensor.name).unwrap();
                fixture.assert_close(&format!("grad.{}", tensor.name), ours, 2e-5);
            }
        }
    });
}

#[test]
fn weights_after_ten_steps_of_adam() {
    for_each_fixture(|fixture| {
        let mut trainer = Trainer::new(fixture.model.clone(), fixture.options).unwrap();
        let batch = fixture.examples();
        for _ in 0..10 {
            trainer.step(&batch).unwrap();
        }
        let parameters = trainer.model().parameters();
        for tensor in parameters.tensors() {
            let ours = parameters.get(tensor.name).unwrap();
            fixture.assert_close(&format!("after10.{}", tensor.name), ours, 2e-3);
        }
    });
}

#[test]
fn free_rollouts() {
    for_each_fixture(|fixture| {
        for level in [SimdLevel::best(), SimdLevel::portable()] {
            let model = fixture.model.clone().on_level(level);
            let rollouts = model.rollouts(&fixture.examples()).unwrap();
            let logits: Vec<f32> =
                rollouts.iter().flat_map(|rollout| rollout.query_logits.clone()).collect();
            fixture.assert_close("rollout.query_logits", &logits, 1e-5);
            if let Ok(theirs) = fixture.file.tensor("rollout.pointers") {
                let ours: Vec<u32> =
                    rollouts.iter().flat_map(|rollout| rollout.pointers.clone().unwrap()).collect();
                assert_eq!(ours, u32s(&theirs), "{}", fixture.name);
            } else {
                assert!(rollouts.iter().all(|rollout| rollout.pointers.is_none()));
            }
            if fixture.file.tensor("rollout.mask_logits").is_ok() {
                let ours: Vec<f32> = rollouts
                    .iter()
                    .flat_map(|rollout| rollout.mask_logits.clone().unwrap())
                    .collect();
                fixture.assert_close("rollout.mask_logits", &ours, 1e-5);
            }
        }
    });
}
