//! The paper's model family in f64, straight from the equations: the readable counterpart of the
//! fast engine, and what its tests compare it with.
//!
//! Dense n × n loops, no algebra, no SIMD; it shares with the engine only [`Config`] and the names
//! and shapes of tensors.
//!
//! | equation | what | here | fast path |
//! | --- | --- | --- | --- |
//! | 1 | zᵢ = encoder\[eᵢ ‖ hᵢ\] | [`encode`] | `recurrent/encoder.rs` |
//! | 2, 8 | hᵢ = ReLU(update\[zᵢ ‖ maxⱼ ReLU(message\[zᵢ ‖ zⱼ\])\]) | [`process`], [`aggregate`] | `recurrent/layer.rs`, `aggregation/` |
//! | 3 | y = decoder\[maxᵢ zᵢ ‖ maxᵢ hᵢ\] | [`read_out`] | `recurrent/decoder.rs` |
//! | 4, 5 | μᵢ = 𝕀(mask\[zᵢ ‖ hᵢ\] > 0) | [`mask_logits`] | `recurrent/masks.rs` |
//! | 6 | αᵢⱼ = softmaxⱼ ⟨query hᵢ, key hⱼ⟩ | [`attend`], [`softmax`] | `recurrent/attention.rs` |
//! | 7 | j ∈ Nᵢ if πᵢ = j or πⱼ = i; πᵢ = argmaxⱼ αᵢⱼ where μᵢ = 0 | [`is_neighbour`], [`rollout`] | `graph.rs`, `recurrent/pointers.rs` |
//! | losses | | [`unroll`] | `recurrent/forward.rs` |
//! | gradients | | [`backward`] | the `backward` of each layer |
//!
//! Where a result hangs on a comparison (a maximum, a ReLU, an argmax, a threshold, a draw), the
//! reference reports by how little it was decided: its [`Margin`]. Below the rounding of f32 the
//! engine may rightly decide otherwise.
//!
//! ```
//! use pgn_engine::{Config, Model, reference};
//! use pgn_structures::{Dataset, Sampling, Task};
//!
//! let data = Dataset::sample(&Task::named("dsu")?, &Sampling::paper(20))?;
//! let model = Model::new(Config::preset("pgn")?, 0)?;
//! let net = reference::Net::new(model.config(), model.parameters())?;
//! let plain = reference::rollout(model.config(), &net, data.sequence(0))?;
//! let fast = model.rollout(data.sequence(0))?;
//! assert!((plain[0].logit - f64::from(fast.query_logits[0])).abs() < 1e-5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// i and j are the equations' i and j.
#![allow(clippy::needless_range_loop)]

mod gradient;
mod net;
mod rollout;
mod step;
mod unroll;

#[cfg(doc)]
use crate::Config;

pub use gradient::{BatchGradients, backward, train};
pub use net::{Linear, Net};
pub use rollout::{Rolled, rollout};
pub use step::{
    Aggregated, Attention, Layers, Pass, Step, aggregate, attend, binary_cross_entropy, encode,
    is_neighbour, mask_logits, process, read_out, sigmoid, softmax,
};
pub use unroll::{Asked, Decisions, Losses, Share, Taught, Unrolled, unroll};

/// How many comparisons were made, and by how little the closest was decided.
#[derive(Clone, Copy, Debug)]
pub struct Margin {
    /// Comparisons made.
    pub decisions: u64,
    /// The smallest difference that decided one.
    pub least: f64,
}

impl Default for Margin {
    fn default() -> Margin {
        Margin { decisions: 0, least: f64::INFINITY }
    }
}

impl Margin {
    /// Notes a comparison that was decided by so much.
    pub fn decide(&mut self, by: f64) {
        self.join(Margin { decisions: 1, least: by });
    }

    /// Adds the comparisons of another.
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
fn best(values: &[f64]) -> (usize, f64) {
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
fn concat(x: &[f64], y: &[f64]) -> Vec<f64> {
    [x, y].concat()
}

/// y += x
fn add_to(y: &mut [f64], x: &[f64]) {
    debug_assert_eq!(x.len(), y.len());
    y.iter_mut().zip(x).for_each(|(y, x)| *y += x);
}
