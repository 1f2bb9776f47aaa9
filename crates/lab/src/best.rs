//! Early stopping: the best model on validation so far.

use pgn_engine::Parameters;

use crate::Scores;

/// The weights with the best validation F₁ among the evaluated epochs. Ties go to the
/// earliest, which has overfitted the 70 sequences least. Models that see every transition only once
/// cannot overfit: there, ties go to the latest.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The epoch, counted from 1; 0 is the initial model.
    pub epoch: u64,
    /// What it scored on the validation set.
    pub validation: Scores,
    /// Its weights.
    pub parameters: Parameters,
}

impl Best {
    /// Whether `scores` are better than those of the best so far.
    pub fn improves(best: Option<&Best>, scores: &Scores, latest_of_equals: bool) -> bool {
        best.is_none_or(|best| {
            scores.f1 > best.validation.f1 || latest_of_equals && scores.f1 == best.validation.f1
        })
    }
}
