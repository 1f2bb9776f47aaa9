//! The network of machines: gradients against JAX and finite differences, bits that depend on
//! nothing but seed and view, files, refusals.

mod machine_plain;

use std::{fs, path::PathBuf};

use machine_plain::Plain;
use pgn_engine::{Error, MachineNet, MachineSettings, Trainer, TrainerOptions};
use pgn_machines::{Action, Machine, Seen, Signature, View, programs};
use rayon::ThreadPoolBuilder;
use safetensors::SafeTensors;

fn machine(name: &str) -> Machine {
    Machine::new(programs::named(name).unwrap()).unwrap()
}

fn refs(pairs: &[(View, Action)]) -> Vec<(&View, &Action)> {
    pairs.iter().map(|(view, action)| (view, action)).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn f64s(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|&eight| f64::from_le_bytes(eight)).collect()
}

/// The fixture is written by `bench/peers/machine_reference.py`, which shares no code with Rust.
#[test]
fn losses_and_gradients_are_those_of_jax() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/machine_fixtures");
    let bytes = fs::read(folder.join("random.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = metadata.metadata().clone().unwrap();
    let signature: Signature = serde_json::from_str(&metadata["signature"]).unwrap();
    let settings: MachineSettings = serde_json::from_str(&metadata["settings"]).unwrap();
    let views: Vec<View> = serde_json::from_str(&metadata["views"]).unwrap();
    let actions: Vec<Action> = serde_json::from_str(&metadata["actions"]).unwrap();
    assert!(views.iter().any(|view| view.nodes == 0) && views.len() > 8);

    let net = MachineNet::new(signature.clone(), settings, 0).unwrap();
    let mut parameters = net.parameters().clone();
    let names: Vec<&str> = parameters.tensors().iter().map(|tensor| tensor.name).collect();
    for tensor in parameters.tensors().to_vec() {
        let view = file.tensor(&format!("weights.{}", tensor.name)).unwrap();
        assert_eq!(view.shape(), tensor.shape, "{}", tensor.name);
        let values = view.data().as_chunks::<4>().0.iter().map(|&four| f32::from_le_bytes(four));
        let into = parameters.get_mut(tensor.name).unwrap();
        into.iter_mut().zip(values).for_each(|(into, value)| *into = value);
    }
    let net = MachineNet::from_parameters(signature.clone(), settings, parameters.clone());
    let trainer = Trainer::new(net.unwrap(), options(1e-3)).unwrap();
    let batch: Vec<_> = views.iter().zip(&actions).collect();
    let (losses, gradients) = trainer.gradients(&batch).unwrap();
    for (name, ours) in [
        ("total", losses.total),
        ("pointers", losses.pointers),
        ("toggles", losses.toggles),
        ("marks", losses.marks),
        ("registers", losses.registers),
        ("controls", losses.controls),
        ("states", losses.states),
    ] {
        let theirs = f64s(file.tensor(&format!("loss.{name}")).unwrap().data())[0];
        assert!((ours - theirs).abs() < 1e-5 * theirs, "{name}: {ours}, not {theirs}");
    }
    for &name in &names {
        let theirs = f64s(file.tensor(&format!("grad.{name}")).unwrap().data());
        let size = theirs.iter().fold(1e-3f64, |size, value| size.max(value.abs()));
        for (ours, theirs) in gradients.get(name).unwrap().iter().zip(&theirs) {
            let off = (f64::from(*ours) - theirs).abs();
            assert!(off < 2e-5 * size, "{name} has {ours}, not {theirs}");
        }
    }
}

#[test]
fn gradients_are_finite_differences_of_the_plain_loss() {
    for name in ["lct", "heap"] {
        let machine = machine(name);
        let settings = MachineSettings { k: 8, rounds: 3, cap: 1.5 };
        let net = MachineNet::new(machine.signature().clone(), settings, 4).unwrap();
        let pairs: Vec<_> = machine.consistent().iter().step_by(37).cloned().collect();
        let batch = refs(&pairs);
        let trainer = Trainer::new(net.clone(), options(1e-3)).unwrap();
        let (losses, gradients) = trainer.gradients(&batch).unwrap();
        let mut plain = Plain::new(machine.signature(), &settings, net.parameters());
        let loss = |plain: &Plain| {
            batch.iter().map(|(view, action)| plain.loss(view, action)).sum::<f64>()
                / batch.len() as f64
        };
        let expected = loss(&plain);
        assert!((losses.total - expected).abs() < 1e-5 * expected, "{name}");
        let size = 1e-5;
        let mut checked = 0;
        for tensor in gradients.tensors() {
            // Where nothing moves there is nothing to check.
            let indices = tensor.range.clone().filter(|&i| gradients.values()[i].abs() > 1e-3);
            let count = indices.clone().count();
            for index in indices.step_by((count / 12).max(1)) {
                plain.nudge(index, size);
                let above = loss(&plain);
                plain.nudge(index, -2.0 * size);
                let below = loss(&plain);
                plain.nudge(index, size);
                let difference = (above - below) / (2.0 * size);
                let ours = f64::from(gradients.values()[index]);
                let off = (ours - difference).abs();
                let what = tensor.name;
                assert!(off < 1e-3 * ours.abs(), "{name}, {what}: {ours}, not {difference}");
                checked += 1;
            }
        }
        assert!(checked > 60, "{name}: {checked} numbers were checked");
    }
}

fn options(learning_rate: f32) -> TrainerOptions {
    TrainerOptions { learning_rate, ..TrainerOptions::default() }
}

/// Diverged training is reported as such, not as wrong input.
#[test]
fn divergence() {
    let machine = machine("dsu");
    let pairs = machine.consistent();
    let net = MachineNet::new(machine.signature().clone(), MachineSettings::default(), 0).unwrap();
    let mut trainer = Trainer::new(net, options(1e38)).unwrap();
    let error = (0..20).find_map(|_| trainer.step(&refs(pairs)).err());
    assert!(matches!(error, Some(Error::Diverged(_))), "{error:?}");
    let before = trainer.state();
    assert_eq!(trainer.step(&[]).unwrap().total, 0.0);
    assert_eq!(trainer.state().adam_steps, before.adam_steps);
}

#[test]
fn training_has_the_same_bits_for_any_number_of_threads() {
    let machine = machine("splay");
    let pairs = machine.consistent();
    let run = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let settings = MachineSettings { k: 16, ..MachineSettings::default() };
            let net = MachineNet::new(machine.signature().clone(), settings, 1).unwrap();
            let mut trainer = Trainer::new(net, options(1e-2)).unwrap();
            let losses: Vec<u64> = pairs
                .chunks(45)
                .map(|batch| trainer.step(&refs(batch)).unwrap().total.to_bits())
                .collect();
            (bits(trainer.model().parameters().values()), losses)
        })
    };
    let first = run(1);
    assert_eq!(run(2), first);
    assert_eq!(run(5), first);
}

