//! From operations to ground truth: sampling sequences, and replaying given ones.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicBool, Ordering},
};

use rayon::prelude::*;

use crate::structure::apply;
use crate::{
    Dataset, Error, Fields, Node, Operation, PointerStructure, Result, Rng, Split, Task, Visited,
};

/// What to sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Nodes per sequence, n.
    pub nodes: usize,
    /// Operations per sequence.
    pub ops: usize,
    /// How many sequences.
    pub count: usize,
    /// The seed; every seed gives other sequences.
    pub seed: u64,
    /// What the sequences are for; every split has its own.
    pub split: Split,
}

impl Sampling {
    /// Priorities are multiples of 2⁻²⁴ and distinct, so there cannot be more nodes than this.
    pub const MAX_NODES: usize = 1 << 24;

    pub(crate) fn too_many_nodes(nodes: usize) -> Error {
        let most = Sampling::MAX_NODES;
        Error::Request(format!(
            "nodes = {nodes} is too many: distinct priorities allow at most 2^24 = {most}"
        ))
    }

    /// The paper's number of operations for `nodes` nodes: half as many again, at least 1.
    pub const fn paper_ops(nodes: usize) -> usize {
        let ops = nodes.saturating_add(nodes / 2);
        if ops == 0 { 1 } else { ops }
    }

    /// The paper's setting for `nodes` nodes: 1.5 n operations; 70 training sequences at seed 0.
    pub const fn paper(nodes: usize) -> Self {
        let ops = Sampling::paper_ops(nodes);
        Sampling { nodes, ops, count: 70, seed: 0, split: Split::Train }
    }
}

impl Dataset {
    /// Samples sequences of a task, with the learned pointers; [`Dataset::with_fields`] adds
    /// further fields.
    ///
    /// Sequence i is drawn from a stream of its own ([`Rng::new`]), all priorities first, then
    /// the operations: it is the same whatever the count, the threads and the other sequences.
    ///
    /// ```
    /// use pgn_structures::{Dataset, Sampling, Task};
    ///
    /// let train = Dataset::sample(&Task::named("lct")?, &Sampling::paper(20))?;
    /// assert_eq!((train.count(), train.ops), (70, 30));
    /// assert_eq!(train.sequence(0).pointers_after(29).len(), 20);
    /// # Ok::<(), pgn_structures::Error>(())
    /// ```
    pub fn sample(task: &Task, sampling: &Sampling) -> Result<Dataset> {
        let &Sampling { nodes, ops, count, seed, split } = sampling;
        let mut dataset = Dataset::zeros(task, nodes, ops, count)?;
        dataset.seed = seed;
        dataset.split = split;
        let has_graphs = AtomicBool::new(false);
        dataset.fill(task, |structure, row| {
            let mut rng = split.rng(seed, nodes, row.index as u64);
            draw_priorities(&mut rng, row.priorities);
            structure.reset(row.priorities);
            if !structure.input_graph(nodes as Node, ops, &mut rng).is_empty() {
                has_graphs.store(true, Ordering::Relaxed);
            }
            row.run(task, structure, |structure, _| structure.sample(nodes as Node, &mut rng))
        })?;
        if has_graphs.into_inner() {
            // They are drawn once more, from the same streams: few tasks have one.
            let mut structure = task.make();
            for index in 0..count {
                let mut rng = split.rng(seed, nodes, index as u64);
                draw_priorities(&mut rng, &mut vec![0.0; nodes]);
                structure.reset(&dataset.priorities[index * nodes..][..nodes]);
                dataset.edges.extend(structure.input_graph(nodes as Node, ops, &mut rng));
            }
        }
        Ok(dataset)
    }

