//! The project's random numbers, for operations that a Python structure draws itself.

use pyo3::{exceptions::PyValueError, prelude::*};

/// A stream of random numbers, the same on every platform.
///
/// A structure's ``sample`` is given one, and must draw from nothing else. The four numbers of
/// the key are, by convention, the seed, the stream, the number of nodes and the index of the
/// sequence.
///
/// >>> rng = pgn.Rng(1, 0, 20, 3)
/// >>> rng.below(20)
/// 4
/// >>> 0.0 <= rng.unit() < 1.0
/// True
#[pyclass(module = "pgn", frozen)]
pub struct Rng(std::sync::Mutex<pgn_structures::Rng>);

impl Rng {
    /// A copy of `rng`, to be lent to Python.
    pub fn of(rng: &pgn_structures::Rng) -> Rng {
        Rng(rng.clone().into())
    }

    /// The generator as it is now.
    pub fn get(&self) -> pgn_structures::Rng {
        self.locked().clone()
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, pgn_structures::Rng> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[pymethods]
impl Rng {
    #[new]
    #[pyo3(signature = (seed, stream=0, nodes=0, index=0))]
    fn new(seed: u64, stream: u64, nodes: u64, index: u64) -> Rng {
        Rng(pgn_structures::Rng::new([seed, stream, nodes, index]).into())
    }

    /// An integer uniform in ``range(n)``.
    fn below(&self, n: u32) -> PyResult<u32> {
        if n == 0 {
            return Err(PyValueError::new_err("n is 0; expected at least 1"));
        }
        Ok(self.locked().below(n))
    }

    /// A multiple of 2⁻²⁴ uniform in [0, 1).
    fn unit(&self) -> f32 {
        self.locked().unit_f32()
    }
}
