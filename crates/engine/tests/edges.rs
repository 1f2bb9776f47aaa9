//! The corners: ties, one node, a node everything points to, masks that are all alike, nothing to
//! do, and numbers that are none.

mod beside_reference;

use beside_reference::{
    cases::{presets, sample, variations, weights},
    compare::{assert_gradients, assert_rollout},
};
use pgn_engine::{
    Config, Example, Model, Parameters, Trainer, TrainerOptions,
    reference::{Net, rollout, train},
};
use pgn_structures::{Dataset, Operation, Sequence};

fn preset(name: &str) -> Config {
    Config { k: 8, ..Config::preset(name).unwrap() }
}

/// Every model of the family, by name.
fn family() -> impl Iterator<Item = (String, Config)> {
    presets(8).into_iter().chain(variations(8))
}

fn trainer(config: &Config, parameters: Parameters) -> Trainer {
    let model = Model::from_parameters(config.clone(), parameters).unwrap();
    Trainer::new(model, TrainerOptions::default()).unwrap()
}

/// Gradients and rollouts of `set`'s sequences against the reference, at the first seed whose
/// comparisons are clear of rounding.
fn check(what: &str, config: &Config, set: &Dataset, change: impl Fn(&mut Parameters)) {
    for seed in 0..50 {
        let mut parameters = weights(config, seed);
        change(&mut parameters);
        let net = Net::new(config, &parameters).unwrap();
        let batch: Vec<Sequence> = set.sequences().collect();
        let options = TrainerOptions { seed, ..TrainerOptions::default() };
        let expected = train(config, &net, &batch, options).unwrap();
        if expected.margin.least > 1e-5 {
            assert_gradients(what, config, &parameters, &batch, options, &expected);
            let rolled = rollout(config, &net, batch[0]).unwrap();
            return assert_rollout(what, config, &parameters, batch[0], &rolled);
        }
    }
    panic!("{what}: no weights without close comparisons");
}

/// Zeros one row of a weight, from column `from` on.
fn silence(parameters: &mut Parameters, name: &str, row: usize, from: usize) {
    let tensor = parameters.tensors().iter().find(|tensor| tensor.name == name).unwrap();
    let columns = tensor.shape[1];
    parameters.get_mut(name).unwrap()[row * columns + from..(row + 1) * columns].fill(0.0);
}

#[test]
fn ties_between_nodes_that_otherwise_differ() {
    for (name, config) in family() {
        // Some dimensions of z are the same for all nodes, and some are not touched by the sender:
        // their maxima are tied, and the weights' gradients tell which node won.
        let change = |parameters: &mut Parameters| {
            silence(parameters, "encoder.weight", 0, 0);
            silence(parameters, "encoder.weight", 5, 0);
            silence(parameters, "message.weight", 1, 8);
            silence(parameters, "message.weight", 6, 8);
        };
        check(&name, &config, &sample("dsu", 7, 3, 1), change);
    }
}

#[test]
fn a_tie_in_the_readout_goes_back_to_the_lowest_index() {
    // With messages and updates silenced, the decoder's max z is all that reaches the encoder, so
    // its gradient is ∂logit · weight · (the winner's features).
    let config = preset("gnn");
    let mut parameters = weights(&config, 3);
    for name in ["message.weight", "update.weight", "encoder.weight"] {
        parameters.get_mut(name).unwrap().fill(0.0);
    }
    let set = sample("dsu", 6, 1, 2);
    let (_, gradients) =
        trainer(&config, parameters.clone()).gradients(&[set.sequence(0)]).unwrap();
    let d_logit = gradients.get("decoder.bias").unwrap()[0];
    let operation = set.operations[0];
    for d in 0..8 {
        let weight = d_logit * parameters.get("decoder.weight").unwrap()[d];
        let row = &gradients.get("encoder.weight").unwrap()[d * 10..][..2];
        let flag = f32::from(operation.u == 0 || operation.v == 0);
        assert!((row[0] - weight * set.priorities[0]).abs() < 1e-7, "{row:?}");
        assert!((row[1] - weight * flag).abs() < 1e-7, "{row:?}");
    }
    let model = Model::from_parameters(config, parameters).unwrap();
    let mut state = model.start_with(&set.priorities).unwrap();
    state.apply(operation).unwrap();
    assert_eq!(state.readout_sources(), (vec![0; 8], vec![0; 8]));
}

#[test]
fn equal_scores_aim_at_the_lowest_index() {
    // Nodes that are told nothing are all alike, whatever they compute.
    for name in ["pgn-nm", "dgm", "pgn"] {
        let config = preset(name);
        let mut parameters = weights(&config, 1);
        parameters.get_mut("encoder.weight").unwrap().fill(0.0);
        if let Some(bias) = parameters.get_mut("mask.bias") {
            bias[0] = -100.0; // everyone is visited
        }
        let model = Model::from_parameters(config, parameters).unwrap();
        let mut state = model.start(700).unwrap();
        let answer = state.apply(Operation::new(3, 600)).unwrap();
        assert_eq!(answer.pointers, [0; 700], "{name}");
        assert_eq!(answer.changed, (1..700).collect::<Vec<u32>>(), "{name}");
    }
}

