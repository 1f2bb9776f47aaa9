//! The engine against an independent implementation in PyTorch (float64, autograd): losses, every
//! gradient, the weights after ten steps of Adam, and free rollouts.
//!
//! The fixtures are written by `bench/peers/write_fixtures.py`, which shares no code with this
//! project's Rust, structures included.

use std::{fs, path::PathBuf};

use pgn_engine::{
    Aggregation, AttentionInput, Config, Example, Forcing, InputGraph, LossWeights, Model,
    Parameters, Trainer, TrainerOptions,
};
use pgn_structures::{Dataset, Edge, Field, Fields, Operation, Split};
use safetensors::{SafeTensors, tensor::TensorView};

fn fixtures() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 55, "26 models on two tasks and 3 on one, found {}", paths.len());
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

/// The model of a fixture: a preset, or settings that no preset has.
fn model(name: &str) -> Config {
    // The fixtures weight every loss and every node once, and attention reads h.
    let preset = |name: &str| {
        let config = Config::preset(name).unwrap();
        let losses = LossWeights { pointers: config.losses.pointers.min(1.0), ..config.losses };
        Config { losses, visited_weight: 1.0, attention_input: AttentionInput::H, ..config }
    };
    let heard = |how, config: Config| Config { message_aggregation: how, ..config };
    let read = |how, config: Config| Config { readout_aggregation: how, ..config };
    let apart = |config: Config| Config { pointer_processor: true, ..config };
    let typed =
        |config: Config| Config { pointer_types: vec!["left".into(), "right".into()], ..config };
    let graph = |input_graph, config: Config| Config { input_graph, ..config };
    match name {
        "pgn-own" | "pgn-own-mixed" => Config { forcing: Forcing::Own, ..preset("pgn") },
        "pgn-free-mixed" => preset("pgn-free"),
        "supgnn-3" => Config { layers: 3, ..preset("supgnn") },
        "pgn-weighted" => Config { visited_weight: 3.0, ..preset("pgn") },
        "pgn-free-weighted" => Config { visited_weight: 5.0, ..preset("pgn-free") },
        "pgn-sum" => heard(Aggregation::Sum, preset("pgn")),
        "pgn-mean" => heard(Aggregation::Mean, preset("pgn")),
        "gnn-mean" => heard(Aggregation::Mean, preset("gnn")),
        "pgn-reads-sum" => read(Aggregation::Sum, preset("pgn")),
        "pgn-reads-mean" => read(Aggregation::Mean, preset("pgn")),
        "pgn-apart" => apart(preset("pgn")),
        "pgn-typed" => typed(preset("pgn")),
        "pgn-free-typed" => typed(preset("pgn-free")),
        "pgn-edges" => graph(InputGraph::Edges, preset("pgn")),
        "pgn-head" => graph(InputGraph::Channel, preset("pgn")),
        "pgn-all" => {
            let config = Config { layers: 2, ..preset("pgn-asym-free") };
            let config = heard(Aggregation::Mean, read(Aggregation::Sum, config));
            graph(InputGraph::Channel, typed(apart(config)))
        }
        _ => preset(name),
    }
}

/// How likely an operation of a fixture is teacher-forced although its model is not.
fn teacher_probability(name: &str) -> f32 {
    if name.ends_with("-mixed") { 0.5 } else { 0.0 }
}

/// A further pointer field of the batch, in fixtures of models that learn it.
fn further(file: &SafeTensors, name: &str) -> Option<Field<u32>> {
    let view = file.tensor(&format!("pointers.{name}")).ok()?;
    Some(Field { name: name.to_owned(), values: u32s(&view) })
}

/// The input graphs of the batch, in fixtures of models that read them.
fn edges(file: &SafeTensors) -> Vec<Edge> {
    let Ok(view) = file.tensor("edges") else { return Vec::new() };
    // Models do not read weights.
    let edge = |&[u, v]: &[u32; 2]| Edge { u, v, weight: 0.5 };
    u32s(&view).as_chunks::<2>().0.iter().map(edge).collect()
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
                .map(|&[u, v]| Operation::new(u, v))
                .collect(),
            answers: file.tensor("answers").unwrap().data().to_vec(),
            masks: file.tensor("masks").unwrap().data().to_vec(),
            pointers: u32s(&file.tensor("pointers").unwrap()),
            fields: Fields {
                pointers: ["left", "right"]
                    .iter()
                    .filter_map(|name| further(&file, name))
                    .collect(),
                bits: Vec::new(),
            },
            edges: edges(&file),
        };
        let k = file.tensor("weights.encoder.bias").unwrap().shape()[0];
        let config = Config { k, ..model(named) };
        let teacher_probability = teacher_probability(named);
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
        let model = fixture.model.clone();
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
        let model = fixture.model.clone();
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
            let ours: Vec<f32> =
                rollouts.iter().flat_map(|rollout| rollout.mask_logits.clone().unwrap()).collect();
            fixture.assert_close("rollout.mask_logits", &ours, 1e-5);
        }
    });
}
