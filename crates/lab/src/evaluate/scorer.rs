//! One sequence scored, operation by operation: what was made of it, beside the truth and beside
//! what takes no model.

use pgn_structures::{Node, Operation, Sequence, SequenceStream, Visited};

use crate::{
    Counting, Result, TestScores, TrivialRules,
    counting::Counted,
    scores::{Execution, Hits, Tally},
};

/// The truth of a sequence, one operation at a time.
pub(crate) trait Truth {
    /// Whether pointers move at visited nodes only. In data from elsewhere they may move anywhere.
    const MOVES_VISITED: bool;

    /// The next operation and its answer; `None` at the end.
    fn advance(&mut self) -> Result<Option<(Operation, bool)>>;

    /// Whether masks and pointers are known: large sequences of the benchmark have answers only.
    fn has_nodes(&self) -> bool {
        true
    }

    /// What the last operation visited.
    fn visited(&self) -> &Visited;

    /// Where a node points.
    fn pointer(&self, node: Node) -> Node;
}

/// A sequence of a data set.
pub(crate) struct Recorded<'a> {
    sequence: Sequence<'a>,
    /// Operations so far.
    done: usize,
    visited: Visited,
}

impl<'a> Recorded<'a> {
    pub fn new(sequence: Sequence<'a>) -> Self {
        Recorded { sequence, done: 0, visited: Visited::new(sequence.nodes()) }
    }
}

impl Truth for Recorded<'_> {
    const MOVES_VISITED: bool = false;

    fn advance(&mut self) -> Result<Option<(Operation, bool)>> {
        let Some(&operation) = self.sequence.operations.get(self.done) else { return Ok(None) };
        self.visited.clear();
        if self.has_nodes() {
            let masks = (0..).zip(self.sequence.mask(self.done));
            masks.filter(|(_, mask)| **mask == 0).for_each(|(node, _)| {
                self.visited.insert(node);
            });
        }
        self.done += 1;
        Ok(Some((operation, self.sequence.answers[self.done - 1] == 1)))
    }

    fn has_nodes(&self) -> bool {
        !self.sequence.pointers.is_empty()
    }

    fn visited(&self) -> &Visited {
        &self.visited
    }

    fn pointer(&self, node: Node) -> Node {
        self.sequence.pointers_after(self.done - 1)[node as usize]
    }
}

/// A sequence that is sampled as it is scored, with so many operations left: the pointers after
/// every operation, as a data set has them, do not fit in memory for a million nodes.
pub(crate) struct Streamed(pub SequenceStream, pub usize);

impl Truth for Streamed {
    const MOVES_VISITED: bool = true;

    fn advance(&mut self) -> Result<Option<(Operation, bool)>> {
        if self.1 == 0 {
            return Ok(None);
        }
        self.1 -= 1;
        Ok(Some(self.0.advance()?))
    }

    fn visited(&self) -> &Visited {
        self.0.visited()
    }

    fn pointer(&self, node: Node) -> Node {
        self.0.pointer(node)
    }
}

/// What an operation left behind, with whoever carried it out.
pub(crate) trait Executed {
    /// The nodes that took part, if not all did: no other pointers or masks can have changed.
    fn participants(&self) -> Option<&[Node]>;

    /// Whether a node is taken for visited; `None` without masks.
    fn visits(&self, node: Node) -> Option<bool>;

    /// Where a node points; `None` without pointers.
    fn pointer(&self, node: Node) -> Option<Node>;
}

/// Compares one sequence.
pub(crate) struct Scorer<'r, T> {
    truth: T,
    /// The operation that is under way, and its answer.
    asked: (Operation, bool),
    operations: usize,
    /// The truth's pointers, and how many of them point to their own node.
    pointers: Vec<Node>,
    to_self: u64,
    /// Which of our pointers are not the truth's, and how many.
    differs: Vec<bool>,
    different: u64,
    all_right: bool,
    rule: Option<Counted<'r>>,
    sums: Sums,
}

impl<'r, T: Truth> Scorer<'r, T> {
    /// Before the first operation on `nodes` nodes.
    pub fn new(truth: T, nodes: usize, rule: Option<&'r Counting>) -> Self {
        Scorer {
            truth,
            asked: (Operation::new(0, 0), false),
            operations: 0,
            pointers: (0..nodes as Node).collect(),
            to_self: nodes as u64,
            differs: vec![false; nodes],
            different: 0,
            all_right: true,
            rule: rule.map(|rule| rule.start(nodes)),
            sums: Sums::default(),
        }
    }

