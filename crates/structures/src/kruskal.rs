//! Kruskal's algorithm: the edges of a given graph in order of weight, over a disjoint-set union.

use crate::{Dsu, Edge, Node, Operation, PointerStructure, Result, Rng, TaskText, Visited};

/// A minimum spanning forest, edge by edge.
///
/// The graph is given before the first operation ([`PointerStructure::input_graph`]), and its edges
/// are the operations, the lightest first. An edge whose ends are in two trees joins them, answer 1;
/// any other would close a cycle, answer 0. Pointers and masks are those of the disjoint-set union.
///
/// # Complexity
///
/// O(m log m) to sort m edges, then O(α(n)) each in expectation.
///
/// # Example
///
/// ```
/// use pgn_structures::{Dataset, Sampling, Task};
///
/// let set = Dataset::sample(&Task::named("kruskal")?, &Sampling::paper(20))?;
/// let one = set.sequence(0);
/// assert_eq!(one.edges.len(), one.operations.len());
/// # Ok::<(), pgn_structures::Error>(())
/// ```
///
/// # Literature
///
/// Kruskal 1956, *On the shortest spanning subtree of a graph and the traveling salesman problem*.
#[derive(Clone, Debug, Default)]
pub struct Kruskal {
    sets: Dsu,
    /// The edges in order of weight; empty if no graph was drawn.
    edges: Vec<Edge>,
    applied: usize,
}

impl PointerStructure for Kruskal {
    fn name(&self) -> &str {
        "kruskal"
    }

    fn about(&self) -> TaskText {
        TaskText::new(
            "Kruskal's minimum spanning forest",
            "add-edge",
            "Kruskal's algorithm: a graph is given, operations are its edges in order of weight",
            ["would close a cycle", "joins two trees"],
        )
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.sets.reset(priorities);
        self.edges.clear();
        self.applied = 0;
    }

    fn input_graph(&mut self, nodes: Node, ops: usize, rng: &mut Rng) -> Vec<Edge> {
        let edges = Edge::sample_graph(nodes, ops, rng);
        self.edges.clone_from(&edges);
        self.edges.sort_by(|a, b| a.weight.total_cmp(&b.weight));
        edges
    }

    /// The next edge; from the first again where there are more operations than edges.
    fn sample(&self, nodes: Node, rng: &mut Rng) -> Operation {
        match self.applied.checked_rem(self.edges.len()) {
            Some(next) => Operation::new(self.edges[next].u, self.edges[next].v),
            None => Operation::sample(nodes, rng),
        }
    }

    fn apply(&mut self, operation: Operation, visited: &mut Visited) -> Result<bool> {
        self.applied += 1;
        self.sets.apply(operation, visited)
    }

    fn pointer(&self, node: Node) -> Node {
        self.sets.pointer(node)
    }

    fn start_from(&mut self, pointers: &[Node]) -> bool {
        self.sets.start_from(pointers)
    }
}
