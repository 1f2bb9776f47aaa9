//! What can be answered without any data structure, by counting: a baseline.

use pgn_structures::{Dataset, Operation, Sampling, Sequence, Split, Task};

use crate::{Result, Scores, scores::Tally};

/// How often a node was operated on before: never, once, or more often.
const COUNTS: usize = 3;
/// What the rule knows of an operation: the counts of its two nodes, the smaller one first.
pub(crate) const CELLS: usize = COUNTS * COUNTS;

/// A rule that knows of u and v only how often each was operated on before, and nothing of what
/// they are connected to. Which counts call for a 1 is learned from training sequences, so that F₁
/// on them is highest.
///
/// A model that scores no better has shown nothing of a data structure.
///
/// ```
/// use pgn_lab::Counting;
/// use pgn_structures::{Dataset, Sampling, Split, Task};
///
/// let dsu = Task::named("dsu")?;
/// let train = Dataset::sample(&dsu, &Sampling::paper(20))?;
/// let rule = Counting::fit(train.sequences());
/// let test = Dataset::sample(&dsu, &Sampling { split: Split::Test, ..Sampling::paper(100) })?;
/// let f1 = rule.scores(test.sequences()).f1;
/// assert!(f1 > 0.866, "the paper's PGN has 0.866, counting {f1}");
/// # Ok::<(), pgn_lab::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counting {
    says_1: [bool; CELLS],
}

impl Counting {
    /// Learns from sequences which counts to answer with 1.
    pub fn fit<'a>(sequences: impl IntoIterator<Item = Sequence<'a>>) -> Counting {
        // Operations with answer 0 and 1, by cell.
        let mut seen = [[0_u64; 2]; CELLS];
        for sequence in sequences {
            for (cell, answer) in counted(sequence) {
                seen[cell][usize::from(answer)] += 1;
            }
        }
        // Whatever set of cells has the highest F₁, it is made of those where 1 is most frequent:
        // take them one by one and keep the best.
        let share = |cell: &usize| seen[*cell][1] as f64 / seen[*cell].iter().sum::<u64>() as f64;
        let mut cells: Vec<usize> = (0..CELLS).filter(|&cell| seen[cell] != [0, 0]).collect();
        cells.sort_by(|a, b| share(b).total_cmp(&share(a)));
        let ones: u64 = seen.iter().map(|counts| counts[1]).sum();
        let (mut found, mut given) = (0, 0);
        let (mut best, mut kept) = (0.0, 0);
        for (index, &cell) in cells.iter().enumerate() {
            found += seen[cell][1];
            given += seen[cell][0] + seen[cell][1];
            let f1 = 2.0 * found as f64 / (given + ones) as f64;
            if f1 > best {
                (best, kept) = (f1, index + 1);
            }
        }
        let mut says_1 = [false; CELLS];
        cells[..kept].iter().for_each(|&cell| says_1[cell] = true);
        Counting { says_1 }
    }

    /// The rule learned from the paper's 70 training sequences of 20 nodes at `seed`.
    pub fn of_seed(task: &Task, seed: u64) -> Result<Counting> {
        let train = Dataset::sample(task, &Sampling { seed, ..Sampling::paper(20) })?;
        Ok(Counting::fit(train.sequences()))
    }

    /// What the rule scores on test sequences drawn at `seed`.
    pub fn test(
        &self,
        task: &Task,
        seed: u64,
        nodes: usize,
        ops: usize,
        count: usize,
    ) -> Result<Scores> {
        let sampling = Sampling { nodes, ops, count, seed, split: Split::Test };
        Ok(self.scores(Dataset::sample(task, &sampling)?.sequences()))
    }

    /// Ready for the operations of one sequence on `nodes` nodes.
    pub fn start(&self, nodes: usize) -> Counted<'_> {
        Counted { rule: self, counts: Counts::new(nodes) }
    }

    /// What the rule scores on some sequences.
    pub fn scores<'a>(&self, sequences: impl IntoIterator<Item = Sequence<'a>>) -> Scores {
        let mut tally = Tally::default();
        for sequence in sequences {
            let mut all_right = true;
            for (cell, truth) in counted(sequence) {
                all_right &= tally.answer(self.says_1[cell], truth);
            }
            tally.end(all_right, false);
        }
        tally.scores()
    }
}

