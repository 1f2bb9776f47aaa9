//! Sequences one operation at a time, for structures too large for a data set.

use crate::structure::apply;
use crate::{Edge, Error, Node, Operation, PointerStructure, Result, Rng, Sampling, Task, Visited};

/// Sequence `index` of what [`Dataset::sample`](crate::Dataset::sample) would sample, step by step
/// and in O(n) memory: a data set keeps all pointers after every operation.
///
/// ```
/// use pgn_structures::{Dataset, Sampling, SequenceStream, Task};
///
/// let task = Task::named("dsu")?;
/// let sampling = Sampling { count: 1, ..Sampling::paper(20) };
/// let set = Dataset::sample(&task, &sampling)?;
/// let mut stream = SequenceStream::new(&task, &sampling, 0)?;
/// for (t, &operation) in set.operations.iter().enumerate() {
///     assert_eq!(stream.advance()?, (operation, set.answers[t] == 1));
///     assert_eq!(stream.pointer(3), set.sequence(0).pointers_after(t)[3]);
/// }
/// # Ok::<(), pgn_structures::Error>(())
/// ```
pub struct SequenceStream {
    task: Task,
    structure: Box<dyn PointerStructure>,
    priorities: Vec<f32>,
    edges: Vec<Edge>,
    rng: Rng,
    visited: Visited,
}

impl SequenceStream {
    /// A fresh structure, before its first operation.
    pub fn new(task: &Task, sampling: &Sampling, index: u64) -> Result<SequenceStream> {
        let &Sampling { nodes, seed, split, .. } = sampling;
        if !(2..=Sampling::MAX_NODES).contains(&nodes) {
            return Err(Error::Request(format!(
                "nodes = {nodes}; expected from 2 to {}",
                Sampling::MAX_NODES
            )));
        }
        let mut rng = split.rng(seed, nodes, index);
        let mut priorities = vec![0.0; nodes];
        crate::sampling::draw_priorities(&mut rng, &mut priorities);
        let mut structure = task.make();
        structure.reset(&priorities);
        let edges = structure.input_graph(nodes as Node, sampling.ops, &mut rng);
        let (task, visited) = (task.clone(), Visited::new(nodes));
        Ok(SequenceStream { task, structure, priorities, edges, rng, visited })
    }

    /// rᵢ \[nodes\]
    pub fn priorities(&self) -> &[f32] {
        &self.priorities
    }

    /// The input graph, if there is one.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Draws the next operation and applies it: what it was, and its answer.
    pub fn advance(&mut self) -> Result<(Operation, bool)> {
        let nodes = self.priorities.len();
        let operation = self.structure.sample(nodes as Node, &mut self.rng);
        self.task.check(operation, nodes)?;
        self.visited.clear();
        Ok((operation, apply(self.structure.as_mut(), operation, &mut self.visited)?))
    }

    /// What the last operation visited.
    pub fn visited(&self) -> &Visited {
        &self.visited
    }

    /// Where a node points.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn pointer(&self, node: Node) -> Node {
        self.structure.pointer(node)
    }

    /// The structure itself, whose further fields can be read.
    pub fn structure(&self) -> &dyn PointerStructure {
        self.structure.as_ref()
    }
}
