//! Adam (Kingma and Ba, 2015), with the constants of the paper's framework.

use crate::{Parameters, SimdLevel, simd::with_simd};

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// The optimiser's memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    /// Running mean of the gradients.
    pub first_moment: Parameters,
    /// Running mean of their squares.
    pub second_moment: Parameters,
    /// Steps taken.
    pub steps: u64,
}

impl Adam {
    /// No steps taken, for weights of these shapes.
    pub fn new(like: &Parameters) -> Adam {
        let zeros = like.zeroed();
        Adam { first_moment: zeros.clone(), second_moment: zeros, steps: 0 }
    }

    /// One step down the gradient.
    pub fn step(&mut self, learning_rate: f32, gradients: &Parameters, weights: &mut Parameters) {
        self.steps += 1;
        let unbias = |beta| (1.0 - libm::pow(f64::from(beta), self.steps as f64)) as f32;
        let (unbias1, unbias2) = (unbias(BETA1), unbias(BETA2));
        let means = self.first_moment.values_mut().iter_mut();
        let moments = means.zip(self.second_moment.values_mut());
        let values = weights.values_mut().iter_mut().zip(gradients.values());
        // No multiply-add is fused here, so the bits do not depend on the instructions.
        with_simd!(SimdLevel::best(), _simd => {
            for ((m, v), (weight, &gradient)) in moments.zip(values) {
                *m = BETA1 * *m + (1.0 - BETA1) * gradient;
                *v = BETA2 * *v + (1.0 - BETA2) * gradient * gradient;
                *weight -= learning_rate * (*m / unbias1) / ((*v / unbias2).sqrt() + EPSILON);
            }
        });
    }
}