/// [`Counting`] at work on one sequence of operations.
pub struct Counted<'a> {
    rule: &'a Counting,
    counts: Counts,
}

impl Counted<'_> {
    /// The answer to the next operation.
    pub fn answer(&mut self, operation: Operation) -> bool {
        self.rule.says_1[self.counts.cell(operation)]
    }
}

/// How often each node was operated on so far, up to [`COUNTS`] - 1.
struct Counts(Vec<u8>);

impl Counts {
    fn new(nodes: usize) -> Counts {
        Counts(vec![0; nodes])
    }

    /// The cell of an operation, which is counted.
    fn cell(&mut self, operation: Operation) -> usize {
        let [u, v] = [operation.u, operation.v].map(|node| {
            let count = &mut self.0[node as usize];
            let before = usize::from(*count);
            *count = (*count + 1).min(COUNTS as u8 - 1);
            before
        });
        u.min(v) * COUNTS + u.max(v)
    }
}

/// For every operation of a sequence its cell and the true answer.
pub(crate) fn counted(sequence: Sequence<'_>) -> impl Iterator<Item = (usize, bool)> {
    let mut counts = Counts::new(sequence.priorities.len());
    let operations = sequence.operations.iter().zip(sequence.answers);
    operations.map(move |(&operation, &answer)| (counts.cell(operation), answer == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_hand() {
        let operation = |u, v| Operation::new(u, v);
        let operations =
            [operation(0, 1), operation(0, 2), operation(1, 0), operation(0, 1), operation(3, 4)];
        let sequence = Sequence {
            priorities: &[0.1, 0.2, 0.3, 0.4, 0.5],
            operations: &operations,
            answers: &[1, 1, 0, 1, 0],
            masks: &[1; 25],
            pointers: &[0; 25],
            fields: Default::default(),
            edges: &[],
        };
        let cells: Vec<_> = counted(sequence).collect();
        // 0 and 1 new; 0 once, 2 new; 1 once, 0 twice; both twice or more; both new again.
        assert_eq!(cells, [(0, true), (1, true), (5, false), (8, true), (0, false)]);
        // Cells 1 and 8 are always 1, cell 0 half of the time: all three give 2·3 / (4 + 3).
        let rule = Counting::fit([sequence]);
        let scores = rule.scores([sequence]);
        assert_eq!(scores.f1, 6.0 / 7.0);
        assert_eq!(scores.recall, 1.0);
        assert_eq!(scores.sequences_right, 0.0);
    }

    /// Of all 64 rules there are (six cells can occur) none has a higher F₁ on its training set.
    #[test]
    fn no_other_rule_is_better() {
        for task in ["dsu", "lct"] {
            let train = Dataset::sample(&Task::named(task).unwrap(), &Sampling::paper(20)).unwrap();
            let fitted = Counting::fit(train.sequences());
            let best = fitted.scores(train.sequences()).f1;
            let cells: Vec<usize> =
                (0..CELLS).filter(|cell| cell / COUNTS <= cell % COUNTS).collect();
            for set in 0..1_u32 << cells.len() {
                let mut says_1 = [false; CELLS];
                for (bit, &cell) in cells.iter().enumerate() {
                    says_1[cell] = set >> bit & 1 == 1;
                }
                let f1 = Counting { says_1 }.scores(train.sequences()).f1;
                assert!(f1 <= best, "{task}: {says_1:?} has {f1}, the fitted rule {best}");
            }
        }
    }
}
