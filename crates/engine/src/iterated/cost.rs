//! The arithmetic that an iterated processor needs: multiply-adds of matrix products, two
//! operations each.

use pgn_structures::{Node, Sequence};

use super::{Iterated, reach::Reach, weights::BIASES};
use crate::Config;

/// Of the forward pass of one operation: `steps` processor steps, and `pairs` pointer scores.
pub fn forward_flop(k: usize, reach: &Reach, steps: usize, pairs: u64) -> u64 {
    let (a, w) = (reach.nodes.len() as u64, k as u64);
    if a == 0 {
        return 0;
    }
    let mut rows = [0, 0];
    for step in 1..=steps {
        rows[0] += reach.count(step) as u64;
        rows[1] += reach.count(step - 1).min(reach.count(step)) as u64;
    }
    let [receivers, senders] = rows;
    // Three message functions a sender; x, parent and children a receiver; what all hear, once.
    let processor = (3 * senders + 3 * receivers + steps as u64) * w * w;
    // The share of z in every step; query, relation biases and key of [z ‖ x], of max x once.
    let asking = a * (w * w + 2 * w * (w + BIASES as u64) + 2 * w * w) + w * (w + BIASES as u64);
    let logits = a * 2 * w + 2 * w;
    2 * (processor + asking + logits + pairs * w)
}

/// Of one forward and backward pass over a sequence, every operation of it a transition from the
/// truth's pointers; `first` is its number in the batch, which decides on the steps of each.
pub fn training_flop(
    config: &Config,
    settings: &Iterated,
    sequence: Sequence<'_>,
    first: usize,
) -> u64 {
    let fresh: Vec<Node> = (0..sequence.nodes() as Node).collect();
    let mut reach = Reach::default();
    let one = |(t, &operation)| {
        let before = if t == 0 { &fresh[..] } else { sequence.pointers_after(t - 1) };
        let steps = settings.steps_in_training(first + t);
        reach.find(settings.participants, before, operation, steps);
        let visited = sequence.mask(t).iter().filter(|&&mask| mask == 0).count() as u64;
        // Back-propagation multiplies every matrix twice.
        3 * forward_flop(config.k, &reach, steps, visited * visited)
    };
    sequence.operations.iter().enumerate().map(one).sum()
}
