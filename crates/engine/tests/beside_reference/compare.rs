//! The engine beside the reference.
//!
//! # Tolerances
//!
//! The engine computes in f32, with a rounding of 6e-8 an operation. A latent is a sum of some 100
//! products of numbers near 1, and goes through a handful of such layers here, so values are
//! expected to agree to a few 1e-6, relative to the largest of their kind. That holds for
//! everything continuous. Gradients also hang on comparisons (which node was the maximum, whether a
//! ReLU was open), and pointers on an argmax: where the reference finds a comparison decided by less
//! than [`CLEAR`], the engine may decide otherwise. Such batches must be drawn again, such
//! rollouts are compared up to that step, and the tests insist that both are rare.

use pgn_engine::{Config, Example, Model, Parameters, Trainer, TrainerOptions};
use pgn_structures::Sequence;

use pgn_engine::reference::{BatchGradients, Rolled};

/// Comparisons decided by less than this are within reach of rounding.
pub const CLEAR: f64 = 1e-6;
/// Of losses, relative to the loss, or to 1.
const LOSS: f64 = 2e-6;
/// Of gradients, relative to the largest of the tensor …
const GRADIENT: f64 = 2e-5;
/// … and absolutely: shares near 1 may cancel, and leave behind their rounding.
const CANCELLED: f64 = 1e-7;
/// Of logits, relative to the largest of the rollout, or to 1.
const LOGIT: f64 = 5e-6;

/// Losses and gradients of a batch.
pub fn assert_gradients(
    what: &str,
    config: &Config,
    parameters: &Parameters,
    batch: &[Sequence],
    options: TrainerOptions,
    expected: &BatchGradients,
) {
    assert!(expected.margin.least >= CLEAR, "{what}: a comparison is close");
    let model = Model::from_parameters(config.clone(), parameters.clone()).unwrap();
    let examples: Vec<Example> =
        batch.iter().map(|&sequence| Example::oracle(config, sequence)).collect();
    let trainer = Trainer::new(model, options).unwrap();
    let (losses, gradients) = trainer.gradients(&examples).unwrap();
    for (loss, ours, theirs) in [
        ("query", losses.query, expected.losses.query),
        ("pointers", losses.pointers, expected.losses.pointers),
        ("masks", losses.masks, expected.losses.masks),
        ("dgm", losses.dgm, expected.losses.dgm),
        ("total", losses.total, expected.losses.total),
    ] {
        let off = (ours - theirs).abs();
        assert!(off < LOSS * theirs.abs().max(1.0), "{what}: {loss} loss is {ours}, not {theirs}");
    }
    assert_eq!(losses.right, expected.losses.right, "{what}");
    for tensor in gradients.tensors() {
        let ours = &gradients.values()[tensor.range.clone()];
        let theirs = &expected.gradient.values[tensor.range.clone()];
        let size = theirs.iter().fold(0.0f64, |size, value| size.max(value.abs()));
        for (i, (&ours, &theirs)) in ours.iter().zip(theirs).enumerate() {
            let off = (f64::from(ours) - theirs).abs();
            assert!(
                off <= CANCELLED + GRADIENT * size,
                "{what}: ∂{}[{i}] is {ours}, not {theirs}",
                tensor.name
            );
        }
    }
}

/// The first operation with a comparison too close to insist on: the last whose logits can be
/// compared.
pub fn first_close(rolled: &[Rolled]) -> Option<usize> {
    rolled.iter().position(|step| step.margin.least < CLEAR)
}

/// Logits and pointers of a free rollout up to the first close comparison.
pub fn assert_rollout(
    what: &str,
    config: &Config,
    parameters: &Parameters,
    sequence: Sequence,
    expected: &[Rolled],
) {
    let (n, ops, close) = (sequence.nodes(), sequence.ops(), first_close(expected));
    let model = Model::from_parameters(config.clone(), parameters.clone()).unwrap();
    let ours = model.rollout(Example::oracle(config, sequence)).unwrap();
    assert_eq!(ours.query_logits.len(), ops);
    assert_eq!(ours.mask_logits.is_some(), config.has_masks(), "{what}");
    assert_eq!(ours.pointers.is_some(), config.owns_pointers(), "{what}");
    for (t, expected) in expected.iter().enumerate().take(close.map_or(ops, |t| t + 1)) {
        assert_close(
            &format!("{what}, query {t}"),
            &ours.query_logits[t..][..1],
            &[expected.logit],
        );
        if let Some(masks) = &ours.mask_logits {
            let what = format!("{what}, masks {t}");
            assert_close(&what, &masks[t * n..][..n], &expected.mask_logits);
        }
        if let Some(pointers) = &ours.pointers
            && close != Some(t)
        {
            let ours: Vec<usize> =
                pointers[t * n..][..n].iter().map(|&node| node as usize).collect();
            assert_eq!(ours, expected.pointers, "{what}, pointers {t}");
        }
    }
}

fn assert_close(what: &str, ours: &[f32], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let size = theirs.iter().fold(1.0f64, |size, value| size.max(value.abs()));
    for (i, (&ours, &theirs)) in ours.iter().zip(theirs).enumerate() {
        let off = (f64::from(ours) - theirs).abs();
        assert!(off <= LOGIT * size, "{what}: logit {i} is {ours}, not {theirs}");
    }
}
