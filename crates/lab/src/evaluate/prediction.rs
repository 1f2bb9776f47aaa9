//! Scores of predictions that come from anywhere: another framework, a rule, a person.

use pgn_structures::{Node, Sequence};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    Counting, Error, Result, Scores,
    analysis::{
        Cases, rounded,
        shape::{Comparison, Comparisons},
        share,
    },
    evaluate::scorer::{Executed, Recorded, Scorer, Sums},
};

/// What a model, ours or not, predicted for one sequence.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'a> {
    /// \[ops\], 0 or 1.
    pub answers: &'a [u8],
    /// \[ops, nodes\], 0 or 1, of models with masks.
    pub masks: Option<&'a [u8]>,
    /// \[ops, nodes\], after each operation, of models with pointers.
    pub pointers: Option<&'a [Node]>,
}

/// What predictions scored, and what that is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionScores {
    /// The scores that our own models get.
    #[serde(flatten)]
    pub scores: Scores,
    /// The earliest operation, counted from 0, after which an answer or a pointer was wrong in
    /// some sequence; absent if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_error: Option<usize>,
    /// The F₁ of counting on the same sequences, where there is a rule to compare with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counting_f1: Option<f64>,
    /// How much better the answers are than counting allows, from 0 to 1
    /// ([`BeyondCounting::gain`](crate::analysis::BeyondCounting::gain)).
    pub beyond_counting: f64,
    /// Share of steps after which the pointers are valid: no cycle, and the same nodes are
    /// connected as in the truth. Absent without pointers, as are the following.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid: Option<f64>,
    /// Harmonic mean of the next two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<f64>,
    /// Of the pairs of nodes that are connected by the pointers, the share that is connected in
    /// the truth; 1 if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair_precision: Option<f64>,
    /// Of the pairs of nodes that are connected in the truth, the share that the pointers connect;
    /// 1 if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair_recall: Option<f64>,
}

/// Scores one prediction for each sequence, `rule` beside them.
///
/// ```
/// use pgn_lab::{Counting, evaluate::{Prediction, score_predictions}};
/// use pgn_structures::{Dataset, Sampling, Split, Task};
///
/// let dsu = Task::named("dsu")?;
/// let test = Dataset::sample(&dsu, &Sampling { split: Split::Test, ..Sampling::paper(20) })?;
/// let truth: Vec<_> = test.sequences().collect();
/// // Always answering 1 takes no knowledge beyond counting.
/// let ones = vec![1; test.ops];
/// let always = Prediction { answers: &ones, masks: None, pointers: None };
/// let rule = Counting::of_seed(&dsu, 0)?;
/// let scored = score_predictions(&truth, &vec![always; truth.len()], Some(&rule))?;
/// assert_eq!(scored.scores.f1, scored.scores.f1_always_1);
/// assert!(scored.counting_f1 > Some(scored.scores.f1));
/// assert_eq!(scored.beyond_counting, 0.0);
/// # Ok::<(), pgn_lab::Error>(())
/// ```
pub fn score_predictions(
    truth: &[Sequence<'_>],
    predictions: &[Prediction<'_>],
    rule: Option<&Counting>,
) -> Result<PredictionScores> {
    if truth.len() != predictions.len() {
        return Err(Error::request(format!(
            "there are predictions for {} sequences; expected {}",
            predictions.len(),
            truth.len()
        )));
    }
    for (index, (sequence, prediction)) in truth.iter().zip(predictions).enumerate() {
        prediction.check(*sequence, index)?;
    }
    let (mut all, mut cases) = (Vec::new(), Cases::default());
    for (&sequence, prediction) in truth.iter().zip(predictions) {
        cases.add(sequence, prediction.answers.iter().map(|&answer| answer == 1));
        let nodes = sequence.nodes();
        let mut scorer = Scorer::new(Recorded::new(sequence), nodes, rule);
        let mut after = After { prediction, nodes, done: 0 };
        while scorer.next()?.is_some() {
            after.done += 1;
            scorer.compare(Some((prediction.answers[after.done - 1] == 1, 0)), &after);
        }
        all.push(scorer.end(&after));
    }
    let sums = Sums::join(all);
    let with_pointers = predictions.iter().any(|prediction| prediction.pointers.is_some());
    let compared = || {
        let pairs = truth.par_iter().zip(predictions);
        let each = pairs.map(|(&sequence, prediction)| prediction.compared(sequence));
        each.reduce(Comparisons::default, Comparisons::add)
    };
    let shapes = with_pointers.then(compared);
    let [where_0, where_1] = cases.shares();
    Ok(PredictionScores {
        scores: sums.tally.scores(),
        first_error: sums.first_error,
        counting_f1: sums.counting_f1(),
        beyond_counting: rounded(where_1 - where_0),
        valid: shapes.map(|shapes| share(shapes.valid, shapes.steps)),
        pairs: shapes.map(|shapes| {
            let (precision, recall) = (shapes.precision(), shapes.recall());
            let sum = precision + recall;
            if sum == 0.0 { 0.0 } else { rounded(2.0 * precision * recall / sum) }
        }),
        pair_precision: shapes.map(|shapes| shapes.precision()),
        pair_recall: shapes.map(|shapes| shapes.recall()),
    })
}

impl Prediction<'_> {
    fn check(&self, truth: Sequence<'_>, index: usize) -> Result<()> {
        let n = truth.priorities.len();
        let ops = truth.operations.len();
        let wrong = |what: String| Err(Error::request(format!("sequence {index}: {what}")));
        for (name, found, expected) in [
            ("answers", Some(self.answers.len()), ops),
            ("masks", self.masks.map(<[u8]>::len), ops * n),
            ("pointers", self.pointers.map(<[Node]>::len), ops * n),
        ] {
            if let Some(found) = found
                && found != expected
            {
                return wrong(format!("there are {found} {name}; expected {expected}"));
            }
        }
        let bits = [("answer", Some(self.answers)), ("mask", self.masks)];
        for (name, values) in bits {
            if let Some(bit) = values.and_then(|values| values.iter().find(|&&bit| bit > 1)) {
                return wrong(format!("a predicted {name} is {bit}; expected 0 or 1"));
            }
        }
        match self.pointers.and_then(|all| all.iter().find(|&&node| node as usize >= n)) {
            Some(node) => {
                wrong(format!("a predicted pointer is {node}; expected a node below {n}"))
            }
            None => Ok(()),
        }
    }

    /// The pointers beside the truth's, after every operation.
    fn compared(&self, truth: Sequence<'_>) -> Comparisons {
        let n = truth.priorities.len();
        let steps = self.pointers.unwrap_or_default().chunks_exact(n.max(1)).enumerate();
        let each = steps.map(|(t, after)| Comparison::of(after, truth.pointers_after(t)).into());
        each.fold(Comparisons::default(), Comparisons::add)
    }
}

/// A prediction after so many operations.
struct After<'a> {
    prediction: &'a Prediction<'a>,
    nodes: usize,
    done: usize,
}

impl After<'_> {
    /// Of a tensor \[ops, nodes\].
    fn at<T: Copy>(&self, all: Option<&[T]>, node: Node) -> Option<T> {
        Some(all?[(self.done.max(1) - 1) * self.nodes + node as usize])
    }
}

impl Executed for After<'_> {
    fn participants(&self) -> Option<&[Node]> {
        None
    }

    fn visits(&self, node: Node) -> Option<bool> {
        Some(self.at(self.prediction.masks, node)? == 0)
    }

    fn pointer(&self, node: Node) -> Option<Node> {
        self.at(self.prediction.pointers, node)
    }
}
