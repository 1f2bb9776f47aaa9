//! How well a rollout answers: F₁ and its neighbours.

use pgn_engine::{Rollout, left_alone};
use pgn_structures::{Node, Sequence};
use serde::{Deserialize, Serialize};

use crate::TrivialRules;

/// What a set of rollouts scored, over all steps of all sequences.
///
/// The positive class of F₁, precision and recall is answer 1; where a ratio is 0/0 it is 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Harmonic mean of precision and recall of the answers: the paper's score.
    pub f1: f64,
    /// Of the answers given as 1, the share that is right.
    pub precision: f64,
    /// Of the true answers 1, the share that was found.
    pub recall: f64,
    /// Share of right answers.
    pub accuracy: f64,
    /// Share of sequences with every answer right.
    pub sequences_right: f64,
    /// Share of sequences right to the last pointer: every answer, and all pointers after every
    /// operation; absent for models without pointers of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequences_exact: Option<f64>,
    /// Share of pointers equal to the truth's, over all nodes and steps; absent for models
    /// without pointers of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer_accuracy: Option<f64>,
    /// Share of masks equal to the truth's, over all nodes and steps; absent for models without
    /// masks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_accuracy: Option<f64>,
    /// Share of true answers that are 1.
    pub answers_1: f64,
    /// The F₁ of answering 1 always, to see what a score is worth.
    pub f1_always_1: f64,
    /// The F₁ of answering 0 always: 0, as nothing is ever found.
    pub f1_always_0: f64,
}

/// The scores on one test set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TestScores {
    /// Nodes per sequence, n.
    pub nodes: usize,
    /// Operations per sequence.
    pub ops: usize,
    /// Number of sequences.
    pub sequences: usize,
    /// What was scored on them.
    #[serde(flatten)]
    pub scores: Scores,
    /// The F₁ of [`Counting`](crate::Counting) on the same sequences, to see what a score is
    /// worth; absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counting_f1: Option<f64>,
    /// What pointers and masks without a model score on the same sequences; absent where it was
    /// not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trivial: Option<TrivialRules>,
    /// How a model with an iterated processor worked; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Execution>,
}

/// How a model with an iterated processor executed the operations of a test set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// The earliest operation, counted from 0, after which an answer or a pointer was wrong;
    /// absent if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_error: Option<usize>,
    /// Mean number of processor steps per operation.
    pub mean_steps: f64,
    /// The largest number of them.
    pub max_steps: usize,
    /// Mean number of nodes that took part in an operation.
    pub mean_participants: f64,
    /// The largest number of them.
    pub max_participants: usize,
}

/// Counts of right and wrong, added up over rollouts, that [`Scores`] are made of.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    true_positives: u64,
    false_positives: u64,
    false_negatives: u64,
    true_negatives: u64,
    sequences: u64,
    sequences_right: u64,
    sequences_exact: u64,
    pointers: Hits,
    masks: Hits,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Hits {
    pub right: u64,
    pub of: u64,
}

impl Hits {
    /// Compares guesses with the truth; how many are wrong.
    pub fn add<T: PartialEq>(&mut self, guesses: impl Iterator<Item = T>, truth: &[T]) -> u64 {
        let right = guesses.zip(truth).filter(|(guess, truth)| guess == *truth).count() as u64;
        let of = truth.len() as u64;
        self.right += right;
        self.of += of;
        of - right
    }

    pub fn share(&self) -> Option<f64> {
        (self.of > 0).then(|| ratio(self.right, self.of))
    }
}

