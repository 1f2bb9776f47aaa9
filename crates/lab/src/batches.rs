//! Which sequences or views go into which Adam step.

use crate::streams;

/// The order in which an epoch goes through `count` sequences, to be cut into batches.
///
/// Where one batch holds them all, the order is 0, 1, …; otherwise it is shuffled (Fisher–Yates)
/// from a stream of its own, which depends on the seed and the epoch alone: a resumed run needs
/// no generator state.
pub fn order(seed: u64, epoch: u64, count: usize, batch: usize) -> Vec<usize> {
    if batch < count { shuffled(seed, epoch, count) } else { (0..count).collect() }
}

/// A random order of `count` things in pass number `pass` over them.
pub fn shuffled(seed: u64, pass: u64, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut rng = streams::BATCHES.rng(seed, count as u64, pass);
    for last in (1..count).rev() {
        order.swap(last, rng.below(last as u32 + 1) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_batch_is_in_order_and_others_are_permutations() {
        assert_eq!(order(1, 1, 5, 5), [0, 1, 2, 3, 4]);
        let mut shuffled = order(1, 1, 70, 14);
        assert_ne!(shuffled, order(1, 1, 70, 70));
        assert_eq!(shuffled, order(1, 1, 70, 35), "the order does not depend on the batch");
        assert_ne!(shuffled, order(1, 2, 70, 14));
        assert_ne!(shuffled, order(2, 1, 70, 14));
        shuffled.sort_unstable();
        assert_eq!(shuffled, order(1, 1, 70, 70));
    }

    #[test]
    fn every_place_is_equally_likely() {
        let mut counts = [[0u32; 4]; 4];
        for epoch in 0..4000 {
            for (place, index) in order(0, epoch, 4, 1).into_iter().enumerate() {
                counts[place][index] += 1;
            }
        }
        // 1000 expected, standard deviation 27.
        assert!(counts.iter().flatten().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
