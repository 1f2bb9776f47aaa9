//! The sequences of a set: questions and truth.

use std::path::Path;

use pgn_structures::{
    Dataset, Edge, Family, FieldRows, Sampling, Sequence, SequenceStream, Split, Task,
    files::TensorWriter,
};
use rayon::prelude::*;

use crate::{Result, Set};

/// Questions and truth of a [`Set`], made afresh: the same on every machine.
pub struct Data {
    /// Which set it is.
    pub set: Set,
    /// All sequences, family by family; without masks and pointers if the set is not
    /// [full](Set::is_full).
    pub sequences: Dataset,
}

impl Data {
    /// Makes the data, in parallel on the current rayon pool.
    pub fn of(set: &Set) -> Result<Data> {
        let (task, sampling) = (set.task()?, set.sampling());
        let mut joined: Option<Dataset> = None;
        for &family in set.families() {
            let part = match set.is_full() {
                true => Dataset::sample(&task.in_family(family), &sampling)?,
                false => questions(&task, family, &sampling)?,
            };
            match &mut joined {
                None => joined = Some(part),
                Some(all) => {
                    all.priorities.extend(part.priorities);
                    all.operations.extend(part.operations);
                    all.answers.extend(part.answers);
                    all.masks.extend(part.masks);
                    all.pointers.extend(part.pointers);
                    all.edges.extend(part.edges);
                }
            }
        }
        let mut sequences = joined.unwrap_or_else(|| empty(&task, &sampling));
        if set.split != Split::Test && !task.schema().is_single() {
            sequences = sequences.with_fields(&task)?;
        }
        Ok(Data { set: set.clone(), sequences })
    }

    /// These data with masks and pointers, replayed where the file has none.
    pub fn full(self) -> Result<Data> {
        if self.set.is_full() {
            return Ok(self);
        }
        let Dataset { nodes, priorities, operations, edges, seed, split, .. } = self.sequences;
        let task = self.set.task()?;
        let replayed = Dataset::from_operations(&task, nodes, &priorities, &operations)?;
        Ok(Data { sequences: Dataset { edges, seed, split, ..replayed }, set: self.set })
    }

    /// The family of a sequence.
    pub fn family(&self, index: usize) -> Family {
        let families = self.set.families();
        families[index * families.len() / self.sequences.count()]
    }

    /// The sequences, with empty masks and pointers where there are none.
    pub fn rows(&self) -> Vec<Sequence<'_>> {
        let all = &self.sequences;
        let (n, ops, count) = (all.nodes, all.ops, all.count());
        let edges = all.edges.len() / count;
        let step = if all.pointers.is_empty() { 0 } else { ops * n };
        let row = |index: usize| Sequence {
            priorities: &all.priorities[index * n..][..n],
            operations: &all.operations[index * ops..][..ops],
            answers: &all.answers[index * ops..][..ops],
            masks: &all.masks[index * step..][..step],
            pointers: &all.pointers[index * step..][..step],
            fields: FieldRows::NONE,
            edges: &all.edges[index * edges..][..edges],
        };
        (0..count).map(row).collect()
    }

    /// Writes the file: a data set, or its questions and answers alone.
    pub fn save(&self, path: &Path) -> Result<()> {
        let all = &self.sequences;
        if self.set.is_full() {
            return Ok(all.save(path)?);
        }
        let (count, ops, nodes) = (all.count(), all.ops, all.nodes);
        let edges = all.edges.len() / count;
        let operands: Vec<u32> = all.operations.iter().flat_map(|op| [op.u, op.v]).collect();
        let kinds: Vec<u8> = all.operations.iter().map(|op| op.kind).collect();
        let ends: Vec<u32> = all.edges.iter().flat_map(|edge| [edge.u, edge.v]).collect();
        let weights: Vec<f32> = all.edges.iter().map(|edge| edge.weight).collect();
        let mut file = TensorWriter::new();
        file.metadata("format", "pgn-questions-1");
        file.metadata("task", &all.task);
        file.metadata("nodes", nodes);
        file.metadata("ops", ops);
        file.metadata("seed", all.seed);
        file.metadata("split", all.split);
        file.f32("priorities", &[count, nodes], &all.priorities);
        file.u32("operands", &[count, ops, 2], &operands);
        if all.has_kinds() {
            file.u8("kinds", &[count, ops], &kinds);
        }
        file.u8("answers", &[count, ops], &all.answers);
        if edges > 0 {
            file.u32("edges", &[count, edges, 2], &ends);
            file.f32("weights", &[count, edges], &weights);
        }
        Ok(file.save(path)?)
    }
}

/// What [`Dataset::sample`] samples, without masks and pointers, in O(n) memory per sequence.
fn questions(task: &Task, family: Family, sampling: &Sampling) -> Result<Dataset> {
    let (shaped, mut set) = (task.in_family(family), empty(task, sampling));
    let one = |index: usize| {
        let mut stream = SequenceStream::new(&shaped, sampling, index as u64)?;
        let steps: Result<Vec<_>> = (0..sampling.ops).map(|_| Ok(stream.advance()?)).collect();
        Ok((stream.priorities().to_vec(), stream.edges().to_vec(), steps?))
    };
    let all = (0..sampling.count).into_par_iter().map(one);
    for (priorities, edges, steps) in all.collect::<Result<Vec<_>>>()? {
        set.priorities.extend(priorities);
        set.edges.extend(edges);
        set.operations.extend(steps.iter().map(|(operation, _)| *operation));
        set.answers.extend(steps.iter().map(|&(_, answer)| u8::from(answer)));
    }
    Ok(set)
}

fn empty(task: &Task, &Sampling { nodes, ops, seed, split, .. }: &Sampling) -> Dataset {
    Dataset {
        task: task.name().to_owned(),
        seed,
        split,
        nodes,
        ops,
        priorities: Vec::new(),
        operations: Vec::new(),
        answers: Vec::new(),
        masks: Vec::new(),
        pointers: Vec::new(),
        fields: Default::default(),
        edges: Vec::<Edge>::new(),
    }
}
