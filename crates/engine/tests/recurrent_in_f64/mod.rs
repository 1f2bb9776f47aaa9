//! The model family in f64, straight from the equations: dense n×n loops, no algebra, no SIMD, no
//! sharing of code with the engine beyond its [`Config`] and the names and shapes of its tensors.
//!
//! | file | what |
//! | --- | --- |
//! | `net.rs` | weights, linear layers and their gradients |
//! | `step.rs` | one operation: equations 1 to 6 and 8, all pairs of nodes written out |
//! | `unroll.rs` | training: teacher forcing (or own, free, or sampled pointers) and the losses |
//! | `gradient.rs` | back-propagation through time |
//! | `rollout.rs` | free rollouts |
//! | `cases.rs` | configs, weights and sequences to run it on |
//! | `compare.rs` | the engine beside it, and what differences rounding allows |
//!
//! Where a result hangs on a comparison (a maximum, a ReLU, an argmax, a threshold, a draw), the
//! reference reports by how little it was decided: its *margin*. Below the rounding of f32 the
//! engine may rightly decide otherwise, and then a test must not insist.

// Every test file takes what it needs of this module.
#![allow(dead_code)]
// i and j are the equations' i and j.
#![allow(clippy::needless_range_loop)]

pub mod cases;
pub mod compare;
pub mod gradient;
pub mod net;
pub mod rollout;
pub mod step;
pub mod unroll;

/// How many comparisons were made, and by how little the closest was decided.
#[derive(Clone, Copy, Debug)]
pub struct Margin {
    pub decisions: u64,
    pub least: f64,
}

impl Default for Margin {
    fn default() -> Margin {
        Margin { decisions: 0, least: f64::INFINITY }
    }
}

impl Margin {
    pub fn decide(&mut self, by: f64) {
        self.join(Margin { decisions: 1, least: by });
    }

    pub fn join(&mut self, other: Margin) {
        self.decisions += other.decisions;
        self.least = self.least.min(other.least);
    }
}

/// One row per node.
pub type Rows = Vec<Vec<f64>>;

/// The index of the largest value, the lowest of equals, and its lead over the second largest.
///
/// A tie is no close decision: nodes that are told the same compute the same, in f64 and f32
/// alike, and the rule says which of them wins.
pub fn best(values: &[f64]) -> (usize, f64) {
    let mut best = 0;
    for (j, &value) in values.iter().enumerate() {
        if value > values[best] {
            best = j;
        }
    }
    let others = values.iter().filter(|&&value| value < values[best]);
    let second = others.fold(f64::NEG_INFINITY, |second, &value| second.max(value));
    (best, values[best] - second)
}

/// \[x ‖ y\]
pub fn concat(x: &[f64], y: &[f64]) -> Vec<f64> {
    [x, y].concat()
}

/// y += x
pub fn add_to(y: &mut [f64], x: &[f64]) {
    assert_eq!(x.len(), y.len());
    y.iter_mut().zip(x).for_each(|(y, x)| *y += x);
}