impl Tally {
    /// Compares one rollout with its sequence's truth. A logit above 0 is a 1 (equation 5 for
    /// masks).
    pub fn add(&mut self, truth: Sequence<'_>, rollout: &Rollout) {
        let n = truth.nodes();
        let (mut all_right, mut exact) = (true, rollout.pointers.is_some());
        for (t, &logit) in rollout.query_logits.iter().enumerate() {
            let pointers = rollout.pointers.as_ref().map(|pointers| &pointers[t * n..][..n]);
            let masks = rollout.mask_logits.as_ref().map(|masks| &masks[t * n..][..n]);
            let (right, same) = self.step(truth, t, logit, pointers, masks);
            all_right &= right;
            exact &= same;
        }
        self.end(all_right, all_right && exact);
    }

    /// Compares one step of a rollout: whether the answer is right, and whether all pointers are
    /// the truth's (where the model has none, they are).
    pub(crate) fn step(
        &mut self,
        truth: Sequence<'_>,
        t: usize,
        logit: f32,
        pointers: Option<&[Node]>,
        mask_logits: Option<&[f32]>,
    ) -> (bool, bool) {
        let right = self.answer(logit > 0.0, truth.answers[t] == 1);
        if let Some(masks) = mask_logits {
            self.masks.add(masks.iter().map(|&logit| u8::from(left_alone(logit))), truth.mask(t));
        }
        let Some(pointers) = pointers else { return (right, true) };
        let wrong = self.pointers.add(pointers.iter().copied(), truth.pointers_after(t));
        (right, wrong == 0)
    }

    /// Counts one answer; whether it was right.
    pub(crate) fn answer(&mut self, guess: bool, truth: bool) -> bool {
        match (guess, truth) {
            (true, true) => self.true_positives += 1,
            (true, false) => self.false_positives += 1,
            (false, true) => self.false_negatives += 1,
            (false, false) => self.true_negatives += 1,
        }
        guess == truth
    }

    /// Counts a sequence: whether all answers were right, and all pointers too.
    pub(crate) fn end(&mut self, all_right: bool, exact: bool) {
        self.sequences += 1;
        self.sequences_right += u64::from(all_right);
        self.sequences_exact += u64::from(exact);
    }

    /// Counts pointers and masks.
    pub(crate) fn hits(&mut self) -> (&mut Hits, &mut Hits) {
        (&mut self.pointers, &mut self.masks)
    }

    /// Adds up with another's counts.
    pub fn join(&mut self, other: &Tally) {
        for (mine, theirs) in [
            (&mut self.true_positives, other.true_positives),
            (&mut self.false_positives, other.false_positives),
            (&mut self.false_negatives, other.false_negatives),
            (&mut self.true_negatives, other.true_negatives),
            (&mut self.sequences, other.sequences),
            (&mut self.sequences_right, other.sequences_right),
            (&mut self.sequences_exact, other.sequences_exact),
            (&mut self.pointers.right, other.pointers.right),
            (&mut self.pointers.of, other.pointers.of),
            (&mut self.masks.right, other.masks.right),
            (&mut self.masks.of, other.masks.of),
        ] {
            *mine += theirs;
        }
    }

    /// The scores so far.
    pub fn scores(&self) -> Scores {
        let positives = self.true_positives + self.false_negatives;
        let answers = positives + self.false_positives + self.true_negatives;
        Scores {
            f1: f1(self.true_positives, self.false_positives, self.false_negatives),
            precision: ratio(self.true_positives, self.true_positives + self.false_positives),
            recall: ratio(self.true_positives, positives),
            accuracy: ratio(self.true_positives + self.true_negatives, answers),
            sequences_right: ratio(self.sequences_right, self.sequences),
            sequences_exact: (self.pointers.of > 0)
                .then(|| ratio(self.sequences_exact, self.sequences)),
            pointer_accuracy: self.pointers.share(),
            mask_accuracy: self.masks.share(),
            answers_1: ratio(positives, answers),
            f1_always_1: f1(positives, answers - positives, 0),
            f1_always_0: f1(0, 0, positives),
        }
    }
}

fn f1(true_positives: u64, false_positives: u64, false_negatives: u64) -> f64 {
    ratio(2 * true_positives, 2 * true_positives + false_positives + false_negatives)
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
