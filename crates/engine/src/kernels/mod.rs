//! Plain functions over slices with the caller's scratch, generic over the SIMD level.
//!
//! Matrices are row-major; k is a multiple of [`LANES`], so a row of latents is a whole number of
//! vectors and no kernel has a scalar tail along k.

pub mod math;
pub mod matmul;
pub mod rows;
pub mod sources;

#[cfg(test)]
mod tests;

/// f32 lanes of the vectors used everywhere: one AVX2 register, two NEON ones.
pub const LANES: usize = 8;
