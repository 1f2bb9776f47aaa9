//! Where the elements of a maximum came from.

use fearless_simd::{mask32x8, prelude::*, u32x8};

use super::LANES;

/// Where the elements of an aggregate came from: a slice that keeps it, or `()` for those who need
/// not know.
pub trait Sources {
    /// The sources of a vector of elements.
    type From<S: Simd>: Copy;

    /// All from number `number`.
    fn all<S: Simd>(simd: S, number: u32) -> Self::From<S>;

    /// `number` where `new` is set, otherwise as before.
    fn replace<S: Simd>(
        simd: S,
        new: mask32x8<S>,
        number: u32,
        before: Self::From<S>,
    ) -> Self::From<S>;

    /// Those kept for the elements from `at` on.
    fn get<S: Simd>(&self, simd: S, at: usize) -> Self::From<S>;

    /// Keeps those of the elements from `at` on.
    fn set<S: Simd>(&mut self, at: usize, from: Self::From<S>);

    /// All elements from number `number`.
    fn fill(&mut self, number: u32);
}

impl Sources for () {
    type From<S: Simd> = ();

    #[inline(always)]
    fn all<S: Simd>(_: S, _: u32) {}

    #[inline(always)]
    fn replace<S: Simd>(_: S, _: mask32x8<S>, _: u32, (): ()) {}

    #[inline(always)]
    fn get<S: Simd>(&self, _: S, _: usize) {}

    #[inline(always)]
    fn set<S: Simd>(&mut self, _: usize, (): ()) {}

    #[inline(always)]
    fn fill(&mut self, _: u32) {}
}

impl Sources for &mut [u32] {
    type From<S: Simd> = u32x8<S>;

    #[inline(always)]
    fn all<S: Simd>(simd: S, number: u32) -> u32x8<S> {
        u32x8::splat(simd, number)
    }

    #[inline(always)]
    fn replace<S: Simd>(simd: S, new: mask32x8<S>, number: u32, before: u32x8<S>) -> u32x8<S> {
        new.select(u32x8::splat(simd, number), before)
    }

    #[inline(always)]
    fn get<S: Simd>(&self, simd: S, at: usize) -> u32x8<S> {
        u32x8::from_slice(simd, &self[at..][..LANES])
    }

    #[inline(always)]
    fn set<S: Simd>(&mut self, at: usize, from: u32x8<S>) {
        from.store_slice(&mut self[at..][..LANES]);
    }

    #[inline(always)]
    fn fill(&mut self, number: u32) {
        <[u32]>::fill(self, number);
    }
}