    /// The ground truth of given operations: `priorities` \[count, nodes\], `operations`
    /// \[count, ops\], both flat.
    ///
    /// ```
    /// use pgn_structures::{Dataset, Operation, Task};
    ///
    /// let operations = [Operation::new(0, 1), Operation::new(1, 0)];
    /// let one = Dataset::from_operations(&Task::named("dsu")?, 3, &[0.1, 0.2, 0.3], &operations)?;
    /// assert_eq!(one.answers, [1, 0]);
    /// # Ok::<(), pgn_structures::Error>(())
    /// ```
    pub fn from_operations(
        task: &Task,
        nodes: usize,
        priorities: &[f32],
        operations: &[Operation],
    ) -> Result<Dataset> {
        let count = priorities.len().checked_div(nodes).unwrap_or(0).max(1);
        if priorities.len() != count * nodes || !operations.len().is_multiple_of(count) {
            return Err(Error::Request(format!(
                "{} priorities and {} operations do not make sequences over {nodes} nodes",
                priorities.len(),
                operations.len(),
            )));
        }
        let mut dataset = Dataset::zeros(task, nodes, operations.len() / count, count)?;
        for row in priorities.chunks_exact(nodes) {
            check_priorities(row).map_err(Error::Request)?;
        }
        dataset.priorities.copy_from_slice(priorities);
        dataset.operations.copy_from_slice(operations);
        dataset.fill(task, |structure, row| {
            structure.reset(row.priorities);
            row.run(task, structure, |_, operation| operation)
        })?;
        Ok(dataset)
    }

    /// Whether replaying the operations with `task` gives exactly this ground truth, further
    /// fields included where the set has them.
    pub fn agrees_with(&self, task: &Task) -> Result<bool> {
        let mut truth =
            Dataset::from_operations(task, self.nodes, &self.priorities, &self.operations)?;
        if !self.fields.is_empty() {
            truth = truth.with_fields(task)?;
        }
        Ok(truth.answers == self.answers
            && truth.masks == self.masks
            && truth.pointers == self.pointers
            && truth.fields == self.fields)
    }

    /// A set of the right shape, its size checked, with nothing in it yet.
    fn zeros(task: &Task, nodes: usize, ops: usize, count: usize) -> Result<Dataset> {
        let refuse = |sentence: String| Err(Error::Request(sentence));
        if nodes < 2 {
            return refuse(format!("an operation needs two different nodes, but nodes = {nodes}"));
        }
        if nodes > Sampling::MAX_NODES {
            return Err(Sampling::too_many_nodes(nodes));
        }
        if ops == 0 {
            return refuse("a sequence needs at least one operation, but ops = 0".into());
        }
        if count == 0 {
            return refuse("a data set needs at least one sequence, but count = 0".into());
        }
        let too_large = || {
            Error::Request(format!(
                "{count} sequences of {ops} operations on {nodes} nodes do not fit in memory"
            ))
        };
        let go_on = || task.check_stop();
        let steps = count.checked_mul(ops).ok_or_else(too_large)?;
        let cells = steps.checked_mul(nodes).ok_or_else(too_large)?;
        Ok(Dataset {
            task: task.name().to_string(),
            seed: 0,
            split: Split::Given,
            nodes,
            ops,
            priorities: filled(0.0, count * nodes, go_on)?.ok_or_else(too_large)?,
            operations: filled(Operation::new(0, 0), steps, go_on)?.ok_or_else(too_large)?,
            answers: filled(0, steps, go_on)?.ok_or_else(too_large)?,
            masks: filled(1, cells, go_on)?.ok_or_else(too_large)?,
            pointers: filled(0, cells, go_on)?.ok_or_else(too_large)?,
            fields: Fields::default(),
            edges: Vec::new(),
        })
    }

