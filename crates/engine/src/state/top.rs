//! The readout's maxima, which blocks of nodes are joined into.

use fearless_simd::prelude::*;

use crate::kernels::rows::raise_by_rows;

/// The readout: max z | max h.
#[derive(Clone, Debug)]
pub struct Top {
    pub values: Vec<f32>, // [2k]
}

impl Top {
    pub fn new(k: usize) -> Top {
        Top { values: vec![f32::NEG_INFINITY; 2 * k] }
    }

    pub fn clear(&mut self) {
        self.values.fill(f32::NEG_INFINITY);
    }

    /// Takes in some nodes' rows.
    #[inline(always)]
    pub fn see<S: Simd>(&mut self, simd: S, z: &[f32], h: &[f32]) {
        let k = self.values.len() / 2;
        let (top_z, top_h) = self.values.split_at_mut(k);
        raise_by_rows(simd, z, top_z);
        raise_by_rows(simd, h, top_h);
    }

    /// Joins another block's maximum.
    pub fn join(&mut self, other: &Top) {
        for (value, &other) in self.values.iter_mut().zip(&other.values) {
            if other > *value {
                *value = other;
            }
        }
    }
}