#[test]
fn a_view_alone_gives_what_it_gives_among_others() {
    for name in programs::NAMES {
        let machine = machine(name);
        let settings = MachineSettings::default();
        let net = MachineNet::new(machine.signature().clone(), settings, 0).unwrap();
        let pairs = machine.consistent();
        let views: Vec<&View> = pairs.iter().map(|(view, _)| view).collect();
        let together = net.predictions(&views).unwrap();
        for (view, prediction) in views.iter().zip(&together).step_by(7) {
            assert_eq!(net.predictions(&[view]).unwrap()[0], *prediction);
            assert_eq!(net.predict(view).unwrap(), prediction.action);
            assert!(prediction.margin >= 0.0);
            assert_eq!(prediction.action.check(view, machine.signature()), Ok(()));
        }
    }
}

#[test]
fn training_resumes_with_the_same_bits_and_files_hold_a_network() {
    let machine = machine("forest");
    let pairs = machine.consistent();
    let settings = MachineSettings { k: 8, ..MachineSettings::default() };
    let net = || MachineNet::new(machine.signature().clone(), settings, 7).unwrap();
    let mut through = Trainer::new(net(), options(1e-2)).unwrap();
    for _ in 0..20 {
        through.step(&refs(pairs)).unwrap();
    }
    let mut first = Trainer::new(net(), options(1e-2)).unwrap();
    for _ in 0..8 {
        first.step(&refs(pairs)).unwrap();
    }
    let mut second = Trainer::resume(net(), options(1e-2), first.state()).unwrap();
    for _ in 8..20 {
        second.step(&refs(pairs)).unwrap();
    }
    assert_eq!(second.state(), through.state());

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    through.model().save(&path).unwrap();
    let signature = machine.signature().clone();
    let loaded = MachineNet::load(signature.clone(), settings, &path).unwrap();
    assert_eq!(loaded.parameters(), through.model().parameters());
    let error = MachineNet::load(signature, MachineSettings::default(), &path).unwrap_err();
    assert!(error.to_string().contains("encoder.weight"), "{error}");
}

#[test]
fn views_and_settings_that_do_not_fit_are_refused() {
    let machine = machine("dsu");
    let signature = machine.signature();
    let net = MachineNet::new(signature.clone(), MachineSettings::default(), 0).unwrap();
    let (good, action) = machine.consistent()[3].clone();
    let spoil = |change: fn(&mut View)| {
        let mut view = good.clone();
        change(&mut view);
        net.predict(&view).unwrap_err().to_string()
    };
    assert!(spoil(|view| view.state = 99).contains("state 99"));
    assert!(spoil(|view| view.registers[0] = Seen::Node(77)).contains("node 77"));
    assert!(spoil(|view| view.pointers.push(Seen::Nil)).contains("pointers"));
    assert!(spoil(|view| view.controls[1] = Some(9)).contains("`second` is value 9"));
    let mut trainer = Trainer::new(net, options(1e-3)).unwrap();
    let wrong = Action { next: 200, ..action };
    assert!(trainer.step(&[(&good, &wrong)]).is_err());
    for settings in [
        MachineSettings { k: 12, ..MachineSettings::default() },
        MachineSettings { rounds: 0, ..MachineSettings::default() },
        MachineSettings { cap: f32::NAN, ..MachineSettings::default() },
    ] {
        assert!(MachineNet::new(signature.clone(), settings, 0).is_err());
    }
}

#[test]
fn the_seed_determines_the_initial_weights() {
    let program = programs::named("dsu").unwrap();
    let net = |seed| {
        let settings = MachineSettings::default();
        MachineNet::new(program.signature().clone(), settings, seed).unwrap()
    };
    assert_eq!(bits(net(3).parameters().values()), bits(net(3).parameters().values()));
    assert_ne!(net(3).parameters(), net(4).parameters());
}
