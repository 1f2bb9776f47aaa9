//! The algebra the engine rests on: max over j of ReLU(aᵢ + bⱼ) is ReLU(aᵢ + maxⱼ bⱼ), to the bit,
//! in f32. Adding aᵢ rounds, but rounding is monotone, and so is ReLU; so no n×n×k tensor is needed
//! even for the complete graph.

use proptest::prelude::*;

fn relu(x: f32) -> f32 {
    if x > 0.0 { x } else { 0.0 }
}

/// The first of the largest.
fn max(values: impl Iterator<Item = f32>) -> f32 {
    values.reduce(|top, value| if value > top { value } else { top }).unwrap()
}

/// All pairs, as equation 8 has it.
fn dense(a: &[f32], b: &[f32]) -> Vec<u32> {
    a.iter().map(|&a| max(b.iter().map(|&b| relu(a + b))).to_bits()).collect()
}

/// One maximum for all.
fn folded(a: &[f32], b: &[f32]) -> Vec<u32> {
    let top = max(b.iter().copied());
    a.iter().map(|&a| relu(a + top).to_bits()).collect()
}

/// Finite numbers of every size: those a network has, ties among few values, either zero,
/// neighbours in the last bit, subnormal and huge ones.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -4.0f32..4.0,
        2 => prop::sample::select(vec![0.0, -0.0, 1.0, -1.0, 0.5, 1.0 + f32::EPSILON]),
        1 => prop::sample::select(vec![f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, -1e-45]),
        2 => any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |x| x.is_finite()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn the_dense_form_is_the_folded_one(
        a in prop::collection::vec(number(), 1..20),
        b in prop::collection::vec(number(), 1..20),
    ) {
        prop_assert_eq!(dense(&a, &b), folded(&a, &b));
    }

    /// The same with two or three values in all, so that most are tied.
    #[test]
    fn so_it_is_with_ties(
        (values, a, b) in prop::collection::vec(number(), 2..4).prop_flat_map(|values| {
            let index = 0..values.len();
            let list = prop::collection::vec(index, 1..12);
            (Just(values), list.clone(), list)
        }),
    ) {
        let a: Vec<f32> = a.into_iter().map(|i| values[i]).collect();
        let b: Vec<f32> = b.into_iter().map(|i| values[i]).collect();
        prop_assert_eq!(dense(&a, &b), folded(&a, &b));
    }
}
