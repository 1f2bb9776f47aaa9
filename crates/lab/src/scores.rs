//! How well a rollout answers: F₁ and its neighbours.

use serde::{Deserialize, Serialize};

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

/// How often three rules without a model are right on a test set, over all nodes and steps: what an
/// accuracy must be compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrivialRules {
    /// Masks: no node is ever visited.
    pub never_visit: f64,
    /// Pointers: every node points to itself, as at the start.
    pub point_to_self: f64,
    /// Pointers: none moves. The rule is told the true pointers before each operation.
    pub keep_pointers: f64,
}

/// Counts of right and wrong that [`Scores`] are made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// By truth and answer.
    answers: [[u64; 2]; 2],
    sequences: u64,
    sequences_right: u64,
    sequences_exact: u64,
    pub pointers: Hits,
    pub masks: Hits,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hits {
    pub right: u64,
    pub of: u64,
}

impl Hits {
    /// Adds so many right ones of so many.
    pub fn count(&mut self, right: u64, of: u64) {
        self.join(Hits { right, of });
    }

    pub fn join(&mut self, Hits { right, of }: Hits) {
        self.right += right;
        self.of += of;
    }

    pub fn share(&self) -> Option<f64> {
        (self.of > 0).then(|| ratio(self.right, self.of))
    }
}

impl Tally {
    /// Counts one answer; whether it was right.
    pub fn answer(&mut self, guess: bool, truth: bool) -> bool {
        self.answers[usize::from(truth)][usize::from(guess)] += 1;
        guess == truth
    }

    /// Counts a sequence: whether all answers were right, and all pointers too.
    pub fn end(&mut self, all_right: bool, exact: bool) {
        self.sequences += 1;
        self.sequences_right += u64::from(all_right);
        self.sequences_exact += u64::from(exact);
    }

    /// Adds up with another's counts.
    pub fn join(&mut self, other: &Tally) {
        let mine = self.answers.as_flattened_mut().iter_mut();
        mine.zip(other.answers.as_flattened()).for_each(|(mine, theirs)| *mine += theirs);
        self.sequences += other.sequences;
        self.sequences_right += other.sequences_right;
        self.sequences_exact += other.sequences_exact;
        self.pointers.join(other.pointers);
        self.masks.join(other.masks);
    }

    /// The scores so far.
    pub fn scores(&self) -> Scores {
        let [[true_negatives, false_positives], [false_negatives, true_positives]] = self.answers;
        let positives = true_positives + false_negatives;
        let answers = positives + false_positives + true_negatives;
        Scores {
            f1: f1(true_positives, false_positives, false_negatives),
            precision: ratio(true_positives, true_positives + false_positives),
            recall: ratio(true_positives, positives),
            accuracy: ratio(true_positives + true_negatives, answers),
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
