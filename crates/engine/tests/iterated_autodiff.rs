//! The iterated processor against an independent implementation in PyTorch (float64, autograd):
//! losses and every gradient of a batch of transitions.
//!
//! The fixtures are written by `bench/peers/iterated_reference.py`, which shares no code with this
//! project's Rust, structures included.

use std::{fs, path::PathBuf};

use pgn_engine::{Config, Iterated, Model, Parameters, ProcessorKind, Trainer, TrainerOptions};
use pgn_structures::{Operation, OwnedTransition, Task, Transition};
use safetensors::SafeTensors;

fn u32s(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|&four| u32::from_le_bytes(four)).collect()
}

fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|&four| f32::from_le_bytes(four)).collect()
}

fn f64s(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|&eight| f64::from_le_bytes(eight)).collect()
}

#[test]
fn losses_and_gradients_are_those_of_autograd() {
    for task in ["forest", "dsu-ordered", "dsu"] {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/iterated_fixtures");
        let bytes = fs::read(folder.join(format!("{task}.safetensors"))).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let data = |name: &str| file.tensor(name).unwrap().data().to_vec();

        let compare_priorities = task == "dsu";
        let settings = Iterated { steps: 5, more_steps: 2, cap: Some(1.0), ..Iterated::default() };
        let settings = Iterated { compare_priorities, ..settings };
        let exact = Config::preset("pgn-exact").unwrap();
        let config = Config { k: 8, processor: ProcessorKind::Iterated(settings), ..exact };
        let mut parameters = Parameters::zeros(&config);
        let names: Vec<&str> = parameters.tensors().iter().map(|tensor| tensor.name).collect();
        for &name in &names {
            let view = file.tensor(&format!("weights.{name}")).unwrap();
            let tensor = parameters.tensors().iter().find(|tensor| tensor.name == name).unwrap();
            assert_eq!(view.shape(), tensor.shape, "{name}");
            parameters.get_mut(name).unwrap().copy_from_slice(&f32s(view.data()));
        }

        // The fixture's truth, and that this project's structure agrees with it.
        let n = file.tensor("before").unwrap().shape()[1];
        let (before, after) = (u32s(&data("before")), u32s(&data("after")));
        let (operands, answers, masks) = (u32s(&data("operands")), data("answers"), data("masks"));
        let priorities = match compare_priorities {
            true => f32s(&data("priorities")),
            false => vec![0.0; answers.len() * n],
        };
        let batch: Vec<Transition> = (0..answers.len())
            .map(|i| Transition {
                priorities: &priorities[i * n..][..n],
                before: &before[i * n..][..n],
                operation: Operation::new(operands[2 * i], operands[2 * i + 1]),
                answer: answers[i],
                mask: &masks[i * n..][..n],
                after: &after[i * n..][..n],
            })
            .collect();
        let structure = Task::named(task).unwrap();
        for one in &batch {
            let ours =
                OwnedTransition::of(&structure, one.priorities, one.before, one.operation).unwrap();
            assert_eq!(ours.get(), *one, "{task}");
        }

        let model = Model::from_parameters(config, parameters).unwrap();
        let trainer = Trainer::new(model.clone(), TrainerOptions::default()).unwrap();
        let (losses, gradients) = trainer.gradients_on(&batch).unwrap();
        for (name, ours) in [
            ("query", losses.query),
            ("masks", losses.masks),
            ("pointers", losses.pointers),
            ("total", losses.total),
        ] {
            let theirs = f64s(&data(&format!("loss.{name}")))[0];
            assert!((ours - theirs).abs() < 1e-5 * theirs.max(1.0), "{task}: {name}");
        }
        for &name in &names {
            let theirs = f64s(&data(&format!("grad.{name}")));
            let size = theirs.iter().fold(1e-3f64, |size, value| size.max(value.abs()));
            for (ours, theirs) in gradients.get(name).unwrap().iter().zip(&theirs) {
                let off = (f64::from(*ours) - theirs).abs();
                assert!(off < 2e-5 * size, "{task}: {name} has {ours}, not {theirs}");
            }
        }
    }
}
