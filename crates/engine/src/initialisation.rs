//! What a model knows before it has learned anything.

use pgn_structures::Rng;
use serde::{Deserialize, Serialize};

/// How initial weights are drawn. The paper does not say; fan_in is what a layer reads, fan_out what
/// it gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Initialisation {
    /// Normal with σ = 1/√fan_in, cut at 2σ; biases zero. The default of Haiku's linear layers.
    #[default]
    Lecun,
    /// Uniform within ±√(6 / (fan_in + fan_out)); biases zero.
    Glorot,
    /// Uniform within ±1/√fan_in, biases too. The default of PyTorch's linear layers.
    Torch,
}

impl Initialisation {
    /// Weights \[fan_out, fan_in\].
    pub(crate) fn draw_weights(
        self,
        rng: &mut Rng,
        fan_in: usize,
        fan_out: usize,
        into: &mut [f32],
    ) {
        let lecun = 1.0 / (fan_in as f64).sqrt();
        match self {
            Initialisation::Lecun => fill(into, || truncated_normal(rng) * lecun),
            Initialisation::Glorot => {
                let limit = (6.0 / (fan_in + fan_out) as f64).sqrt();
                fill(into, || uniform(rng) * limit);
            }
            Initialisation::Torch => fill(into, || uniform(rng) * lecun),
        }
    }

    /// The biases of a layer that reads `fan_in` values.
    pub(crate) fn draw_biases(self, rng: &mut Rng, fan_in: usize, into: &mut [f32]) {
        let limit = 1.0 / (fan_in as f64).sqrt();
        match self {
            Initialisation::Lecun | Initialisation::Glorot => into.fill(0.0),
            Initialisation::Torch => fill(into, || uniform(rng) * limit),
        }
    }
}

fn fill(into: &mut [f32], mut draw: impl FnMut() -> f64) {
    into.iter_mut().for_each(|value| *value = draw() as f32);
}

/// One draw from −1 to 1.
fn uniform(rng: &mut Rng) -> f64 {
    2.0 * rng.unit_f64() - 1.0
}

/// One draw from the standard normal, cut at ±2, by the Box–Muller transform. The functions are
/// libm's, in pure Rust, so that every platform draws the same bits.
fn truncated_normal(rng: &mut Rng) -> f64 {
    loop {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - rng.unit_f64()));
        let value = radius * libm::cos(std::f64::consts::TAU * rng.unit_f64());
        if value.abs() <= 2.0 {
            return value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of many draws, and the largest.
    fn measured(initialisation: Initialisation) -> [f64; 3] {
        let mut values = vec![0.0; 40_000];
        let mut rng = Rng::new([5, 6, 7, 8]);
        initialisation.draw_weights(&mut rng, 64, 32, &mut values);
        let n = values.len() as f64;
        let mean = values.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
        let variance = values.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
        [mean, variance.sqrt(), values.iter().fold(0.0, |top, &x| f64::from(x.abs()).max(top))]
    }

    #[test]
    fn draws_have_the_spread_they_should() {
        // A normal cut at 2σ has a standard deviation of 0.8796 σ; a uniform one of limit / √3.
        let cases = [
            (Initialisation::Lecun, 0.8796 / 8.0, 2.0 / 8.0),
            (Initialisation::Glorot, 0.25 / 3f64.sqrt(), 0.25),
            (Initialisation::Torch, 0.125 / 3f64.sqrt(), 0.125),
        ];
        for (initialisation, spread, limit) in cases {
            let [mean, measured_spread, top] = measured(initialisation);
            assert!(mean.abs() < 0.003, "{initialisation:?}: mean {mean}");
            assert!((measured_spread / spread - 1.0).abs() < 0.02, "{initialisation:?}");
            assert!(top <= limit && top > 0.98 * limit, "{initialisation:?}: {top}");
        }
    }

    #[test]
    fn only_torch_draws_biases() {
        let biases = |initialisation: Initialisation| {
            let mut values = [7.0; 8];
            initialisation.draw_biases(&mut Rng::new([1, 2, 3, 4]), 16, &mut values);
            values
        };
        assert_eq!(biases(Initialisation::Lecun), [0.0; 8]);
        assert_eq!(biases(Initialisation::Glorot), [0.0; 8]);
        assert!(biases(Initialisation::Torch).iter().all(|x| x.abs() <= 0.25 && *x != 0.0));
    }
}
