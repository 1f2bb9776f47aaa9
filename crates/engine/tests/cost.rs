//! The arithmetic that a job needs, counted by hand.

use pgn_engine::{Config, Model, cost::training_flop};
use pgn_structures::{Dataset, Sampling, Task};

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
