//! What a link/cut tree can sum along a path.

use std::ops::Add;

/// A value per node that can be combined along a path: how bottlenecks, lengths and the like
/// are found in O(log n).
///
/// Combining must be associative and must not depend on the order, as paths are read from either
/// end. `()` is the value of a tree that sums nothing, at no cost.
pub trait Aggregate: Copy {
    /// The two, combined.
    fn combine(self, other: Self) -> Self;
}

impl Aggregate for () {
    #[inline(always)]
    fn combine(self, _: Self) -> Self {}
}

/// The largest value along a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Max<T>(pub T);

/// The smallest value along a path, its bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Min<T>(pub T);

/// The sum of the values along a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sum<T>(pub T);

/// How many nodes a path has, if every node counts `Count(1)`.
pub type Count = Sum<u32>;

impl<T: Copy + PartialOrd> Aggregate for Max<T> {
    #[inline]
    fn combine(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }
}

impl<T: Copy + PartialOrd> Aggregate for Min<T> {
    #[inline]
    fn combine(self, other: Self) -> Self {
        if other.0 < self.0 { other } else { self }
    }
}

impl<T: Copy + Add<Output = T>> Aggregate for Sum<T> {
    #[inline]
    fn combine(self, other: Self) -> Self {
        Sum(self.0 + other.0)
    }
}
