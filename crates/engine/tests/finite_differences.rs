//! The reference's hand-written gradients against its own losses: central differences in f64, for
//! every weight of every model. What the engine is compared with is thereby itself checked.

mod beside_reference;

use beside_reference::cases::{
    aiming_in_training, presets, sample_for, variations, weights, with_inputs,
};
use pgn_engine::{
    Config,
    reference::{Net, Share, backward, unroll},
};
use pgn_structures::Sequence;

/// The step of a difference. Its square is the error of the formula, and rounding of a loss near
/// 1 adds 1e-16 / STEP.
const STEP: f64 = 1e-5;
/// Comparisons closer than this could turn out differently within a step; values change by no more
/// than a few steps.
const CLEAR: f64 = 1e-3;

fn check(name: &str, config: &Config) {
    check_with(0.0, name, config);
}

fn share(index: usize, teacher_probability: f32) -> Share {
    let (batch, running_accuracy, seed, adam_steps) = (2, 0.5, 7, 0);
    Share { batch, index, running_accuracy, seed, adam_steps, teacher_probability }
}

/// The same with some operations teacher-forced.
fn check_with(teacher_probability: f32, name: &str, config: &Config) {
    let share = |index| share(index, teacher_probability);
    let (sequences, net) = clear_case(config, teacher_probability);
    let batch: Vec<Sequence> = sequences.iter().map(|set| set.sequence(0)).collect();
    let mut gradient = net.zeros_like();
    let mut decisions = Vec::new();
    for (index, &sequence) in batch.iter().enumerate() {
        let unrolled = unroll(config, &net, sequence, share(index), None);
        backward(config, &net, sequence, 2, &unrolled, &mut gradient);
        decisions.push(unrolled.decisions);
    }
    let loss = |net: &Net| -> f64 {
        let each = batch.iter().enumerate().map(|(index, &sequence)| {
            unroll(config, net, sequence, share(index), Some(&decisions[index])).losses.total
        });
        each.sum()
    };
    let mut shifted = net.clone();
    for tensor in &net.tensors {
        let mut largest = 0.0f64;
        for at in tensor.range.clone() {
            shifted.values[at] = net.values[at] + STEP;
            let above = loss(&shifted);
            shifted.values[at] = net.values[at] - STEP;
            let difference = (above - loss(&shifted)) / (2.0 * STEP);
            shifted.values[at] = net.values[at];
            let ours = gradient.values[at];
            largest = largest.max(ours.abs());
            assert!(
                (ours - difference).abs() < 1e-8 + 1e-6 * ours.abs(),
                "{name}: {}[{}] has gradient {ours}, by differences {difference}",
                tensor.name,
                at - tensor.range.start
            );
        }
        let unused = config.losses.query == 0.0 && tensor.name.starts_with("decoder")
            || config.losses.masks == 0.0 && tensor.name.starts_with("mask")
            || config.losses.pointers + config.losses.dgm == 0.0
                && (tensor.name.starts_with("query") || tensor.name.starts_with("key"));
        assert_eq!(largest == 0.0, unused, "{name}: the gradient of {} is {largest}", tensor.name);
    }
}

/// A small batch, one sequence of either task, in which no comparison is close.
fn clear_case(config: &Config, teacher_probability: f32) -> ([pgn_structures::Dataset; 2], Net) {
    for seed in 0..500 {
        let sequences =
            [sample_for(config, "dsu", 4, 3, seed), sample_for(config, "lct", 3, 2, seed)];
        let net = Net::new(config, &weights(config, seed)).unwrap();
        let clear = sequences.iter().enumerate().all(|(index, set)| {
            let share = share(index, teacher_probability);
            unroll(config, &net, set.sequence(0), share, None).margin.least > CLEAR
        });
        if clear {
            return (sequences, net);
        }
    }
    panic!("no batch without close comparisons");
}

#[test]
fn the_paper_s_models() {
    for (name, config) in presets(8) {
        check(&name, &config);
    }
}

#[test]
fn variations_of_them() {
    for (name, config) in variations(8) {
        check(&name, &config);
    }
}

#[test]
fn further_inputs() {
    for (name, config) in with_inputs(8) {
        check(&name, &config);
    }
}

#[test]
fn mixed_forcing() {
    for (name, config) in aiming_in_training(8) {
        check_with(0.5, &name, &config);
    }
}
