//! The arithmetic that a job needs, counted by hand.

use pgn_engine::{Config, Model, cost::training_flop, left_alone};
use pgn_structures::{Dataset, Operation, Sampling, Sequence, Task};

#[test]
fn an_epoch_of_pgn_needs_what_was_worked_out_by_hand() {
    let data = Dataset::sample(&Task::named("dsu").unwrap(), &Sampling::paper(20)).unwrap();
    let sequence = data.sequence(0);
    let rows = sequence.masks.iter().filter(|&&mask| mask == 0).count() as u64;
    let config = Config::preset("pgn").unwrap();
    let expected = 2 * (600 * 1024 * 15 + 600 * 64 * 3 + rows * 3 * (1024 + 640));
    assert_eq!(training_flop(&config, [sequence]), expected);
    // Deep Sets: the sender's block is the receiver's.
    let config = Config::preset("deepsets").unwrap();
    assert_eq!(training_flop(&config, [sequence]), 2 * 600 * 1024 * 12);
    let mut state = Model::new(config, 0).unwrap().start(20).unwrap();
    state.apply(sequence.operations[0]).unwrap();
    assert_eq!(30 * state.flop(), 2 * 600 * 1024 * 4);
}

/// A fresh structure of any size: u and v take part, point to themselves, and hear each other
/// from the second step on.
#[test]
fn an_iterated_processor_counts_its_steps_and_participants() {
    let config = Config::preset("pgn-exact").unwrap();
    let model = Model::new(config.clone(), 0).unwrap();
    let of = |nodes| {
        let mut state = model.start(nodes).unwrap();
        state.apply(Operation::new(0, 1)).unwrap();
        assert_eq!(state.participants().unwrap().len(), 2);
        let masks = state.mask_logits()[..2].iter();
        let visited = masks.filter(|&&logit| !left_alone(logit)).count() as u64;
        let steps = state.processor_steps() as u64;
        let processor = (3 * 2 * (steps - 1) + 3 * 2 * steps + steps) * 1024;
        let heads = 2 * (1024 + 64 * 40 + 64 * 32) + 32 * 40 + 2 * 64 + 64;
        assert_eq!(state.flop(), 2 * (processor + heads + visited * visited * 32));
        state.flop()
    };
    assert_eq!(of(8), of(5000));
    // In training, the first operation of a batch takes 24 steps and the second 25.
    let data = Dataset::sample(&Task::named("forest").unwrap(), &Sampling::paper(20)).unwrap();
    let sequence =
        |ops: usize| Sequence { operations: &data.operations[..ops], ..data.sequence(0) };
    let (one, two) = (training_flop(&config, [sequence(1)]), training_flop(&config, [sequence(2)]));
    let mask = data.masks[..20].iter().filter(|&&mask| mask == 0).count() as u64;
    let processor = (3 * 2 * 23 + 3 * 2 * 24 + 24) * 1024;
    let heads = 2 * (1024 + 64 * 40 + 64 * 32) + 32 * 40 + 2 * 64 + 64;
    assert_eq!(one, 3 * 2 * (processor + heads + mask * mask * 32));
    assert!(two > 2 * one);
}