    /// Runs `run` on every sequence, in parallel, each thread with a structure of its own.
    fn fill(
        &mut self,
        task: &Task,
        run: impl Fn(&mut dyn PointerStructure, Row<'_>) -> Result<()> + Sync,
    ) -> Result<()> {
        let (n, ops) = (self.nodes, self.ops);
        self.priorities
            .par_chunks_exact_mut(n)
            .zip(self.operations.par_chunks_exact_mut(ops))
            .zip(self.answers.par_chunks_exact_mut(ops))
            .zip(self.masks.par_chunks_exact_mut(ops * n))
            .zip(self.pointers.par_chunks_exact_mut(ops * n))
            .enumerate()
            .map_init(
                || task.make(),
                |structure, (index, ((((priorities, operations), answers), masks), pointers))| {
                    task.check_stop()?;
                    let row = Row { index, priorities, operations, answers, masks, pointers };
                    run(structure.as_mut(), row)
                },
            )
            // The first trouble by index, not by time: errors too are the same on every run.
            .collect::<Vec<_>>()
            .into_iter()
            .collect()
    }
}

/// One sequence of a set being filled; shapes as in [`Sequence`](crate::Sequence).
struct Row<'a> {
    index: usize,
    priorities: &'a mut [f32],
    operations: &'a mut [Operation],
    answers: &'a mut [u8],
    masks: &'a mut [u8],
    pointers: &'a mut [Node],
}

impl Row<'_> {
    /// Applies to `structure` what `choose` makes of each operation, and writes down the truth.
    fn run(
        self,
        task: &Task,
        structure: &mut dyn PointerStructure,
        mut choose: impl FnMut(&dyn PointerStructure, Operation) -> Operation,
    ) -> Result<()> {
        let n = self.priorities.len();
        let mut visited = Visited::new(n);
        let steps = self.operations.iter_mut().zip(self.answers);
        let rows = self.masks.chunks_exact_mut(n).zip(self.pointers.chunks_exact_mut(n));
        for (step, ((operation, answer), (mask, pointers))) in steps.zip(rows).enumerate() {
            task.check_stop()?;
            *operation = choose(structure, *operation);
            task.check(*operation, n).map_err(|source| {
                Error::Request(format!("operation {step} of sequence {}: {source}", self.index))
            })?;
            visited.clear();
            *answer = u8::from(apply(structure, *operation, &mut visited)?);
            for &node in visited.nodes() {
                mask[node as usize] = 0;
            }
            structure.pointers(pointers);
            if let Some(node) = pointers.iter().position(|&pointer| pointer as usize >= n) {
                let pointer = pointers[node];
                let trouble = format!("made node {node} point to {pointer}, of {n} nodes");
                return Err(Error::structure(structure.name(), trouble));
            }
        }
        Ok(())
    }
}

/// Distinct priorities rᵢ, uniform over the multiples of 2⁻²⁴ in [0, 1): one word each, drawn
/// again where an earlier node has the same. More than 2²³ of them are the beginning of a random
/// permutation instead: drawing again would take n ln n words for the last ones.
///
/// There must be at most [`Sampling::MAX_NODES`] of them.
pub(crate) fn draw_priorities(rng: &mut Rng, priorities: &mut [f32]) {
    if priorities.len() > PERMUTED_ABOVE {
        draw_permuted(rng, priorities);
    } else if priorities.len() < BITMAP_FROM {
        let mut taken = HashSet::with_capacity(priorities.len());
        draw_distinct(rng, priorities, |priority| taken.insert(priority.to_bits()));
    } else {
        // A bit for each of the 2²⁴ values: 2 MiB, and far faster than hashing.
        let mut taken = vec![0u64; Sampling::MAX_NODES / 64];
        draw_distinct(rng, priorities, |priority| {
            let value = (priority * Sampling::MAX_NODES as f32) as usize;
            let (word, bit) = (&mut taken[value / 64], 1 << (value % 64));
            let is_new = *word & bit == 0;
            *word |= bit;
            is_new
        });
    }
}

/// From so many priorities on, clearing a bitmap costs less than hashing all of them.
const BITMAP_FROM: usize = 4096;

/// Up to so many priorities, fewer than half of the draws are in vain.
const PERMUTED_ABOVE: usize = Sampling::MAX_NODES / 2;

