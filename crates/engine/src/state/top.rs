//! The readout's maxima, which blocks of nodes are joined into.

/// The readout: max z | max h, and where each element came from.
#[derive(Clone, Debug)]
pub struct Top {
    pub values: Vec<f32>,  // [2k]
    pub sources: Vec<u32>, // [2k]
}

impl Top {
    pub fn new(k: usize) -> Top {
        Top { values: vec![f32::NEG_INFINITY; 2 * k], sources: vec![0; 2 * k] }
    }

    pub fn clear(&mut self) {
        self.values.fill(f32::NEG_INFINITY);
        self.sources.fill(0);
    }

    /// Joins a later block's maximum; the earlier node wins a tie.
    pub fn join(&mut self, later: &Top) {
        let mine = self.values.iter_mut().zip(&mut self.sources);
        for ((value, source), (&other, &from)) in mine.zip(later.values.iter().zip(&later.sources))
        {
            if other > *value {
                (*value, *source) = (other, from);
            }
        }
    }
}
