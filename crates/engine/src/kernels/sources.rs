//! Where the elements of a maximum came from.

use fearless_simd::prelude::*;

use crate::simd::Vector;

/// Where the elements of an aggregate came from: a slice that keeps it, or `()` for those who need
/// not know.
pub trait Sources {
    /// The sources of a vector of elements.
    type From<S: Simd, V: Vector<S>>: Copy;

    /// All from number `number`.
    fn all<S: Simd, V: Vector<S>>(simd: S, number: u32) -> Self::From<S, V>;

    /// `number` where `new` is set, otherwise as before.
    fn replace<S: Simd, V: Vector<S>>(
        simd: S,
        new: V::Lanes,
        number: u32,
        before: Self::From<S, V>,
    ) -> Self::From<S, V>;

    /// Those kept for the elements from `at` on.
    fn get<S: Simd, V: Vector<S>>(&self, simd: S, at: usize) -> Self::From<S, V>;

    /// Keeps those of the elements from `at` on.
    fn set<S: Simd, V: Vector<S>>(&mut self, at: usize, from: Self::From<S, V>);

    /// All elements from number `number`.
    fn fill(&mut self, number: u32);
}

impl Sources for () {
    type From<S: Simd, V: Vector<S>> = ();

    #[inline(always)]
    fn all<S: Simd, V: Vector<S>>(_: S, _: u32) {}

    #[inline(always)]
    fn replace<S: Simd, V: Vector<S>>(_: S, _: V::Lanes, _: u32, (): ()) {}

    #[inline(always)]
    fn get<S: Simd, V: Vector<S>>(&self, _: S, _: usize) {}

    #[inline(always)]
    fn set<S: Simd, V: Vector<S>>(&mut self, _: usize, (): ()) {}

    #[inline(always)]
    fn fill(&mut self, _: u32) {}
}

impl Sources for &mut [u32] {
    type From<S: Simd, V: Vector<S>> = V::Numbers;

    #[inline(always)]
    fn all<S: Simd, V: Vector<S>>(simd: S, number: u32) -> V::Numbers {
        V::Numbers::splat(simd, number)
    }

    #[inline(always)]
    fn replace<S: Simd, V: Vector<S>>(
        simd: S,
        new: V::Lanes,
        number: u32,
        before: V::Numbers,
    ) -> V::Numbers {
        new.select(V::Numbers::splat(simd, number), before)
    }

    #[inline(always)]
    fn get<S: Simd, V: Vector<S>>(&self, simd: S, at: usize) -> V::Numbers {
        V::Numbers::from_slice(simd, &self[at..][..V::LEN])
    }

    #[inline(always)]
    fn set<S: Simd, V: Vector<S>>(&mut self, at: usize, from: V::Numbers) {
        from.store_slice(&mut self[at..][..V::LEN]);
    }

    #[inline(always)]
    fn fill(&mut self, number: u32) {
        <[u32]>::fill(self, number);
    }
}
