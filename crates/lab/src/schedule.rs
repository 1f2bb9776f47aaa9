//! The learning rate of each epoch, and what else changes from epoch to epoch.

use serde::{Deserialize, Serialize};

/// How the learning rate falls over the epochs. The paper keeps it constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decay {
    /// One rate for all epochs.
    Constant,
    /// Half a cosine wave (Loshchilov & Hutter 2017).
    Cosine,
    /// A constant factor from epoch to epoch.
    Exponential,
}

impl Decay {
    /// The learning rate of `epoch` out of `epochs`, both counted from 1: `first` in the first
    /// epoch and `first × final_fraction` in the last (except for [`Decay::Constant`]).
    ///
    /// ```
    /// use pgn_lab::Decay;
    /// assert_eq!(Decay::Constant.rate(0.005, 0.1, 77, 100), 0.005);
    /// assert_eq!(Decay::Cosine.rate(0.005, 0.0, 100, 100), 0.0);
    /// ```
    pub fn rate(self, first: f64, final_fraction: f64, epoch: u64, epochs: u64) -> f32 {
        let done = done(epoch, epochs);
        // libm's functions are the same bits on every platform; the standard library's may not be.
        let factor = match self {
            Decay::Constant => 1.0,
            Decay::Cosine => {
                let wave = 0.5 * (1.0 + libm::cos(std::f64::consts::PI * done));
                final_fraction + (1.0 - final_fraction) * wave
            }
            Decay::Exponential => libm::pow(final_fraction, done),
        };
        (first * factor) as f32
    }
}

/// A value of `epoch` out of `epochs` that goes from `first` to `last` in a straight line.
pub(crate) fn linear(first: f64, last: f64, epoch: u64, epochs: u64) -> f64 {
    first + (last - first) * done(epoch, epochs)
}

/// From 0 in the first epoch to 1 in the last; a single one is the first.
fn done(epoch: u64, epochs: u64) -> f64 {
    match epochs {
        0 | 1 => 0.0,
        _ => epoch.saturating_sub(1) as f64 / (epochs - 1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_at_the_rate_and_ends_at_the_fraction() {
        for decay in [Decay::Cosine, Decay::Exponential] {
            assert_eq!(decay.rate(0.005, 0.1, 1, 50), 0.005);
            assert!((decay.rate(0.005, 0.1, 50, 50) - 0.0005).abs() < 1e-9);
            let rates: Vec<f32> = (1..=50).map(|e| decay.rate(0.005, 0.1, e, 50)).collect();
            assert!(rates.windows(2).all(|pair| pair[0] > pair[1]), "{rates:?}");
        }
        // Halfway: the cosine is at the arithmetic mean, the exponential at the geometric one.
        assert!((Decay::Cosine.rate(1.0, 0.01, 51, 101) - 0.505).abs() < 1e-6);
        assert!((Decay::Exponential.rate(1.0, 0.01, 51, 101) - 0.1).abs() < 1e-6);
    }

    #[test]
    fn straight_lines_end_where_they_should() {
        let line = |epoch| linear(0.8, 0.2, epoch, 4);
        for (epoch, expected) in [(1, 0.8), (2, 0.6), (3, 0.4), (4, 0.2)] {
            assert!((line(epoch) - expected).abs() < 1e-12, "{}", line(epoch));
        }
        assert_eq!(linear(0.2, 0.2, 3, 7), 0.2, "what is constant stays so, to the bit");
        assert_eq!(linear(0.8, 0.2, 1, 1), 0.8);
    }

    #[test]
    fn a_single_epoch_has_the_full_rate() {
        assert_eq!(Decay::Exponential.rate(0.005, 0.1, 1, 1), 0.005);
    }
}