#[test]
fn a_node_that_everything_points_to() {
    for (name, config) in family() {
        for hub in [0, 4, 8] {
            let mut set = sample("lct", 9, 3, 1);
            set.pointers.fill(hub);
            if name.contains("visited") {
                // A pointer's aim must be a candidate.
                set.masks.iter_mut().skip(hub as usize).step_by(9).for_each(|mask| *mask = 0);
            }
            check(&format!("{name}, hub {hub}"), &config, &set, |_| {});
        }
    }
}

#[test]
fn masks_that_are_all_alike() {
    for (name, config) in family() {
        for mask in [0, 1] {
            let mut set = sample("dsu", 6, 3, 1);
            set.masks.fill(mask);
            // In the rollout, the model's own masks are all alike too.
            check(&format!("{name}, masks {mask}"), &config, &set, |parameters| {
                if let Some(bias) = parameters.get_mut("mask.bias") {
                    bias[0] = if mask == 0 { -5.0 } else { 5.0 };
                }
            });
        }
    }
}

#[test]
fn sequences_without_operations() {
    let nothing = Sequence {
        priorities: &[0.5, 0.25, 0.75],
        operations: &[],
        answers: &[],
        masks: &[],
        pointers: &[],
        fields: Default::default(),
        edges: &[],
    };
    let one = sample("dsu", 5, 2, 0);
    for (name, config) in family() {
        let mut trainer = trainer(&config, weights(&config, 0));
        let one = Example::oracle(&config, one.sequence(0));
        let nothing = Example::oracle(&config, nothing);
        let (losses, gradients) = trainer.gradients(&[nothing]).unwrap();
        assert_eq!((losses.total, losses.right), (0.0, 0), "{name}");
        assert!(gradients.values().iter().all(|&value| value == 0.0), "{name}");
        // It counts as a sequence of the batch, and adds nothing.
        let both = trainer.gradients(&[nothing, one]).unwrap().0;
        assert!(both.total.is_finite() && both.query > 0.0, "{name}");
        trainer.step(&[nothing]).unwrap();
        let rollout = trainer.model().rollout(nothing).unwrap();
        assert!(rollout.query_logits.is_empty(), "{name}");
    }
}

#[test]
fn an_empty_batch() {
    for (name, config) in family() {
        let before = weights(&config, 0);
        let mut trainer = trainer(&config, before.clone());
        let (losses, gradients) = trainer.gradients::<Example>(&[]).unwrap();
        assert_eq!((losses.total, losses.right), (0.0, 0), "{name}");
        assert!(gradients.values().iter().all(|&value| value == 0.0), "{name}");
        trainer.step::<Example>(&[]).unwrap();
        assert_eq!(trainer.model().parameters(), &before, "{name}");
        assert!(trainer.model().rollouts::<Example>(&[]).unwrap().is_empty());
    }
}

#[test]
fn a_single_node() {
    for (name, config) in family() {
        let set = sample("dsu", 1, 4, 0);
        check(&name, &config, &set, |_| {});
        let model = Model::from_parameters(config.clone(), weights(&config, 0)).unwrap();
        let mut state = model.start(1).unwrap();
        let answer = state.apply(Operation::new(0, 0)).unwrap();
        assert_eq!((answer.pointers, answer.changed), ([0].as_slice(), [].as_slice()), "{name}");
        if config.has_attention() {
            assert_eq!(state.attention(0).unwrap(), [1.0], "{name}");
        }
    }
}

/// Weights that are no numbers: training reports it, rollouts go through, nothing panics.
#[test]
fn weights_that_are_nan_or_infinite() {
    let set = sample("lct", 9, 3, 1);
    for (name, config) in family() {
        let example = Example::oracle(&config, set.sequence(0));
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for tensor in Parameters::zeros(&config).tensors() {
                let mut parameters = weights(&config, 0);
                parameters.get_mut(tensor.name).unwrap()[0] = bad;
                let mut trainer = trainer(&config, parameters);
                let before = trainer.state();
                if let Err(error) = trainer.step(&[example]) {
                    assert!(error.to_string().contains("training diverged"), "{name}: {error}");
                    assert_eq!(
                        trainer.state().adam_steps,
                        before.adam_steps,
                        "nothing was changed"
                    );
                }
                for n in [9, 600] {
                    let mut state = trainer.model().start(n).unwrap();
                    for operation in [Operation::new(0, 1), Operation::new(8, 3)] {
                        let answer = state.apply(operation).unwrap();
                        assert!(answer.pointers.iter().all(|&node| (node as usize) < n));
                    }
                    state.attention(0);
                }
            }
        }
        let mut parameters = weights(&config, 0);
        parameters.values_mut().fill(f32::NAN);
        let mut trainer = trainer(&config, parameters);
        assert!(trainer.step(&[example]).is_err(), "{name}: NaN is noticed");
        let rollout = trainer.model().rollout(example).unwrap();
        // Scores that compare with nothing leave pointers where they are.
        if let Some(pointers) = rollout.pointers {
            let still: Vec<u32> = (0..3).flat_map(|_| 0..9).collect();
            assert_eq!(pointers, still, "{name}");
        }
    }
}