/// The first steps of a Fisher–Yates shuffle of all values: O(2²⁴), whatever n.
fn draw_permuted(rng: &mut Rng, priorities: &mut [f32]) {
    let most = Sampling::MAX_NODES as u32;
    let mut values: Vec<u32> = (0..most).collect();
    for (i, priority) in (0..).zip(priorities) {
        let j = i + rng.below(most - i);
        values.swap(i as usize, j as usize);
        *priority = values[i as usize] as f32 / most as f32;
    }
}

/// Draws each priority until `insert` says that it is new.
fn draw_distinct(rng: &mut Rng, priorities: &mut [f32], mut insert: impl FnMut(f32) -> bool) {
    for priority in priorities {
        loop {
            *priority = rng.unit_f32();
            if insert(*priority) {
                break;
            }
        }
    }
}

/// The priorities that sequence 0 of [`Split::Given`] gets: for user-given operations that come
/// without priorities of their own.
pub fn given_priorities(nodes: usize, seed: u64) -> Result<Vec<f32>> {
    if nodes > Sampling::MAX_NODES {
        return Err(Sampling::too_many_nodes(nodes));
    }
    let mut priorities = vec![0.0; nodes];
    let mut rng = Split::Given.rng(seed, nodes, 0);
    draw_priorities(&mut rng, &mut priorities);
    Ok(priorities)
}

/// Refuses priorities of one sequence that are not distinct numbers in [0, 1).
pub(crate) fn check_priorities(priorities: &[f32]) -> std::result::Result<(), String> {
    for (node, priority) in priorities.iter().enumerate() {
        if !(0.0..1.0).contains(priority) {
            return Err(format!("the priority of node {node} is {priority}, not in [0, 1)"));
        }
    }
    let mut order: Vec<usize> = (0..priorities.len()).collect();
    order.sort_unstable_by(|&a, &b| priorities[a].total_cmp(&priorities[b]).then(a.cmp(&b)));
    match order.windows(2).find(|pair| priorities[pair[0]] == priorities[pair[1]]) {
        None => Ok(()),
        Some(pair) => Err(format!(
            "nodes {} and {} have the same priority {}, but priorities must be distinct",
            pair[0], pair[1], priorities[pair[0]]
        )),
    }
}

/// `len` copies of `value`, or `None` if there is not that much memory. Filling gigabytes takes
/// long: it goes on as long as `go_on` says so.
pub(crate) fn filled<T: Clone>(
    value: T,
    len: usize,
    go_on: impl Fn() -> Result<()>,
) -> Result<Option<Vec<T>>> {
    const PIECE: usize = 1 << 24;
    let mut vec = Vec::new();
    if vec.try_reserve_exact(len).is_err() {
        return Ok(None);
    }
    while vec.len() < len {
        go_on()?;
        vec.resize(len.min(vec.len() + PIECE), value.clone());
    }
    Ok(Some(vec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_of_the_largest_structures_are_distinct_and_take_a_word_each() {
        let priorities = given_priorities(Sampling::MAX_NODES, 1).unwrap();
        let mut seen = vec![false; Sampling::MAX_NODES];
        for &priority in &priorities {
            let value = (priority * Sampling::MAX_NODES as f32) as usize;
            assert!(!std::mem::replace(&mut seen[value], true), "{priority} is there twice");
        }
        assert!(seen.iter().all(|&seen| seen));
        assert!(priorities[..1000] != given_priorities(Sampling::MAX_NODES, 2).unwrap()[..1000]);
        // Drawing until a priority is new would take n ln n words, 17 for each.
        let mut rng = Split::Given.rng(1, Sampling::MAX_NODES, 0);
        draw_priorities(&mut rng, &mut vec![0.0; Sampling::MAX_NODES]);
        let words = rng.words() as usize;
        assert!(words < Sampling::MAX_NODES + Sampling::MAX_NODES / 10, "{words} words");
    }
}