    /// The next operation; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Operation>> {
        let next = self.truth.advance()?;
        self.asked = next.unwrap_or(self.asked);
        Ok(next.map(|(operation, _)| operation))
    }

    /// Takes in an answer, the steps that it took, and what was left behind. No answer is wrong.
    pub fn compare(&mut self, outcome: Option<(bool, usize)>, ours: &dyn Executed) {
        let (operation, answer) = self.asked;
        let (guess, steps) = outcome.unwrap_or((!answer, 0));
        let (nodes, visited) = (self.pointers.len() as u64, self.truth.visited());
        let participants = ours.participants().unwrap_or_default();
        let only_ours = participants.iter().filter(|&&node| !visited.contains(node));
        let touched = visited.nodes().iter().chain(only_ours).copied();
        // One of the two is empty.
        let whole = !T::MOVES_VISITED && self.truth.has_nodes();
        let all = 0..if whole { nodes as Node } else { 0 };
        let touched = touched.take(if T::MOVES_VISITED { usize::MAX } else { 0 });
        let (mut moved, mut wrong_masks) = (0, 0);
        for node in all.chain(touched) {
            let (place, after) = (node as usize, self.truth.pointer(node));
            let before = std::mem::replace(&mut self.pointers[place], after);
            moved += u64::from(before != after);
            self.to_self = self.to_self + u64::from(after == node) - u64::from(before == node);
            if let Some(pointer) = ours.pointer(node) {
                let was = std::mem::replace(&mut self.differs[place], pointer != after);
                self.different = self.different + u64::from(pointer != after) - u64::from(was);
            }
            let visits = ours.visits(node);
            wrong_masks += u64::from(visits.is_some_and(|is| is != visited.contains(node)));
        }
        let sums = &mut self.sums;
        let right = sums.tally.answer(guess, answer);
        if ours.pointer(0).is_some() {
            sums.tally.pointers.count(nodes - self.different, nodes);
        }
        if ours.visits(0).is_some() {
            sums.tally.masks.count(nodes - wrong_masks, nodes);
        }
        if let Some(rule) = &mut self.rule {
            sums.counting.get_or_insert_default().answer(rule.answer(operation), answer);
        }
        sums.never_visit.count(nodes - visited.nodes().len() as u64, nodes);
        sums.point_to_self.count(self.to_self, nodes);
        sums.keep_pointers.count(nodes - moved, nodes);
        self.all_right &= right;
        if !right || self.different > 0 {
            sums.first_error = sums.first_error.or(Some(self.operations));
        }
        self.operations += 1;
        sums.operations += 1;
        sums.steps += steps as u64;
        sums.max_steps = sums.max_steps.max(steps);
        sums.participants += participants.len() as u64;
        sums.max_participants = sums.max_participants.max(participants.len());
    }

    /// Ends the sequence.
    pub fn end(mut self, ours: &dyn Executed) -> Sums {
        // A wrong machine may have written where neither of them has been; nothing is left out.
        let wrong = |node| ours.pointer(node).is_some_and(|to| to != self.truth.pointer(node));
        if self.operations > 0 && (0..self.pointers.len() as Node).any(wrong) {
            self.sums.first_error = self.sums.first_error.or(Some(self.operations - 1));
        }
        let exact = self.sums.tally.pointers.of > 0 && self.sums.first_error.is_none();
        self.sums.tally.end(self.all_right, exact);
        self.sums
    }
}

/// What some sequences gave together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    pub tally: Tally,
    pub first_error: Option<usize>,
    /// Answers of counting, if there is a rule.
    pub counting: Option<Tally>,
    never_visit: Hits,
    point_to_self: Hits,
    keep_pointers: Hits,
    operations: u64,
    steps: u64,
    max_steps: usize,
    participants: u64,
    max_participants: usize,
}

impl Sums {
    /// All together.
    pub fn join(all: Vec<Sums>) -> Sums {
        all.into_iter().fold(Sums::default(), |mut sum, one| {
            sum.tally.join(&one.tally);
            sum.first_error = [sum.first_error, one.first_error].into_iter().flatten().min();
            if let Some(counting) = one.counting {
                sum.counting.get_or_insert_default().join(&counting);
            }
            sum.never_visit.join(one.never_visit);
            sum.point_to_self.join(one.point_to_self);
            sum.keep_pointers.join(one.keep_pointers);
            sum.operations += one.operations;
            sum.steps += one.steps;
            sum.max_steps = sum.max_steps.max(one.max_steps);
            sum.participants += one.participants;
            sum.max_participants = sum.max_participants.max(one.max_participants);
            sum
        })
    }

    /// What rules without a model score; `None` without operations.
    pub fn trivial(&self) -> Option<TrivialRules> {
        Some(TrivialRules {
            never_visit: self.never_visit.share()?,
            point_to_self: self.point_to_self.share()?,
            keep_pointers: self.keep_pointers.share()?,
        })
    }

    /// The F₁ of counting.
    pub fn counting_f1(&self) -> Option<f64> {
        self.counting.as_ref().map(|tally| tally.scores().f1)
    }

    /// The scores on a test set of this size; with `execution` also how operations were executed.
    pub fn scores(&self, size: [usize; 3], execution: bool) -> TestScores {
        let [nodes, ops, sequences] = size;
        let operations = self.operations.max(1) as f64;
        TestScores {
            nodes,
            ops,
            sequences,
            scores: self.tally.scores(),
            counting_f1: self.counting_f1(),
            trivial: self.trivial(),
            execution: execution.then(|| Execution {
                first_error: self.first_error,
                mean_steps: self.steps as f64 / operations,
                max_steps: self.max_steps,
                mean_participants: self.participants as f64 / operations,
                max_participants: self.max_participants,
            }),
        }
    }
}
