//! What is inside a data set, in a few numbers.

use rayon::prelude::*;
use serde::Serialize;

use crate::{Dataset, Sequence, forest};

/// The figures by which one data set can be compared with another: shares over all sequences,
/// steps and nodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Statistics {
    /// Share of operations whose answer is 1.
    #[serde(rename = "answers_one")]
    pub answers_1: f64,
    /// Share of masks that are 0: nodes visited.
    pub masks_zero: f64,
    /// Share of pointers, after each operation, that point to their own node.
    pub self_pointing: f64,
    /// Mean number of pointers to follow from a node until nothing changes.
    pub mean_depth: f64,
    /// The mean depth after the last operation of each sequence only.
    pub final_mean_depth: f64,
    /// The largest such number.
    pub max_depth: u32,
}

/// Whole numbers, so that the order of adding up does not matter.
#[derive(Default)]
struct Totals {
    answers_1: u64,
    masks_zero: u64,
    self_pointing: u64,
    depth: u64,
    final_depth: u64,
    max_depth: u32,
}

impl Statistics {
    /// The figures of `dataset`, all zero if it is empty.
    pub fn of(dataset: &Dataset) -> Self {
        let totals = (0..dataset.count())
            .into_par_iter()
            .map(|index| Totals::of(dataset.sequence(index)))
            .reduce(Totals::default, Totals::plus);
        let share = |part: u64, whole: usize| part as f64 / whole.max(1) as f64;
        Statistics {
            answers_1: share(totals.answers_1, dataset.answers.len()),
            masks_zero: share(totals.masks_zero, dataset.masks.len()),
            self_pointing: share(totals.self_pointing, dataset.pointers.len()),
            mean_depth: share(totals.depth, dataset.pointers.len()),
            final_mean_depth: share(totals.final_depth, dataset.priorities.len()),
            max_depth: totals.max_depth,
        }
    }
}

impl Totals {
    fn of(sequence: Sequence<'_>) -> Self {
        let count = |values: &[u8], wanted: u8| values.iter().filter(|&&v| v == wanted).count();
        let mut totals = Totals {
            answers_1: count(sequence.answers, 1) as u64,
            masks_zero: count(sequence.masks, 0) as u64,
            ..Totals::default()
        };
        let mut depths = Vec::new();
        for step in 0..sequence.ops() {
            let pointers = sequence.pointers_after(step);
            totals.self_pointing += (0..).zip(pointers).filter(|&(i, &p)| i == p).count() as u64;
            forest::depths_into(pointers, &mut depths);
            let total = depths.iter().map(|&depth| u64::from(depth)).sum();
            totals.depth += total;
            totals.final_depth = total;
            let deepest = depths.iter().copied().max().unwrap_or(0);
            totals.max_depth = totals.max_depth.max(deepest);
        }
        totals
    }

    fn plus(self, other: Self) -> Self {
        Totals {
            answers_1: self.answers_1 + other.answers_1,
            masks_zero: self.masks_zero + other.masks_zero,
            self_pointing: self.self_pointing + other.self_pointing,
            depth: self.depth + other.depth,
            final_depth: self.final_depth + other.final_depth,
            max_depth: self.max_depth.max(other.max_depth),
        }
    }
}
